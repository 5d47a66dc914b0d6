#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A key is one job's for good: keys we choose step over those given, one that was used is refused, and no job that was let in is lost."""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from live import *

c = Cluster(capacity="{boot: 100ms, terminate: 50ms}")
out = os.path.join(c.dir, "out")


def refused(status, **spec):
    try:
        c.submit("true", **spec)
    except Refused as e:
        check(e.status == status, f"{spec}: {e}")
        return
    fail(f"{spec} is taken")


try:
    c.start()
    check(c.submit(f"echo given >>{out}", key="job-2") == "job-2", "a key of one's own")
    c.settled(1, 20)
    keys = [c.submit(f"echo {n} >>{out}") for n in "ABC"]
    check(len(set(keys)) == 3 and "job-2" not in keys, f"keys we choose are free: {keys}")
    c.settled(4, 30)
    ran_once(out, ["given", "A", "B", "C"])
    refused(409, key="job-2")
    refused(409, key=keys[0])
    same = {"command": "sleep 3", "key": "twice"}
    check(c.post("/v1/jobs", same) == c.post("/v1/jobs", same), "the same again is the same job")
    refused(400, key="twice")
    c.kill()
    c.start()
    refused(409, key="job-2")
    check(c.submit(f"echo D >>{out}") not in keys + ["job-2"], "after a restart too")
    c.settled(6, 30)
    # What a driver lets in by itself under a spent key is another job, and runs.
    c.stop()
    folder = os.path.join(c.state, "workload", "jobs", "job-2")
    check(not os.path.exists(folder), "the driver has forgotten it")
    os.makedirs(folder)
    with open(os.path.join(folder, "job.json"), "w") as f:
        json.dump({"key": "job-2", "submitted": time.time_ns() // 1000, "spec": {"command": f"echo E >>{out}", "user": "root", "tasks": [{"count": 1, "demand": "cpu:1"}]}}, f)
    c.start()
    c.settled(7, 30)
    ran_once(out, ["given", "A", "B", "C", "D", "E"])
    c.stop()
    c.replay()
    print("ok")
finally:
    c.close()
