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
says "offline-greedy,0,3y-light"
awk -F, '$1 ~ /exact$/ && $3 == "3y-heavy" { n += $4 } END { exit n > 2 }' out || fail "the exact plan does not keep to --max"
expect 0 plan reserve -d use.csv -c classes.csv --format html
says "Cost against the number committed"
expect 2 plan reserve -d use.csv -c classes.csv --max nothing=2
complains "no class 'nothing'"

# Contracts of today: one and three years, nothing, a part or all upfront, and savings plans, for two machines all the time over a
# year. The cheapest is three years paid at once, by the time held; over whole terms it is one year paid at once.
cat >modern.csv <<'X'
class,term,upfront_usd,hourly_usd,every_hour,kind
on-demand,,,1.00,,on-demand
1y-no,1y,0,0.63,yes,reserved
1y-part,1y,2628,0.30,yes,reserved
1y-all,1y,5150,0,yes,reserved
3y-no,3y,0,0.43,yes,reserved
3y-part,3y,5256,0.20,yes,reserved
3y-all,3y,9880,0,yes,reserved
sp-1y,1y,0,0.66,,savings-plan
sp-3y,3y,0,0.45,,savings-plan
X
python3 -c "
print('instances')
for h in range(8760): print(2)" >flat.csv
expect 0 plan reserve -d flat.csv -c modern.csv --format json
python3 - out <<'PY' || fail "contracts of today"
import json, sys
d = json.load(open(sys.argv[1]))
plans = {p["method"]: p for p in d["plans"]}
hours = 8760
want = {"1y-no": 0.63 * hours, "1y-part": 2628 + 0.30 * hours, "1y-all": 5150, "3y-no": 0.43 * hours,
        "3y-part": 5256 / 3 + 0.20 * hours, "3y-all": 9880 / 3, "sp-1y": 0.66 * hours, "sp-3y": 0.45 * hours}
for name, usd in want.items():
    p = plans["only-" + name]
    assert abs(p["pure_cost_usd"] - 2 * usd) < 1e-6 * usd, (name, p["pure_cost_usd"], 2 * usd)
    assert [b["count"] for b in p["purchases"]] == [2], name
best = plans["exact"]
assert best["purchases"] == [{"at": 0, "class": "3y-all", "count": 2}], best["purchases"]
assert abs(best["cost_usd"] - 2 * 9880) < 1e-6 and abs(best["pure_cost_usd"] - 2 * 9880 / 3) < 1e-3
assert plans["only-sp-1y"]["purchases"][0]["commit_usd_per_hour"] == 1.32
curve = {c["class"]: c for c in d["regret"]}["1y-all"]
assert curve["committed"] == [0, 1, 2] and abs(curve["cost_usd"][2] - 2 * 5150) < 1e-6 and curve["cost_usd"][0] == 2 * hours
PY
expect 0 plan reserve -d flat.csv -c modern.csv --max 3y-all=1 --max 3y-part=0 --max 3y-no=0 --max sp-3y=0
says "1 1y-all"
says "buys, on day"
says "cost by number committed"
expect 0 plan reserve -d flat.csv -c modern.csv --full-term --format csv
says "offline-greedy,0,1y-all,2"

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

# A job that is wider than the cluster may become: it never starts, keeps nobody from it and no node rented.
cat >wide.swf <<'X'
1 0 -1 600 16 -1 -1 16 600 -1 1 1 1 1 1 1 -1 -1
2 20 -1 600 160 -1 -1 160 600 -1 1 1 1 1 1 1 -1 -1
3 200000 -1 600 64 -1 -1 64 600 -1 1 1 1 1 1 1 -1 -1
X
for policy in sec:max_nodes=4 local:nodes=4; do
	expect 3 compare -w wide.swf -c catalog.txt -p $policy
	says "1 job did not end"
done
expect 3 compare -w wide.swf -c catalog.txt -p sec:max_nodes=4 --format json
python3 - out <<'PY' || fail "a wide job keeps nodes rented"
import json, sys
assert json.load(open(sys.argv[1]))["runs"][0]["cost_usd"] == 5 * 2.4
PY
# Contracts that mostly run after the demand are remarked on, and not bought when judged by their whole term.
printf 'ready_s,gone_s\n0,7776000\n0,7776000\n' >short.csv
expect 0 plan reserve --demand short.csv --classes "$SOURCE/data/catalog-hpc-2013.txt"
says "run for more than half their term after the demand"
printf 'ready_s,gone_s\n0,94608000\n0,94608000\n' >term.csv
expect 0 plan reserve --demand term.csv --classes "$SOURCE/data/catalog-hpc-2013.txt"
case $out in *"after the demand: worth"*) fail "a contract within the demand is remarked on" ;; esac
# One that is wider than any cluster may become is an error of its line.
expect 2 compare -w wide.swf -c catalog.txt -p sec --sim max_instances=9
complains "wide.swf:2: job 2 needs 10 machines at once, the cluster may have 9"
expect 0 compare -w wide.swf -c catalog.txt -p sec --sim max_instances=10
# An hour to the second is one hour of each node, whatever the minute; without that look, two.
printf '1 7 -1 3600 32 -1 -1 32 3600 -1 1 1 1 1 1 1 -1 -1\n' >hour.swf
expect 0 compare -w hour.swf -c catalog.txt -p sec -p sec:punctual=false -p nowait -p individual --format json
python3 - out <<'PY' || fail "an hour to the second"
import json, sys
assert [r["cost_usd"] for r in json.load(open(sys.argv[1]))["runs"]] == [4.8, 9.6, 4.8, 4.8]
PY
# Estimates that are far too short do not strand the next job: its patience asks for nodes.
cat >late.txt <<'X'
farthing-workload 1
kind A class=x any=cpu:16
job 0 submit=0s kind=rigid estimate=300s tasks=2xA:10000s
job 1 submit=250s kind=rigid estimate=100s tasks=2xA:100s
X
sed 's/ estimate=[0-9]*s//' late.txt >unknown.txt
for w in late.txt unknown.txt; do
	expect 0 sim -w $w -c catalog.txt -p sec --format json
	python3 - out <<'PY' || fail "stranded in $w"
import json, sys
assert json.load(open(sys.argv[1]))["run"]["wait_mean_s"] < 400
PY
done
# Two clouds, each of at most two nodes: what the cheaper cannot give comes from the other.
cat >clouds.txt <<'X'
farthing-catalog 1
type node holds=cpu:16 boot=1:60s
offer node zone=a price=2.4 increment=1h from=ready
offer node zone=b price=1.9 increment=60s minimum=600s from=ready sustained=yes
X
cat >four.swf <<'X'
1 0 -1 900 32 -1 -1 32 900 -1 1 1 1 1 1 1 -1 -1
2 0 -1 900 32 -1 -1 32 900 -1 1 2 1 1 1 1 -1 -1
X
expect 0 sim -w four.swf -c clouds.txt -p sec:clouds=true,max_nodes=2,size=sum --format json
python3 - out <<'PY' || fail "two clouds by hand"
import json, sys
run = json.load(open(sys.argv[1]))["run"]
assert run["wait_mean_s"] == 60 and run["instances_launched"] == 4, run
assert run["hours_by_contract"] == {"on-demand": 2, "sustained-use": 0.5}, run["hours_by_contract"]
assert abs(run["cost_usd"] - (2 * 2.4 + 2 * 0.25 * 1.9)) < 1e-9, run["cost_usd"]
PY
finish
