#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""farthingd drives a real Slurm: the cluster grows and empties, every job completes once, the bill is the machines' uptime at their prices.

  test_cluster.py calm            60 jobs, arrays, dependencies and wide ones among them, under stratus
  test_cluster.py policies        a few jobs each under no-packing, eva, sec and farthing, one journal each
  test_cluster.py faults [KILLS]  the same with farthingd killed KILLS times (5), slurmctld restarted, a slurmd killed, launches that fail,
                                  machines that are taken away
"""
import math
import os
import random
import signal
import sys
import time

from rig import Rig, skip_unless_possible

skip_unless_possible()
PRICES = {"node.small": 0.36, "node.large": 0.72}


def check(what, is_so):
    if not is_so:
        raise SystemExit("not so: " + what)


def submit_mix(rig, n):
    """n jobs in all; returns the names of the marks they will leave."""
    expected = set()
    rig.submit("array", 1, "-a", "0-9", "-n1", "--mem=200")
    expected |= {"array.%d" % k for k in range(10)}
    first = rig.submit("first", 1, "-n2", "--mem=500")
    rig.submit("second", 1, "-n1", "--mem=200", "-d", "afterok:" + first)
    rig.submit("wide", 1, "-N2", "-n2", "--mem=500")
    expected |= {"first.0", "second.0", "wide.0"}
    for k in range(n - 13):
        rig.submit(k, 1 + k % 3, "-n%d" % (1 + k % 2), "--mem=%d" % (200 + 100 * (k % 4)))
        expected.add("%d.0" % k)
    return expected


def wait_done(rig, expected, seconds, between=lambda: None):
    def all_there():
        between()
        return set(rig.marks()) == expected
    rig.wait("%d jobs to end" % len(expected), all_there, seconds)


def check_end(rig, expected, once=True):
    rig.wait("an empty cluster", lambda: not rig.ask("instances")["instances"], 90)
    rig.wait("no slurmd", lambda: not [p for p in rig.leftovers() if b"slurmd" in open("/proc/%d/cmdline" % p, "rb").read()], 30)
    if once:
        check("every job completed once", rig.marks() == {name: 1 for name in expected})
    bill = rig.ask("bill")
    parts = sum(i["total"] for i in bill["instances"])
    check("the bill is the sum of its instances", abs(parts - bill["total"]) < 1e-7)
    for i in bill["instances"]:
        up = math.ceil((i["gone"] - i["acquired"]) / 1e6) / 3600 * PRICES[i["offer"]]  # billed by whole seconds
        check("uptime at its price: %s" % i, abs(up - i["total"]) < 1e-8)
    return bill


def check_replay(rig):
    rig.end("farthingd")
    out = rig.farthing("replay", rig.path("daemon", "journal.db")).stdout
    check("the journal replays: " + out, out.startswith("The same"))


def calm(rig):
    rig.configure("stratus:round=1s")
    rig.start_farthingd()
    expected = submit_mix(rig, 60)
    wait_done(rig, expected, 240)
    bill = check_end(rig, expected)
    print("calm: %d jobs, %d instances, %.4f $" % (len(expected), len(bill["instances"]), bill["total"]))
    check_replay(rig)


def policies(rig):
    for policy in ["no-packing:round=1s", "eva:round=1s", "sec"]:
        rig.configure(policy)
        rig.start_farthingd()
        expected = {"%s%d.0" % (policy[:3], k) for k in range(6)}
        for k in range(6):
            rig.submit("%s%d" % (policy[:3], k), 1, "-n1", "--mem=300", "--time=2")
        wait_done(rig, expected | set(rig.before), 60)
        rig.wait("an empty cluster", lambda: not rig.ask("instances")["instances"], 120)
        rig.before = rig.marks()
        check("every job completed once under " + policy, set(rig.before.values()) == {1})
        check_replay(rig)
        print("policies: " + policy)
        for name in os.listdir(rig.path("daemon")):
            if name.startswith("journal"):
                os.rename(rig.path("daemon", name), rig.path("daemon", policy[:3] + name))


def faults(rig, kills):
    rig.configure("stratus:round=1s", faults="    fail_share: 20%\n    revoke_share: 20%\n    revoke_after: 15s\n    notice: 2s\n")
    rig.start_farthingd()
    rng = random.Random(7)
    expected = submit_mix(rig, 40)
    state = {"kills": 0, "next": time.monotonic() + 3, "controller": False, "node": False}

    def strike():
        if time.monotonic() < state["next"]:
            return
        state["next"] = time.monotonic() + rng.uniform(0.5, 4)
        if state["kills"] < kills:
            rig.end("farthingd", signal.SIGKILL)
            state["kills"] += 1
            rig.start_farthingd()
        elif not state["controller"]:
            rig.end("slurmctld")
            state["controller"] = True
            rig.start_slurmctld()
            # A job whose launch the controller had not sent when it died is missing on its node, which is found when the node
            # registers: by itself after some minutes, at once after this.
            time.sleep(12)
            rig.run("scontrol", "reconfigure")
        elif not state["node"]:
            slurmds = [p for p in rig.leftovers() if b"slurmd\0" in open("/proc/%d/cmdline" % p, "rb").read()]
            if slurmds:
                os.kill(rng.choice(slurmds), signal.SIGKILL)
                state["node"] = True

    wait_done(rig, expected, 420 + 5 * kills, strike)
    while state["kills"] < kills:
        strike()
        time.sleep(0.2)
    # What was lost with its machine ran again, so a job may have left its mark only once all the same: it ends well once.
    bill = check_end(rig, expected)
    print("faults: %d kills, %d instances, %.4f $, %.4f $ of it lost work" %
          (kills, len(bill["instances"]), bill["total"], bill["lost"]))
    check_replay(rig)


what = sys.argv[1] if len(sys.argv) > 1 else "calm"
rig = Rig(os.environ["BUILD"], os.environ["SOURCE"])
rig.before = {}
try:
    rig.start_slurm()
    if what == "faults":
        faults(rig, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
    else:
        {"calm": calm, "policies": policies}[what](rig)
except BaseException:
    rig.show()
    raise
finally:
    rig.close()
