#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All tests: a plain build with every suite, then the same tests under address and
# undefined-behaviour sanitizers. Ends in one line: N passed, N failed, N skipped.
set -u

plain=${1:-build}
san=${2:-build-san}
passed=0 failed=0 skipped=0
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1

# Where the tests look for the public data sets.
FARTHING_DATA=${FARTHING_DATA:-$root/../shared/data}
export FARTHING_DATA

# A count out of meson's summary; its lines look like "Fail:               2".
count()
{
	sed -n "s/^$2: *\([0-9][0-9]*\) *\$/\1/p" "$1" | tail -n 1 | grep . || echo 0
}

run()
{
	dir=$1 title=$2
	shift 2
	echo "== $title"
	if [ ! -f "$dir/build.ninja" ]; then
		meson setup "$dir" "$@" >"$dir.log" 2>&1 || {
			cat "$dir.log"
			failed=$((failed + 1))
			return
		}
		rm -f "$dir.log"
	fi
	# Set up before what the tests need was installed (by make demo, say): look again.
	if ! grep -q 'tests/test_base' "$dir/build.ninja" ||
		{ [ -e /usr/include/slurm/slurm.h ] && ! grep -q farthing-driver-slurm "$dir/build.ninja"; }; then
		meson setup --reconfigure "$dir" >"$dir.log" 2>&1 || cat "$dir.log"
		rm -f "$dir.log"
	fi
	if ! ninja -C "$dir" --quiet; then
		echo "the build in $dir failed"
		failed=$((failed + 1))
		return
	fi
	meson test -C "$dir" --no-rebuild --print-errorlogs $suites >"$dir/test-output.txt" 2>&1
	status=$?
	cat "$dir/test-output.txt"
	bad=$(($(count "$dir/test-output.txt" Fail) + $(count "$dir/test-output.txt" Timeout) +
		$(count "$dir/test-output.txt" 'Unexpected Pass')))
	# A meson that fails without a count (no test found, broken harness) is a failure too.
	[ $status -ne 0 ] && [ $bad -eq 0 ] && bad=1
	passed=$((passed + $(count "$dir/test-output.txt" Ok) + $(count "$dir/test-output.txt" 'Expected Fail')))
	failed=$((failed + bad))
	skipped=$((skipped + $(count "$dir/test-output.txt" Skipped)))
}

suites=
run "$plain" "tests"
# What only measures time, or takes the installed program apart, gains nothing from sanitizers.
suites="--no-suite plain-only"
ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:${ASAN_OPTIONS:-}
UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}
export ASAN_OPTIONS UBSAN_OPTIONS
# gcc sees things that are not there in instrumented code: warnings are errors in the plain build only.
run "$san" "the same with address and undefined-behaviour sanitizers" \
	-Dbuildtype=debugoptimized -Dwerror=false -Dwarning_level=1 -Db_sanitize=address,undefined -Db_lundef=false

echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
