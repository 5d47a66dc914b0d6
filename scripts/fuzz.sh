#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzz every parser with clang: scripts/fuzz.sh [BUILD [SECONDS [TARGET ...]]]
# Inputs that reach new code are kept in BUILD/found/; one that fails is left in BUILD.
set -e
cd "$(dirname "$0")/.."
build=${1:-build-fuzz}
seconds=${2:-60}
[ $# -ge 2 ] && shift 2 || shift $#
[ $# -gt 0 ] || set -- $(cd tests/fuzz && ls fuzz_*.c | sed 's/^fuzz_\(.*\)\.c$/\1/')
if [ ! -f "$build/build.ninja" ]; then
	CC=clang meson setup "$build" -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
		-Dbuildtype=debugoptimized -Dc_args=-fsanitize=fuzzer-no-link >"$build.log" 2>&1 || {
		cat "$build.log"
		exit 1
	}
	rm -f "$build.log"
fi
for t in "$@"; do
	ninja -C "$build" --quiet "tests/fuzz/fuzz_$t"
	mkdir -p "$build/found/$t"
	echo "== $t, $seconds s"
	UBSAN_OPTIONS=halt_on_error=1 "$build/tests/fuzz/fuzz_$t" -max_total_time="$seconds" -timeout=10 \
		-rss_limit_mb=1024 -max_len=8192 -artifact_prefix="$build/" -print_final_stats=1 -verbosity=0 \
		-dict=tests/fuzz/words.dict "$build/found/$t" "tests/fuzz/corpus/$t"
done
