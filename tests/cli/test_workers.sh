#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Policies that keep a fixed set of workers: --workers, what they report, what is refused.
. "$SOURCE/tests/cli/common.sh"

cat >"$tmp/w.tr" <<'TR'
10 3 5 5 5 5
11 2 100 100 120
12 4 2.5 2 3 2 3
TR
expect 0 compare -q --workload "$tmp/w.tr" --workers 50 -p eagle -p cloudcoaster:r=2 -p cloudcoaster:p=0 --format json
printf '%s' "$out" >"$tmp/out"
python3 - "$tmp/out" <<'PY' || fail "what compare says of short and long jobs"
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
assert [r["policy"] for r in runs] == ["eagle", "cloudcoaster", "cloudcoaster"]
for r in runs:
    for key in ("short_task_delay_s", "short_jobs_s", "long_jobs_s"):
        assert set(r[key]) >= {"mean", "p50", "p90", "p99", "max"}, key
    assert set(r["transient"]) >= {"avg_active", "lifetime_mean_h", "lifetime_max_h", "cost_ratio"}
    assert r["short_task_delay_s"]["n"] == 7 and r["long_jobs_s"]["n"] == 1 and r["jobs"] == 3
# Nobody waits: the probe's delay and the two of the hand-out.
assert abs(runs[0]["short_task_delay_s"]["p50"] - 0.0015) < 1e-9
assert abs(runs[0]["long_jobs_s"]["max"] - 120.0015) < 1e-9
# Replacing nothing is eagle.
same = [{k: v for k, v in r.items() if k not in ("policy", "params", "wall_s", "peak_rss_mb", "decide_s", "decide_max_s")} for r in (runs[0], runs[2])]
assert same[0] == same[1]
PY
expect 2 compare --workload "$tmp/w.tr" -p eagle
complains "--workers"
expect 2 compare --workload "$tmp/w.tr" --workers 0 -p eagle
expect 2 compare --workload "$tmp/w.tr" --workers 10 -p eagle:general=0
complains "general"
expect 2 compare --workload "$tmp/w.tr" --workers 10 --provisioning soon -p eagle
complains "provisioning"

# A recorded run is decided the same again, --workers and all.
for policy in sparrow hawk eagle least-waiting cloudcoaster:r=2,general=50,threshold=0.2 surge:general=50; do
	expect 0 compare -q --workload "$tmp/w.tr" --workers 12 -p $policy --journal "$tmp/journal"
	expect 0 replay "$tmp/journal"
done
# Replacing nothing is eagle, byte for byte: the journals differ in the name of the policy alone.
awk 'BEGIN { for (i = 0; i < 60; i++) { n = 1 + i * 7 % 9; d = i % 6 ? 3 + i % 20 : 150 + i; printf "%d %d %d", 3 * i, n, d
	for (k = 0; k < n; k++) printf " %d", d + k; print "" } }' >"$tmp/many.tr"
for policy in eagle:general=75 cloudcoaster:p=0,general=75; do
	expect 0 compare -q --workload "$tmp/many.tr" --workers 12 -p $policy --journal "$tmp/journal.${policy%%:*}"
	sed '2s/^policy [a-z]*:.*/policy/' "$tmp/journal.${policy%%:*}" >"$tmp/${policy%%:*}"
done
[ "$(wc -l <"$tmp/eagle")" -gt 1000 ] || fail "too little happened"
sed 's/^offer transient.*//' "$tmp/cloudcoaster" | sed '/^$/d; s/^catalog .*/catalog/' >"$tmp/cloudcoaster.plain"
sed '/^$/d; s/^catalog .*/catalog/' "$tmp/eagle" >"$tmp/eagle.plain"
cmp -s "$tmp/eagle.plain" "$tmp/cloudcoaster.plain" || fail "p = 0 is not eagle: $(diff "$tmp/eagle.plain" "$tmp/cloudcoaster.plain" | head -5)"
expect 2 compare --workload "$tmp/w.tr" --workers 12 -p cloudcoaster:r=0
complains "there is no market without --catalog"

