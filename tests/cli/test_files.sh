#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files in and out: import, generate, validate, and that a file appears whole or not at all.
. "$SOURCE/tests/cli/common.sh"
small

# Nothing but what is named here may lie in the folder afterwards.
mkdir "$tmp/d"
only()
{
	have=$(cd "$tmp/d" && ls -A | tr '\n' ' ')
	[ "$have" = "$1" ] || fail "in the folder: '$have', not '$1'"
}

expect 0 compare -w "$tmp/small.fw" -p no-packing --format json --out "$tmp/d/r.json" --html "$tmp/d/r.html" \
	--jobs-csv "$tmp/d/jobs.csv" --instances-csv "$tmp/d/instances.csv"
[ -z "$out" ] || fail "output though --out was given"
only "instances.csv jobs.csv r.html r.json "
[ "$(wc -l <"$tmp/d/jobs.csv")" -eq 41 ] || fail "jobs.csv has not one row per job"
expect 0 compare -w "$tmp/small.fw" -p no-packing -p synergy -p synergy --jobs-csv "$tmp/d/jobs.csv"
only "instances.csv jobs.csv jobs.no-packing.csv jobs.synergy-2.csv jobs.synergy.csv r.html r.json "
rm -f "$tmp"/d/*

# Failures leave nothing.
expect 2 compare -w "$tmp/small.fw" -p no-such --out "$tmp/d/r.json"
only ""
printf 'this is no workload\n' >"$tmp/bad.fw"
expect 2 compare -w "$tmp/bad.fw" -p no-packing --out "$tmp/d/r.json"
complains "$tmp/bad.fw"
only ""
expect 2 compare -w "$tmp/small.fw" -p no-packing --out "$tmp/nowhere/r.json"
complains "nowhere"
expect 2 import "$tmp/bad.fw" --out "$tmp/d/x.fw"
only ""
if [ -e /dev/full ]; then
	"$FARTHING" compare -w "$tmp/small.fw" -p no-packing >/dev/full 2>"$tmp/err"
	[ $? -eq 1 ] || fail "writing to a full device did not fail with 1"
fi

# Canonical text is a fixed point, compressed or not.
expect 0 validate "$tmp/small.fw"
says "40 jobs"
expect 0 import "$tmp/small.fw" --out "$tmp/d/a.fw"
cmp -s "$tmp/small.fw" "$tmp/d/a.fw" || fail "import changes canonical text"
for ending in gz zst; do
	expect 0 import "$tmp/small.fw" --out "$tmp/d/a.fw.$ending"
	expect 0 import "$tmp/d/a.fw.$ending"
	cmp -s "$tmp/out" "$tmp/small.fw" || fail "a .$ending does not read back the same"
done
"$FARTHING" import --from farthing-workload - <"$tmp/small.fw" | cmp -s - "$tmp/small.fw" || fail "not from standard input"
expect 2 import -
complains "--from"
head -c 100 "$tmp/d/a.fw.gz" >"$tmp/d/cut.fw.gz"
expect 2 validate "$tmp/d/cut.fw.gz"
complains "cut.fw.gz"
expect 2 validate "$tmp/small.fw" "$tmp/bad.fw"
says "40 jobs"

# Interrupted while writing: nothing is left. On a busy machine it may be done before the signal comes: again then.
mkdir "$tmp/e"
code=0
tries=0
while [ $code -eq 0 ] && [ $tries -lt 10 ]; do
	rm -f "$tmp/e/"*
	"$FARTHING" generate --jobs 300000 --out "$tmp/e/big.fw.gz" &
	pid=$!
	i=0
	while [ $i -lt 3000 ] && [ -z "$(ls -A "$tmp/e")" ]; do
		sleep 0.01
		i=$((i + 1))
	done
	kill -TERM $pid 2>/dev/null
	wait $pid
	code=$?
	tries=$((tries + 1))
done
[ $code -eq 130 ] || fail "interrupted while writing: exit code $code, not 130"
[ -z "$(ls -A "$tmp/e")" ] || fail "left behind: $(ls -A "$tmp/e")"

# The same seed, the same bytes; another seed, others.
"$FARTHING" generate --jobs 40 --seed 7 >"$tmp/again.fw"
cmp -s "$tmp/small.fw" "$tmp/again.fw" || fail "the same seed gives another workload"
"$FARTHING" generate --set jobs=40 --set seed=8 >"$tmp/other.fw"
cmp -s "$tmp/small.fw" "$tmp/other.fw" && fail "another seed gives the same workload"
# Out of memory is told as such.
if [ -z "${ASAN_OPTIONS:-}" ]; then
	(ulimit -v 100000 && "$FARTHING" generate --jobs 50000000 >/dev/null 2>"$tmp/err")
	code=$?
	[ $code -eq 71 ] || fail "out of memory: exit code $code, not 71: $(cat "$tmp/err")"
fi
finish
