#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plan spot and market: the paper's example, files to apply, bad input.
. "$SOURCE/tests/cli/common.sh"
cd "$tmp" || exit 1

head='ECU,AvgSpotPrice,OnDemandPrice,VM,Availability'
printf '%s\n' "$head" '1,0.02,0.5,a,0.9' '1,0.02,0.5,b,0.9' >pool.csv

# Two types, each there for 90 %: 1 ECU for 99 % takes one of each.
expect 0 plan spot --capacity 1 --availability 0.99 --pool pool.csv --format json
for word in '"schema": "farthing.plan.spot/1"' '"policy": "search"' '"met": true' '"cost_per_hour": 0.04' '"capacity": 2' '"excess": 1' \
	'"on_demand_per_hour": 0.5' '"type": "a"' '"type": "b"' '"wall_s"' '"lower_bound_per_hour"' '"gap"'; do
	case $out in *"$word"*) ;; *) fail "no $word in: $out" ;; esac
done
printf '%s\n' "$out" | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert list(d) == ["schema", "policy", "met", "cost_per_hour", "availability", "capacity", "excess", "on_demand_per_hour",
	"lower_bound_per_hour", "gap", "pool", "wall_s"], list(d)
assert abs(d["availability"] - 0.99) < 1e-12 and d["gap"] >= 0' || fail "the JSON is not as promised"
for policy in tr tr-artifact cheapest diverse availability on-demand; do
	expect 0 plan spot -c 1 -a 0.99 -p pool.csv --policy $policy --format json
done

expect 0 plan spot -c 1 -a 0.99 -p pool.csv
case $out in *CHOSEN*) ;; *) fail "no CHOSEN mark: $out" ;; esac
case $out in *'MISSES the target'*) ;; *) fail "no rejected alternative: $out" ;; esac

# Files to apply, of one zone, of two, and on demand: they keep to their schemas, and the schemas refuse what is spoilt.
printf '%s\n' "$head,Zone" '4,0.02,0.5,m5.large,0.9,us-x-1a' '9,0.02,0.5,c5.xlarge,0.91,us-x-1a' '9,0.02,0.5,c5.xlarge,0.92,us-x-1b' >zones.csv
keeps()
{
	schema=$1 format=$2 file=$3
	shift 3
	expect 0 plan spot --quiet --format "$format" --out "$file" "$@"
	python3 "$SOURCE/tests/cli/check_schema.py" "$SOURCE/tests/cli/schemas/$schema.json" "$file" >why || fail "$format: $(cat why)"
	python3 "$SOURCE/tests/cli/check_schema.py" --mutate "$SOURCE/tests/cli/schemas/$schema.json" "$file" >why || fail "$format: $(head -n 3 why)"
}
for pool in '-c 1 -a 0.99 -p pool.csv' '-c 100 -a 0.99 -p zones.csv' '-c 100 -a 0.99 -p zones.csv --policy on-demand'; do
	keeps create_fleet create-fleet fleet.json $pool
	keeps karpenter karpenter pools.yaml $pool
	keeps kube_aws kube-aws workers.yaml $pool
done
# And they say what the plan says.
expect 0 plan spot -c 100 -a 0.99 -p zones.csv --format json --out plan.json
for format in create-fleet:fleet.json karpenter:pools.yaml kube-aws:workers.yaml; do
	expect 0 plan spot -c 100 -a 0.99 -p zones.csv --format "${format%%:*}" --out "${format#*:}"
