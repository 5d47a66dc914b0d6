#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The one list of Debian packages Farthing needs; installs those that are missing.
#
#   scripts/deps.sh build|test|fuzz|bench   install what is missing for this (test includes build)
#   scripts/deps.sh --list build            print the list
#
# Nothing missing: nothing is done, and no network is needed.
set -eu

BUILD="gcc libc6-dev make pkgconf meson ninja-build libjansson-dev zlib1g-dev libzstd-dev libsqlite3-dev libmicrohttpd-dev libyaml-dev"
# A Slurm of our own is started and driven by the tests. mandoc checks the man pages, python3 the JSON, with yaml the node pools; meson brings python3 along anyway.
TEST="$BUILD libcmocka-dev mandoc python3 python3-yaml libslurm-dev slurmctld slurmd slurm-client munge"
FUZZ="$BUILD clang libclang-rt-14-dev"

list=no
if [ "${1:-}" = --list ]; then
	list=yes
	shift
fi
case "${1:-}" in
build | bench) packages=$BUILD ;;
test) packages=$TEST ;;
fuzz) packages=$FUZZ ;;
*)
	echo "usage: deps.sh [--list] build|test|fuzz|bench" >&2
	exit 2
	;;
esac
if [ $list = yes ]; then
	echo "$packages"
	exit 0
fi

if ! command -v dpkg-query >/dev/null 2>&1; then
	echo "deps.sh: this is not a Debian system; please see to it that you have: $packages" >&2
	exit 0
fi

missing=
for p in $packages; do
	state=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true)
	[ "$state" = installed ] && continue
	# A package may be there under another name that provides it (pkg-config for pkgconf).
	case $p in
	pkgconf) command -v pkg-config >/dev/null 2>&1 && continue ;;
	gcc) command -v cc >/dev/null 2>&1 && continue ;;
	esac
	missing="$missing $p"
done
[ -z "$missing" ] && exit 0

echo "deps.sh: missing packages:$missing" >&2
install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
	as_root=sudo
else
	echo "deps.sh: neither root nor sudo here. Please have this command run, then try again:" >&2
	echo "    apt-get update && $install" >&2
	exit 1
fi
if ! DEBIAN_FRONTEND=noninteractive $as_root apt-get update -q ||
	! $as_root env DEBIAN_FRONTEND=noninteractive $install; then
	echo "deps.sh: apt failed; to see why, run: $as_root $install" >&2
	exit 1
fi