# What belongs together: a slot is one CPU, a range has two ends, a market is not over before the first job.
printf 'farthing-workload 1\nkind A any=cpu:2\njob 0 submit=0s tasks=1xA:10s\n' >"$tmp/wide.fw"
expect 2 compare --workload "$tmp/wide.fw" --workers 10 -p eagle:slots=2
complains "one CPU"
expect 2 compare --workload "$tmp/w.tr" --workers 10 -p eagle:estimates=random,off_bottom=2,off_top=1
complains "off_bottom is the larger"
sed 's/^1/10000001/' "$tmp/w.tr" >"$tmp/late.tr"
printf 'epoch,az,instance_type,price\n1000,r3,transient,0.3\n2000,r3,transient,0.4\n' >"$tmp/market.csv"
expect 0 compare --workload "$tmp/late.tr" --workers 12 -p cloudcoaster:general=50 --market "$tmp/market.csv" --format json
complains "the market does not change any more when the first job comes"
expect 0 compare --workload "$tmp/w.tr" --workers 12 -p cloudcoaster:general=50 --market "$tmp/market.csv" --format json
quiet

# Transients that a real market gives and takes: the published probes of a zone.
real=$SOURCE/../shared/data/spot/availability/aws-02-15-2023/us-west-2a_v100_1.json
if [ -f "$real" ]; then
	awk 'BEGIN { for (i = 0; i < 400; i++) { n = 1 + i * 7 % 9; d = i % 6 ? 30 + i % 50 : 2000 + i; printf "%d %d %d", 300 * i, n, d
		for (k = 0; k < n; k++) printf " %d", d + k; print "" } }' >"$tmp/days.tr"
	expect 0 compare -q --workload "$tmp/days.tr" --workers 24 -p cloudcoaster:general=50,threshold=0.05 -p surge:general=50,threshold=0.05 \
		--market "transient@r3=$real" --sim notice=0s --format json
	printf '%s' "$out" >"$tmp/out"
	python3 - "$tmp/out" <<'PY' || fail "cloudcoaster on a published market"
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
coaster, surge = runs
for r in runs:
    assert r["jobs"] == 400 and r["transient"]["count"] > 0, r["transient"]
    assert r["short_task_delay_s"]["n"] == sum(1 + i * 7 % 9 for i in range(400) if i % 6)
assert coaster["transient"]["lost_tasks"] > 0, coaster["transient"]
assert surge["transient"]["cost_usd"] <= coaster["transient"]["cost_usd"]
PY
elif [ -n "${CI:-}" ]; then
	fail "no data beside the project: $real"
else
	echo "without $real: a published market is not tried"
fi

# Bad input, each with its file and line.
bad_tr()
{
	printf "$1" >"$tmp/bad.tr"
	expect 2 compare --workload "$tmp/bad.tr" --workers 10 --workload-format hawk-tr -p eagle
	complains "bad.tr:$2"
	# The name says what it is too.
	expect 2 compare --workload "$tmp/bad.tr" --workers 10 -p eagle
	complains "bad.tr:$2"
}
bad_tr '10 2 5 5\n' '1: 2 tasks are announced, and 1 duration follows'
bad_tr '10 1 5 5\n11 1 5 5 6\n' '2: '
bad_tr '10 1 5 5\n11 1 5 -5\n' '2: '
bad_tr '10 1 -5 5\n' '1: '
bad_tr '10 1 five 5\n' '1: '
bad_tr '10 1 5 5\n11 1 5 x\n' '2: '
bad_tr '10 0 5\n' '1: '
bad_tr '10 1 5 5\n9 1 5 5\n' '2: '
bad_tr '10 1 5 nan\n' '1: '
# K = 0 and a partition without short-only workers are no errors: no transients, and the last round draws from all.
expect 0 compare -q --workload "$tmp/w.tr" --workers 50 -p cloudcoaster:r=0.5,general=98 -p eagle:general=100 --format json
printf '%s' "$out" | python3 -c 'import json, sys
runs = json.load(sys.stdin)["runs"]
assert runs[0]["transient"]["count"] == 0 and all(r["jobs"] == 3 for r in runs)' || fail "K = 0, or no short-only workers"

