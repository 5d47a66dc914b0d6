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
printf '10 2 5 5\n' >"$tmp/bad.tr"
expect 2 compare --workload "$tmp/bad.tr" --workers 10 --workload-format hawk-tr -p eagle
complains "bad.tr:1: 2 tasks are announced, and 1 durations follow"
finish
