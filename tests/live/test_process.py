#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forty jobs as processes on instances of this machine: each completes once, the bill is the instances' uptime, the journal replays."""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from live import *

c = Cluster()
try:
    c.start()
    out = os.path.join(c.dir, "ended")
    keys = [c.submit(f"sleep 0.{n % 9 + 1}; echo $FARTHING_JOB >>{out}", name=f"job-{n}", demand=f"cpu:{n % 2 + 1},mem:512MiB") for n in range(40)]
    check(len(set(keys)) == 40, "keys are different")
    c.until(lambda: len(c.instances()) > 1, 20, "instances come")
    c.settled(40, 60)
    c.drained(30)
    ran_once(out, keys)
    jobs = {j["job"]: j for j in c.jobs()}
    check(all(jobs[k]["state"] == "done" and jobs[k]["exit"] == 0 for k in keys), "all are done with exit code 0")

    # A job that fails, one of several tasks, one that is cancelled, one that nothing holds, one whose time is over.
    bad = c.submit("exit 3", name="bad")
    three = c.submit(f"echo t$FARTHING_TASK >>{out}", name="three", count=3)
    late = c.submit("sleep 60", name="late", limit="300ms")
    c.settled(43, 30)
    jobs = {j["job"]: j for j in c.jobs()}
    check(jobs[bad]["state"] == "failed" and jobs[bad]["exit"] == 3, f"exit codes are told: {jobs[bad]}")
    check(jobs[late]["exit"] == 124, f"a time limit ends a job: {jobs[late]}")
    check(sorted(open(out).read().split()[-3:]) == ["t0", "t1", "t2"], "each task runs")
    long = c.submit("sleep 60", name="long")
    c.until(lambda: any(j["job"] == long and j["state"] == "running" for j in c.jobs()), 20, "it runs")
    c.post(f"/v1/jobs/{long}/cancel")
    c.until(lambda: any(j["job"] == long and j["state"] == "cancelled" for j in c.jobs()), 20, "it is cancelled")
    try:
        c.submit("true", demand="cpu:100")
        fail("a job that nothing holds is taken")
    except Refused as e:
        check(e.status == 400 and "holds" in e.text, f"refused for its size: {e}")

    # Known runtimes go with the submission of the next of the kind.
    again = c.submit("sleep 1", name="job-99")
    c.until(lambda: any(j["job"] == again and 0 < j["estimate_s"] < 5 for j in c.jobs()), 10, "a guess goes with it")
    c.until(lambda: c.get("/v1/status")["jobs_done"] >= 44, 20, "the last has ended")
    c.drained(30)
    bill = bill_is_uptime(c)
    check(bill["total"] > 0 and bill["used"] > 0 and bill["boot"] > 0, "it costs something")
    text = c.get("/metrics")
    for name in ("node_total_hourly_cost", "farthing_decision_seconds_count", "farthing_actions_rejected_total", "farthing_loop_lag_seconds_max"):
        check(name in text, f"{name} is in the metrics")
    words = c.get(f"/v1/explain/{keys[0]}")["text"]
    check("launch" in words or "plac" in words, f"a decision is explained: {words[:200]}")
    c.stop()
    check(not c.alive(), f"nothing is left running: {c.alive()}")
    r = c.replay()
    check(abs(r["cost_usd"] - bill["total"]) < 1e-9, f"the ledger of the replay is the bill: {r} {bill['total']}")
    print(f"ok: {len(bill['instances'])} instances, ${bill['total']:.6f}, {r['events']} events, {r['rounds']} rounds")
finally:
    c.close()
