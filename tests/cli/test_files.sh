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

# The same seed, the same bytes; another seed, others.
"$FARTHING" generate --jobs 40 --seed 7 >"$tmp/again.fw"
cmp -s "$tmp/small.fw" "$tmp/again.fw" || fail "the same seed gives another workload"
"$FARTHING" generate --set jobs=40 --set seed=8 >"$tmp/other.fw"
cmp -s "$tmp/small.fw" "$tmp/other.fw" && fail "another seed gives the same workload"
finish