# A market: eight workers, four of them for long work, which fills them; two short-only ones stay, two are given up. A machine of
# four slots costs 1 $/h, so r = 4 and K = 8: two machines. At 200 s it costs twice as much: K = 4, one goes. At 400 s it is above
# the bid: the other is taken with 5 s of notice. From 600 s on both are back, until the long work ends.
{
	echo "0 4 2000 2000 2000 2000 2000"
	t=10
	while [ $t -lt 1000 ]; do
		echo "$t 6 60 60 60 60 60 60 60"
		t=$((t + 20))
	done
} >"$tmp/burst.tr"
printf 'farthing-catalog 1\ntype worker holds=cpu:1\ntype big holds=cpu:4 setup=10s\noffer worker price=1\noffer big price=8\n' >"$tmp/c.fc"
printf 'epoch,az,instance_type,price\n1700000000,a,big,1\n1700000200,a,big,2\n1700000400,a,big,9\n1700000600,a,big,1\n' >"$tmp/prices.csv"
coaster=general=50,threshold=0.3
expect 0 compare -q --workload "$tmp/burst.tr" --workers 8 --catalog "$tmp/c.fc" --market "$tmp/prices.csv" --sim notice=5s \
	-p cloudcoaster:r=0,$coaster --format json --out "$tmp/out" --instances-csv "$tmp/i.csv"
python3 - "$tmp/out" "$tmp/i.csv" <<'PY' || fail "cloudcoaster on a market of prices"
import csv, json, sys
run = json.load(open(sys.argv[1]))["runs"][0]
assert run["jobs_unfinished"] == 0 and run["tasks"] == 304 and run["rejected_actions"] == 0
spot = [r for r in csv.DictReader(open(sys.argv[2])) if r["capacity_type"] == "spot"]
assert [float(r["ready_s"]) for r in spot] == [10, 10, 610, 610], spot
gone = [float(r["gone_s"]) for r in spot]
assert gone[0] == 405 and 200 < gone[1] < 400 and gone[2] == gone[3] and 2000 <= gone[2] < 2001, gone
hour = 3600
assert abs(float(spot[0]["cost_usd"]) - (200 * 1 + 200 * 2 + 5 * 9) / hour) < 1e-6
assert abs(float(spot[2]["cost_usd"]) - 1401 / hour) < 1e-6
t = run["transient"]
assert t["count"] == 4 and abs(t["cost_usd"] - sum(float(r["cost_usd"]) for r in spot)) < 1e-6
# The four slots of the machine that was taken each lost a task, for a quarter of 9 $/h.
assert t["lost_tasks"] == 4 and 0 < t["lost_s"] < 4 * 60
assert abs(t["lost_usd"] - t["lost_s"] / hour * 9 / 4) < 1e-9
PY
# An availability file does the same without prices, and a rate takes machines at random; nothing is lost for good.
echo 'offer big zone=a market=spot price=1' >>"$tmp/c.fc"
echo '{"metadata": {"gap_seconds": 200}, "data": [1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}' >"$tmp/a.json"
expect 0 compare -q --workload "$tmp/burst.tr" --workers 8 --catalog "$tmp/c.fc" --market "big@a=$tmp/a.json" --sim notice=5s \
	-p cloudcoaster:r=4,$coaster --format json
printf '%s' "$out" | python3 -c 'import json, sys
run = json.load(sys.stdin)["runs"][0]
t = run["transient"]
assert run["jobs_unfinished"] == 0 and t["count"] == 4 and t["lost_tasks"] == 8, t
assert abs(t["cost_ratio"] - 4) < 0.01 and abs(t["lost_usd"] - t["lost_s"] / 3600 / 4) < 1e-9, t' || fail "an availability file"
expect 0 compare -q --workload "$tmp/burst.tr" --workers 8 --catalog "$tmp/c.fc" --sim revocation_rate=30 --sim notice=5s \
	-p cloudcoaster:r=4,$coaster -p surge:r=4,general=50,fund=budget --format json
printf '%s' "$out" | python3 -c 'import json, sys
for run in json.load(sys.stdin)["runs"]:
    t = run["transient"]
    assert run["jobs_unfinished"] == 0 and run["tasks"] == 304 and t["lost_tasks"] > 0 and t["lost_usd"] > 0, t' || fail "a rate"
finish
