#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A workload whose manager has nodes of its own (as Slurm has): names are allotted by type, nodes are told up and down, an instance is ready when its node is; jobs are held, released, put
back and cancelled behind our back."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
from live import *

fake = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_driver.py")
c = Cluster(policy="no-packing:round=1s", capacity="{boot: 100ms, terminate: 50ms}")
control = os.path.join(c.dir, "control")
text = open(c.config).read()
text = re.sub(r"  driver: process\n  poll: 500ms\n  config: .*", f"  driver: {fake}\n  config: {{jobs: 5, kinds: 1, run: 1, control: {control}, nodes: {{small: [s1, s2], large: [l1]}}}}", text)
open(c.config, "w").write(text)


def order(**what):
    with open(control + ".new", "w") as f:
        json.dump(what, f)
    os.rename(control + ".new", control)


def state(key):
    return next((j["state"] for j in reversed(c.jobs()) if j["job"] == key), None)


try:
    order(held=["j3"], cancelled=["j4"])
    c.start()
    c.until(lambda: c.instances(), 20, "machines come")
    names = set()

    def done(n):
        names.update(i["node"] for i in c.instances())
        return c.get("/v1/status")["jobs_done"] >= n
    c.until(lambda: done(3), 40, "three jobs have ended")
    check(names <= {"s1", "s2", "l1"}, f"nodes by the workload's own names: {names}")
    check(state("j3") == "held", f"a held job waits: {state('j3')}")
    check(state("j4") in (None, "cancelled"), "a cancelled one does not come")
    # Three jobs, two nodes of that type: the third waited for a name.
    check("no name left" in open(c.log).read() or len(names) <= 2, "names run out")
    # Released while nothing is decided, held again before it ran: it leaves, and comes again under another name.
    c.post("/v1/pause")
    order(waiting=["j3"])
    c.until(lambda: state("j3") == "waiting", 20, "released, it waits")
    order(held=["j3"])
    c.until(lambda: state("j3") == "held", 20, "held again")
    order(waiting=["j3"])
    c.until(lambda: state("j3~2") == "waiting", 20, "released again")
    c.post("/v1/resume")
    c.until(lambda: state("j3~2") == "done", 30, "it runs")
    # Put back into the queue after it had ended: another life.
    order(again=["j0"])
    c.until(lambda: state("j0~2") == "done", 30, "it runs again")
    # The same without a count of its own: what has run of it no longer counts as its end.
    order(requeued=["j1"])
    c.until(lambda: state("j1~2") == "done", 30, "put back, it runs again, and is not ended")
    log = open(c.log).read()
    check("node s1 up" in log and "node s1 down" in log, "the manager is told of its nodes")
    c.drained(20)
    check(len(c.replay()) > 0, "replayed")
    c.stop()
    print("ok")
finally:
    c.close()