done
python3 - <<'X' || fail "the files to apply are not the plan"
import json, yaml
plan = sorted((x["type"], x["zone"], x["count"]) for x in json.load(open("plan.json"))["pool"])
units = {"m5.large": 4, "c5.xlarge": 9}
fleets = []
for q in json.load(open("fleet.json")):
	t, o = q["TargetCapacitySpecification"], q["LaunchTemplateConfigs"][0]["Overrides"][0]
	assert t["TotalTargetCapacity"] == t["OnDemandTargetCapacity"] + t["SpotTargetCapacity"] and t["OnDemandTargetCapacity"] == 0
	assert o["WeightedCapacity"] == units[o["InstanceType"]]
	fleets.append((o["InstanceType"], o["AvailabilityZone"], t["TotalTargetCapacity"] // o["WeightedCapacity"]))
pools = []
for d in yaml.safe_load_all(open("pools.yaml")):
	r = {x["key"].split("/")[1]: x["values"][0] for x in d["spec"]["template"]["spec"]["requirements"]}
	assert r["capacity-type"] == "spot"
	pools.append((r["instance-type"], r["zone"], d["spec"]["replicas"]))
workers = []
for d in yaml.safe_load(open("workers.yaml"))["worker"]["nodePools"]:
	s = d["spotFleet"]["launchSpecifications"][0]
	workers.append((s["instanceType"], d["subnets"][0]["name"], d["spotFleet"]["targetCapacity"] // s["weightedCapacity"]))
assert plan == sorted(fleets) == sorted(pools) == sorted(workers), (plan, fleets, pools, workers)
X

# Tiers, and offers that fall together.
expect 0 plan spot --tier web=2 --tier db=1 -a 0.99 -p pool.csv
case $out in *'the whole service is there for'*) ;; *) fail "no word of the whole: $out" ;; esac
expect 0 plan spot --tier web=1 --tier db=1 -a 0.99 -p pool.csv --format json
printf '%s\n' "$out" | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["schema"] == "farthing.plan.spot.tiers/1" and [t["name"] for t in d["tiers"]] == ["web", "db"]
# Both stand on the same two kinds: they fall together.
assert abs(d["availability"] - 0.99) < 1e-12 and abs(d["availability_independent"] - 0.99 ** 2) < 1e-12
assert abs(d["availability_lowest_tier"] - 0.99) < 1e-12 and abs(d["tier_target_if_independent"] ** 2 - 0.99) < 1e-12' ||
	fail "tiers: $out"
# On demand is one more kind, which does not fall.
expect 0 plan spot --quiet --tier web=1 --tier db=1 -a 0.999 -p pool.csv --format json
case $out in *'"availability": 1,'*) ;; *) fail "tiers on demand: $out" ;; esac
# A matrix, and states measured jointly: with a correlation of 1/2 both are down for 5.5 %, not 1 %.
printf ',a,b\na,1,0.5\nb,0.5,1\n' >joint.csv
printf 'Weight,a,b\n855,1,1\n45,1,0\n45,0,1\n55,0,0\n' >states.csv
for joint in joint.csv states.csv; do
	expect 0 plan spot -c 1 -a 0.92 -p pool.csv --joint $joint --format json
	printf '%s\n' "$out" | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["met"] and abs(d["availability"] - 0.945) < 1e-9 and len(d["pool"]) == 2, d' || fail "$joint: $out"
	expect 0 plan spot -c 1 -a 0.99 -p pool.csv --joint $joint --format json # on demand: both together are not enough
	case $out in *'"market": "on-demand"'*) ;; *) fail "$joint: $out" ;; esac
done
# Failures take their share off every availability; memory is the pool's as a whole.
expect 0 plan spot -c 1 -a 0.98 -p pool.csv --failure 0.01 --format json
printf '%s\n' "$out" | python3 -c 'import json, sys
assert abs(json.load(sys.stdin)["availability"] - (1 - (1 - 0.9 * 0.99) ** 2)) < 1e-12' || fail "failures: $out"
printf '%s\n' "$head,MemoryMiB" '1,0.02,0.5,a,0.9,1024' '1,0.03,0.5,b,0.9,8192' >memory.csv
expect 0 plan spot -c 1 -a 0.8 -p memory.csv --memory 8GiB --format json
case $out in *'"type": "b"'*) ;; *) fail "memory: $out" ;; esac
expect 0 plan spot -c 1 -a 0.8 -p memory.csv --format json
case $out in *'"type": "b"'*) fail "memory: $out" ;; *'"type": "a"'*) ;; esac
# Two files are two zones; the same type in another zone is another kind.
printf '%s\n' "$head" '1,0.02,0,a,0.9' >record-us-east-1a.csv
printf '%s\n' "$head" '1,0.03,0,a,0.9' >record-us-east-1b.csv
expect 0 plan spot -c 1 -a 0.99 -p record-us-east-1a.csv -p record-us-east-1b.csv --format json
case $out in *'"zone": "us-east-1a"'*'"zone": "us-east-1b"'*) ;; *) fail "zones: $out" ;; esac

# Bad input names what is wrong, and where.
bad()
{
	words=$1
	shift
	expect 2 "$@"
	complains "$words"
}
row()
{
	printf '%s\n' "$head" "$@" >bad.csv
}
row '1,0.1,1,a,1' && bad bad.csv:2 plan spot -c 1 -a 0.9 -p bad.csv
row '1,0.1,1,a,0.5' '1,0.1,1,b,0' && bad bad.csv:3 plan spot -c 1 -a 0.9 -p bad.csv
row '1,0.1,1,a,nan' && bad bad.csv:2 plan spot -c 1 -a 0.9 -p bad.csv
row '1,0.1,1,a,0.5' '1,0.1,1,a,0.5' && bad 'bad.csv:3: a is there twice' plan spot -c 1 -a 0.9 -p bad.csv
row && bad 'no rows' plan spot -c 1 -a 0.9 -p bad.csv
row '1,0.1,0,a,0.5' && bad 'best reachable is 0.5, with every kind holding the whole capacity, for $0.1000/h' plan spot -c 1 -a 0.9 -p bad.csv
bad 'tier web: no pool' plan spot --tier web=1 -a 0.9 -p bad.csv
expect 0 plan spot -c 1 -a 0.9 -p bad.csv --policy tr --format json
complains 'best reachable with these offers is 0.5, with every kind holding the whole capacity, for $0.1000/h'
row '1,0.1,1,a,0.5' '1,nan,1,b,0.5' && bad bad.csv:3 plan spot -c 1 -a 0.9 -p bad.csv
row '1,0.1,nan,a,0.5' && bad bad.csv:2 plan spot -c 1 -a 0.9 -p bad.csv
row 'nan,0.1,1,a,0.5' && bad bad.csv:2 plan spot -c 1 -a 0.9 -p bad.csv
row '1,0.1,1,a,1.5' && bad bad.csv:2 plan spot -c 1 -a 0.9 -p bad.csv
row '0,0.1,1,a,0.5' && bad bad.csv:2 plan spot -c 1 -a 0.9 -p bad.csv
: >empty.csv && bad empty.csv plan spot -c 1 -a 0.9 -p empty.csv
bad --tier plan spot --tier web=1 -a 0.9 -p pool.csv --format karpenter
for share in 0 1 1.5 nan; do bad --availability plan spot -c 1 -a $share -p pool.csv; done
for units in 0 -1 nan 2000000; do bad --capacity plan spot --capacity=$units -a 0.9 -p pool.csv; done
bad --pool plan spot -c 1 -a 0.9

