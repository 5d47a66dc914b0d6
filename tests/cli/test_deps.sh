#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scripts/deps.sh on pretended machines: it installs only what is missing, or says what to run.
. "$SOURCE/tests/cli/common.sh"

mkdir "$tmp/bin"
for tool in sh env cat grep; do
	ln -s "$(command -v $tool)" "$tmp/bin/$tool"
done
fake()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}
# deps CODE: run it there for building, check its exit code; what apt-get was told is in $apt.
deps()
{
	rm -f "$tmp/apt"
	PATH=$tmp/bin sh "$SOURCE/scripts/deps.sh" build >"$tmp/out" 2>&1 </dev/null
	got=$?
	out=$(cat "$tmp/out") apt=$(cat "$tmp/apt" 2>/dev/null)
	[ $got -eq "$1" ] || fail "exit code $got, not $1: $out"
}
fake apt-get 'echo "$@" >>'"$tmp/apt"
lacking='case $* in *zlib1g-dev*|*libzstd-dev*) echo not-installed ;; *) echo installed ;; esac'

fake dpkg-query 'echo installed'
fake id 'echo 1000'
deps 0
[ -z "$out$apt" ] || fail "nothing is missing, yet: $out$apt"

fake dpkg-query "$lacking"
deps 1
says "apt-get install -y --no-install-recommends zlib1g-dev libzstd-dev"
[ -z "$apt" ] || fail "apt-get without being root"

fake id 'echo 0'
deps 0
case $apt in
*"install -y --no-install-recommends zlib1g-dev libzstd-dev") ;;
*) fail "apt-get was told: $apt" ;;
esac

fake id 'echo 1000'
fake sudo '[ "$1" = -n ] && shift; "$@"'
fake true 'exit 0'
deps 0
case $apt in
*"install -y --no-install-recommends zlib1g-dev libzstd-dev") ;;
*) fail "apt-get was told through sudo: $apt" ;;
esac

fake apt-get 'exit 100'
deps 1
says "apt failed"
finish
