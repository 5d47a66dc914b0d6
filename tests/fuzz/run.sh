#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzz every parser for SECONDS each (default 60): tests/fuzz/run.sh [SECONDS [TARGET ...]]
# New inputs worth keeping are found in build-fuzz/found/; a crash is left in build-fuzz/.
set -e
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
if [ ! -d build-fuzz ]; then
	CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
		-Dbuildtype=debugoptimized -Dc_args=-fsanitize=fuzzer-no-link
fi
[ $# -gt 0 ] || set -- workload catalog profile eva_json eva_csv pods eva_types skypilot ec2 prices matrix input recognise
for t in "$@"; do
	ninja -C build-fuzz "tests/fuzz/fuzz_$t"
	mkdir -p "build-fuzz/found/$t"
	UBSAN_OPTIONS=halt_on_error=1 "build-fuzz/tests/fuzz/fuzz_$t" -max_total_time="$seconds" -timeout=10 \
		-rss_limit_mb=1024 -max_len=8192 -artifact_prefix=build-fuzz/ -print_final_stats=1 \
		-dict=tests/fuzz/words.dict "build-fuzz/found/$t" "tests/fuzz/corpus/$t"
done