# The greatest capacity, with the table of all policies; and twelve kinds with a little of everything in common, of which some are up too
# often for it: that is said.
expect 0 plan spot -c 1000000 -a 0.999 -p zones.csv
python3 - <<'X'
n = 12
names = ["t%d" % i for i in range(n)]
with open("many.csv", "w") as f:
    f.write("ECU,AvgSpotPrice,OnDemandPrice,VM,Availability\n")
    for i in range(n):
        f.write("%d,%g,3,%s,%g\n" % (2 + i % 3, 0.2 + 0.02 * i, names[i], 0.9 if i % 2 else 0.9999))
for name, low in ("little.csv", 0.002), ("much.csv", 0.1):
    with open(name, "w") as f:
        f.write("," + ",".join(names) + "\n")
        for i in range(n):
            f.write(names[i] + "," + ",".join("1" if i == k else "0.1" if i % 2 and k % 2 else str(low) for k in range(n)) + "\n")
X
expect 0 plan spot -c 20 -a 0.999 -p many.csv --joint little.csv
case $err in *'come near this matrix'*) fail "a matrix that fits: $err" ;; esac
expect 0 plan spot -c 20 -a 0.999 -p many.csv --joint much.csv
complains 'come near this matrix, not to it'

# A market's history becomes a table, and plans of the past are tried on the future.
cat >catalog.txt <<'X'
farthing-catalog 1
type m holds=cpu:2,mem:8GiB
offer m price=0.2
X
printf 'epoch,az,instance_type,price\n0,x,m,0.05\n1000,x,m,0.5\n1100,x,m,0.05\n0,y,m,0.1\n4000,y,m,0.1\n' >prices.csv
expect 0 market summarize --market prices.csv --catalog catalog.txt --states states.csv --correlations corr.csv --out table.csv
expect 0 plan spot -c 4 -a 0.99 -p table.csv --joint states.csv --format json
expect 0 plan spot -c 4 -a 0.99 -p table.csv --joint corr.csv --format json
expect 0 market check --market prices.csv --catalog catalog.txt --capacity 2 -a 0.9 --window 500s
bad --market market summarize --catalog catalog.txt
# Services alone, to a horizon: they are there until then, nothing is unfinished, and a second one lets the pool grow from what is held instead
# of paying for one of another shape beside it (which would be $10.54).
python3 - <<'X'
types = [(5, 0.0523, 5), (3, 0.0262, 1), (4, 0.04, 20), (2, 0.0187, 20), (9, 0.0735, 10)]
with open("services.fc", "w") as f:
    f.write("farthing-catalog 1\n")
    for i, (cpus, price, away) in enumerate(types):
        f.write("type t%d holds=cpu:%d,mem:64GiB acquire=20s setup=60s terminate=1s\n" % (i, cpus))
        f.write("offer t%d price=%g\noffer t%d market=spot price=%g unavailable=%d\n" % (i, cpus * 0.05, i, price, away * 1000000))
X
printf '%s\n' 'farthing-workload 1' 'kind web class=web any=cpu:1' 'job one submit=0s kind=service tasks=20xweb:never' \
	'job two submit=3600s kind=service tasks=6xweb:never' >services.fw
expect 0 sim --workload services.fw --catalog services.fc --policy tr:batch=none,availability=0.9999 --sim horizon=1d --format json
printf '%s\n' "$out" | python3 -c 'import json, sys
r = json.load(sys.stdin)["run"]
assert r["jobs_unfinished"] == 0 and r["cost_usd"] < 10 and r["tasks_per_instance"] > 1, r
assert [s["availability"] for s in r["services"]] == [1, 1], r["services"]' || fail "services to a horizon: $out"
expect 0 compare --workload services.fw --catalog services.fc --policy tr:batch=none --policy on-demand --sim horizon=1d
case $out in *'did not end'*) fail "a service that lasts is called unfinished: $out" ;; esac
finish
