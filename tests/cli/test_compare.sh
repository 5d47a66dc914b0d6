#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare and sim: the fixed keys of the JSON, the other formats, the same result whatever runs at once.
. "$SOURCE/tests/cli/common.sh"
small

expect 0 compare -w "$tmp/small.fw" --format json
quiet
python3 - "$tmp/out" <<'PY' || fail "the JSON of compare is not as documented"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "farthing.compare/1", d["schema"]
assert d["workload"]["jobs"] == 40, d["workload"]
assert len(d["runs"]) >= 1
keys = """policy params cost_usd jobs jct_mean_s jct_p50_s jct_p95_s wait_mean_s idle_mean_s instances_launched migrations
    tasks_per_instance alloc norm_throughput rejected_actions waste_usd wall_s peak_rss_mb""".split()
for r in d["runs"]:
    missing = [k for k in keys if k not in r]
    assert not missing, missing
    assert isinstance(r["params"], dict)
    assert set(r["alloc"]) >= {"gpu", "cpu", "mem"}
    assert set(r["waste_usd"]) >= {"boot", "idle", "fragmentation", "rounding"}
    assert r["jobs"] == 40 and r["cost_usd"] > 0 and r["peak_rss_mb"] > 0 and r["wall_s"] >= 0
    assert r["rejected_actions"] == 0, r["policy"]
assert [r["policy"] for r in d["runs"]].count("no-packing") == 1
PY

# All policies of the list, in its order.
"$FARTHING" policies --format json >"$tmp/policies.json"
python3 - "$tmp/out" "$tmp/policies.json" <<'PY' || fail "compare does not run every listed policy"
import json, sys
runs = [r["policy"] for r in json.load(open(sys.argv[1]))["runs"]]
listed = [p["name"] for p in json.load(open(sys.argv[2]))["policies"] if not p["yardstick"] and not p["workers"] and not p["containers"]]
assert runs == listed, (runs, listed)
PY

# The order asked for, and the same figures whatever runs at a time.
strip()
{
	python3 -c '
import json, sys
d = json.load(sys.stdin)
for r in d["runs"]:
    for k in [k for k in r if k.endswith("wall_s") or k.startswith("decide") or k == "peak_rss_mb"]:
        del r[k]
d.pop("command", None)
json.dump(d, sys.stdout)'
}
for jobs in 1 4; do
	expect 0 compare -w "$tmp/small.fw" -p synergy -p no-packing -p synergy:round=600s --format json --jobs $jobs
	strip <"$tmp/out" >"$tmp/jobs-$jobs" || fail "not JSON"
done
cmp "$tmp/jobs-1" "$tmp/jobs-4" || fail "the result depends on --jobs"
python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))["runs"]
assert [x["policy"] for x in r] == ["synergy", "no-packing", "synergy"]' "$tmp/jobs-1" || fail "not in the order asked for"

# Who else is in the table changes nothing: containers are offered to those that buy them only.
cat >"$tmp/tiny.fc" <<'FC'
farthing-catalog 1
type big family=c holds=cpu:64,mem:64GiB
offer big price=5
FC
cat >"$tmp/tiny.fw" <<'FW'
farthing-workload 1
kind K0 any=cpu:0.25,mem:1GiB
job a submit=0s tasks=3xK0:3600s
FW
expect 0 compare -w "$tmp/tiny.fw" -c "$tmp/tiny.fc" -p no-packing -p stratus --format json
cp "$tmp/out" "$tmp/alone"
expect 0 compare -w "$tmp/tiny.fw" -c "$tmp/tiny.fc" -p no-packing -p stratus -p fargate --format json
python3 -c '
import json, sys
a, b = ([(r["policy"], r["cost_usd"]) for r in json.load(open(p))["runs"]] for p in sys.argv[1:])
assert a == b[:2], (a, b)
assert b[2][1] < b[1][1]' "$tmp/alone" "$tmp/out" || fail "fargate in the table changes what the others cost"

expect 0 compare -w "$tmp/small.fw" -p no-packing
says "no-packing"
says '$'
case $out in *"$(printf '\033')"*) fail "colours though it is no terminal" ;; esac
expect 0 compare -w "$tmp/small.fw" -p no-packing --color always
case $out in *"$(printf '\033')"*) ;; *) fail "no colours though asked for" ;; esac
expect 0 compare -w "$tmp/small.fw" -p no-packing --format csv
says "policy"
says "cost_usd"
[ "$(wc -l <"$tmp/out")" -eq 2 ] || fail "CSV of one run has not two lines"
expect 0 compare -w "$tmp/small.fw" -p no-packing --format html
says "<!DOCTYPE html>"
says "<svg"
says "</html>"

expect 0 sim -w "$tmp/small.fw" -p no-packing
says "no-packing"
expect 0 sim -w "$tmp/small.fw" -p no-packing --format json
says '"farthing.sim/1"'
# The world may be made worse.
expect 0 sim -w "$tmp/small.fw" -p no-packing --sim launch_failure=0.2 --seed 3 --format json
expect 3 sim -w "$tmp/small.fw" -p no-packing --sim horizon=60s --format json
says '"jobs_unfinished"'
complains "no-packing"

# Without a workload: the bundled sample.
expect 0 compare -p no-packing --format json
python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["workload"]["jobs"] > 100' "$tmp/out" || fail "the bundled sample is not what it should be"
finish
