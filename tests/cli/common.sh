# SPDX-License-Identifier: Apache-2.0
# What the tests of the command line share. A test runs commands and says what it expects of each.
set -u
: "${FARTHING:?}" "${SOURCE:?}" "${BUILD:?}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0

fail()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# expect CODE ARGS...: run the program, keep what it wrote in $out and $err, check its exit code.
expect()
{
	want=$1
	shift
	"$FARTHING" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	got=$?
	out=$(cat "$tmp/out") err=$(cat "$tmp/err")
	if [ "$got" != "$want" ]; then
		fail "farthing $*: exit code $got, not $want"
		echo "  stdout: $(echo "$out" | head -n 3)"
		echo "  stderr: $(echo "$err" | head -n 3)"
	fi
}

# says WORDS / complains WORDS: the last command's output or messages contain them.
says()
{
	case $out in
	*"$1"*) ;;
	*) fail "output lacks '$1': $(echo "$out" | head -n 3)" ;;
	esac
}

complains()
{
	case $err in
	*"$1"*) ;;
	*) fail "messages lack '$1': $err" ;;
	esac
}

quiet()
{
	[ -z "$err" ] || fail "unexpected message: $err"
}

# A small workload, so that runs are short.
small()
{
	"$FARTHING" generate --jobs 40 --seed 7 --out "$tmp/small.fw" || fail "cannot generate a workload"
}

finish()
{
	[ $failures -eq 0 ] && echo "ok"
	exit $((failures > 0))
}
