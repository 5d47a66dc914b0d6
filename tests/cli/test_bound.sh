#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bound: an instance solved by hand in every format, what it depends on, and the gap beside every bill.
. "$SOURCE/tests/cli/common.sh"
cd "$tmp" || exit 1

cat >catalog.txt <<'X'
farthing-catalog 1
type big family=f holds=cpu:4,mem:16GiB
type small family=f holds=cpu:2,mem:8GiB
offer big price=1
offer small price=0.5
X
cat >jobs.txt <<'X'
farthing-workload 1
workload name=by-hand
kind X label=three class=x any=cpu:3,mem:1GiB
kind Y label=one class=y any=cpu:1,mem:1GiB
job a submit=0s tasks=1xX:10h
job b submit=0s tasks=1xY:10h
X
cat >profile.txt <<'X'
farthing-profile 1
profile missing=1
class x
class y
row x rates=1,1
row y rates=0.5,0
X
# Alone: x 10 h on big with all of y beside it. With interference y does 5 h there and 5 h on small machines.
expect 0 bound -w jobs.txt -c catalog.txt --format json
quiet
cp out plain.json
expect 0 bound -w jobs.txt -c catalog.txt -i profile.txt --format json
cp out crowded.json
expect 0 bound -w jobs.txt -c catalog.txt --sim pair_speed=0.01 --format json
cp out apart.json
python3 - <<'PY' || fail "the bounds are not those worked out by hand"
import json
def near(a, b): return b * (1 - 1e-5) <= a <= b
plain, crowded, apart = (json.load(open(f)) for f in ("plain.json", "crowded.json", "apart.json"))
assert plain["schema"] == "farthing.bound/1" and plain["workload"] == "by-hand"
assert near(plain["bound_usd"], 10) and not plain["interference"]
assert near(crowded["bound_usd"], 12.5) and crowded["interference"]
assert near(apart["bound_usd"], 15)
for d in (plain, crowded, apart):
    assert d["certified"] and d["exact"] and d["why"] is None and d["slack_usd_per_launch"] == 0
    assert abs(sum(k["usd"] for k in d["kinds"]) - d["bound_usd"]) < 1e-4
    assert abs(sum(m["usd"] for m in d["mix"]) - d["lp_usd"]) < 1e-4
    for i, k in enumerate(d["kinds"]):
        done = sum(m["hours"] * t["copies"] * t["speed"] for m in d["mix"] for t in m["tasks"] if t["kind"] == i)
        assert done > k["work_h"] * (1 - 1e-5)
PY
expect 0 bound -w jobs.txt -c catalog.txt -i profile.txt
grep -q 'No policy can run it for less than \$12.50: proven' out || fail "the table does not say it"
grep -q '5 h  small' out || fail "the ideal mix is not shown"
expect 0 bound -w jobs.txt -c catalog.txt --format csv
[ "$(wc -l <out)" = 3 ] || fail "one row for each kind"

# None rather than a wrong one.
sed 's/row x rates=1,1/row x rates=2,1/' profile.txt >faster.txt
expect 0 bound -w jobs.txt -c catalog.txt -i faster.txt
grep -q 'No bound: some pairs' out || fail "a bound for tasks that are faster together"
expect 2 bound -w jobs.txt -c catalog.txt --format html
expect 2 bound -w missing.txt

# The gap beside every bill.
for verb in sim compare; do
	expect 0 $verb -w jobs.txt -c catalog.txt -i profile.txt -p no-packing --format json
	python3 - out <<'PY' || fail "$verb: bound and gap"
import json, sys
d = json.load(open(sys.argv[1]))
r = d["run"] if "run" in d else d["runs"][0]
assert d["bound"]["certified"] and d["bound"]["bound_usd"] == r["bound_usd"]
assert abs(r["gap"] - (r["cost_usd"] / r["bound_usd"] - 1)) < 1e-9 and r["gap"] > 0
PY
	expect 0 $verb -w jobs.txt -c catalog.txt -p no-packing --format json --no-bound
	grep -q '"bound_usd": null' out && grep -q '"gap": null' out || fail "$verb --no-bound"
	expect 0 $verb -w jobs.txt -c catalog.txt -p no-packing --format html
	grep -q 'above the proven lower bound' out || fail "$verb: the page does not say how far it is"
done
expect 0 compare -w jobs.txt -c catalog.txt -p no-packing -p eva
grep -q 'gap: above the least that any policy can cost, \$10.00 (proven)' out || fail "the table does not say the bound"
# Jobs that did not end: there is nothing to compare.
expect 3 compare -w jobs.txt -c catalog.txt -p no-packing --sim horizon=2h --format json
grep -q '"gap": null' out || fail "a gap of a run that left jobs"
finish
