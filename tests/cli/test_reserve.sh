#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plan reserve, and queues of rigid jobs from an SWF file under compare.
. "$SOURCE/tests/cli/common.sh"
cd "$tmp" || exit 1

cat >classes.csv <<'X'
class,term,upfront_usd,hourly_usd,every_hour,kind
on-demand,,,2.40,,on-demand
3y-heavy,3y,7670,0.361,yes,reserved
3y-light,3y,2710,0.904,no,reserved
plan,1y,0,1.5,,savings-plan
X
python3 -c "
print('instances')
for h in range(20 * 168): print(4 + (h % 24 > 11) + 2 * (h % 168 > 150))" >use.csv
expect 0 plan reserve --demand use.csv --classes classes.csv --format json
quiet
python3 - out <<'PY' || fail "the plans are not as documented"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "farthing.plan.reserve/1"
plans = {p["method"]: p for p in d["plans"]}
for p in d["plans"]:
    assert p["pure_cost_usd"] >= d["lower_bound_usd"] * (1 - 1e-9), p["method"]
    assert p["cost_usd"] >= p["pure_cost_usd"] - 1e-6
    for b in p["purchases"]:
        assert b["at"] >= 0 and b["count"] > 0 and isinstance(b["class"], str)
hours = d["demand_hours"]
assert abs(plans["on-demand"]["cost_usd"] - 2.4 * hours) < 1e-6 and not plans["on-demand"]["purchases"]
# Four machines are always there: heavy. The night shift is half a day: light.
first = {b["class"]: b["count"] for b in plans["offline-greedy"]["purchases"] if b["at"] == 0}
assert first["3y-heavy"] == 4 and first["3y-light"] >= 1, first
best = plans.get("exact") or plans["near-exact"]
assert all(best["pure_cost_usd"] <= p["pure_cost_usd"] * (1 + 1e-9) for p in d["plans"])
assert best["pure_cost_usd"] <= d["lower_bound_usd"] * 1.001
assert len(d["regret"]) == 3
PY
expect 0 plan reserve -d use.csv -c classes.csv --max 3y-heavy=2 --format csv
says "offline-greedy,0,3y-heavy,2"
expect 0 plan reserve -d use.csv -c classes.csv --format html
says "Cost against the number committed"
expect 2 plan reserve -d use.csv -c classes.csv --max nothing=2
complains "no class 'nothing'"
cat >swf <<'X'
; Computer: two jobs
1 0 -1 1800 32 -1 -1 32 3600 -1 1 1 1 1 1 1 -1 -1
2 600 -1 900 16 -1 -1 16 900 -1 1 2 1 1 1 1 -1 -1
X
cat >catalog.txt <<'X'
farthing-catalog 1
type node holds=cpu:16 boot=1:126s,2:186s
offer node price=2.4 increment=1h from=ready
offer node market=reserved contract=1y term=365d upfront=100 price=0.1
X
expect 0 compare -w swf -c catalog.txt -p individual -p sec -p sec:contract=hybrid --format json
python3 - out <<'PY' || fail "two jobs by hand"
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
alone, sec, hybrid = runs
assert abs(alone["cost_usd"] - 7.2) < 1e-9 and alone["wait_mean_s"] == (186 + 126) / 2
# The second job waits for nobody's boot: it comes while both nodes run, and predicted to wait it gets a node of its own.
assert sec["used_node_hours"] == 2 * 0.5 + 0.25 and sec["cost_usd"] == sec["list_cost_usd"]
assert abs(sec["rate_usd_per_node_hour"] - sec["cost_usd"] / 1.25) < 1e-9
assert hybrid["list_cost_usd"] == sec["cost_usd"] and hybrid["cost_usd"] < sec["cost_usd"]
assert sum(hybrid["hours_by_contract"].values()) == sec["billed_node_hours"]
PY
finish
