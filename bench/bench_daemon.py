#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""farthingd at scale: 10,000 pending jobs from a recorded list, up to 1,000 nodes. How long a decision takes, how long the loop was ever away, what the keeper needs.

    bench_daemon.py [JOBS [NODES [POLICY...]]]
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live"))
from live import *

jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
nodes = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
policies = sys.argv[3:] or ["no-packing:round=1s", "stratus:round=1s", "eva:round=1s"]
fake = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live", "fake_driver.py")


def metric(text, name):
    return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.M).group(1))


def measure(policy):
    c = Cluster(policy=policy, limits=f"{{max_instances: {nodes}}}")
    try:
        text = open(c.config).read()
        text = re.sub(r"workload:\n  driver: process\n  poll: 500ms\n  config: .*", f"workload:\n  driver: {fake}\n  config: {{jobs: {jobs}, run: 20}}", text)
        text = re.sub(r"capacity:\n  driver: local\n  poll: 500ms\n  config: .*", f"capacity:\n  driver: {fake}\n  config: {{}}", text)
        text = text.replace("cpu:8,mem:16GiB", "cpu:16,mem:32GiB")
        with open(c.config, "w") as f:
            f.write(text + "log: {level: warn}\n")
        began = time.time()
        c.start()
        c.until(lambda: c.get("/v1/status")["jobs_submitted"] >= jobs, 120, "all jobs are let in")
        let_in = time.time() - began
        slowest = 0
        end = time.time() + 25
        most = 0
        while time.time() < end:
            t = time.time()
            s = c.get("/v1/status")
            slowest = max(slowest, time.time() - t)
            most = max(most, s["instances"])
            time.sleep(0.1)
        text = c.get("/metrics")
        rounds = metric(text, "farthing_decision_seconds_count")
        with open(f"/proc/{c.daemon.pid}/stat") as f:
            ticks = f.read().rsplit(")", 1)[1].split()
        cpu = (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")
        result = (metric(text, "farthing_decision_seconds_max"), metric(text, "farthing_loop_lag_seconds_max"))
        print(f"{policy:22} {jobs} jobs let in within {let_in:5.2f} s; {rounds:4.0f} rounds, mean {metric(text, 'farthing_decision_seconds_sum') / rounds * 1000:7.1f} ms, "
              f"longest {result[0] * 1000:7.1f} ms; loop away at most {result[1] * 1000:6.1f} ms; API at most {slowest * 1000:6.1f} ms; commit at most "
              f"{metric(text, 'farthing_commit_seconds_max') * 1000:6.1f} ms; {most} instances at once; {s['jobs_done']} jobs done; {cpu:.1f} s of CPU", flush=True)
        c.stop()
        return result
    finally:
        c.close()


bad = False
for p in policies:
    decide, lag = measure(p)
    bad |= decide >= 1 or lag >= 0.1
if bad:
    print("FAIL: a decision takes a second or more, or the loop was away for a tenth of one")
    sys.exit(1)
