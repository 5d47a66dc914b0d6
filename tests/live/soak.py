#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults on purpose: farthingd killed at random moments, drivers killed, launches that fail, instances taken away. Nothing is lost, nothing runs twice at a
time, nothing is orphaned, the bill is the uptime and the journal replays.

    soak.py KILLS [SEED]
"""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from live import *

kills = int(sys.argv[1]) if len(sys.argv) > 1 else 3
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
random.seed(seed)
jobs = max(24, 6 * kills)
c = Cluster(capacity=f"{{boot: 200ms, acquire: 50ms, terminate: 50ms, fail_share: 0.2, fail_why: capacity, revoke_share: 0.3, revoke_after: 3s, notice: 500ms, keep_ended: true, seed: {seed}}}",
            limits="{max_instances: 8}")


def driver_pids():
    return [p for p in (int(x) for x in os.listdir("/proc") if x.isdigit()) if ppid(p) == c.daemon.pid]


def ppid(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return int(f.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return -1


try:
    c.start()
    out = os.path.join(c.dir, "ended")
    begun = os.path.join(c.dir, "begun")
    # A task that finds itself running already says so: a lock is held for as long as one runs.
    command = (f"exec 9>{c.dir}/lock.$FARTHING_JOB; flock -n 9 || echo $FARTHING_JOB >>{out}.twice; echo $FARTHING_JOB >>{begun}; "
               f"sleep $1; echo $FARTHING_JOB >>{out}")
    keys = []
    n = 0
    killed_drivers = 0
    for k in range(kills):
        while len(keys) < jobs * (k + 1) // kills:
            key = f"s-{n}"
            n += 1
            spec = {"key": key, "command": ["/bin/sh", "-c", command, "sh", f"{random.uniform(0.1, 1.2):.2f}"], "name": "s", "tasks": [{"demand": "cpu:1,mem:256MiB"}]}
            for attempt in range(100):  # the same key again until it is taken: submitting is safe to repeat
                try:
                    c.post("/v1/jobs", spec)
                    break
                except (OSError, http.client.HTTPException, Refused) as e:
                    if isinstance(e, Refused) and e.status == 400:
                        fail(f"{key}: {e}")
                    if c.daemon.poll() is not None:
                        fail("farthingd has ended")
                    time.sleep(0.1)
            else:
                fail(f"{key} is not taken")
            keys.append(key)
        time.sleep(random.uniform(0, 1.5))
        if k % 3 == 2:
            pids = driver_pids()
            if pids:
                os.kill(random.choice(pids), signal.SIGKILL)
                killed_drivers += 1
            time.sleep(random.uniform(0, 0.3))
        c.kill()
        time.sleep(random.uniform(0, 0.4))
        c.start(wait=random.random() < 0.7)
    c.until(lambda: c.get("/healthz")["ok"], 20, "healthy")
    c.settled(len(keys), 60 + 2 * jobs)
    c.drained(60)
    bad = [(j["job"], j["state"], j["exit"]) for j in c.jobs() if j["state"] != "done"]
    check(not bad, f"jobs that did not end well: {bad}")
    ran_once(out, keys)
    check(not os.path.exists(out + ".twice"), "a job ran while it ran")
    bill = bill_is_uptime(c, 2)
    c.until(lambda: not os.listdir(f"{c.state}/capacity/instances"), 20, "the capacity driver has been told to forget all")
    c.until(lambda: not os.listdir(f"{c.state}/workload/jobs"), 20, "the workload driver has been told to forget all")
    c.stop()
    check(not c.alive(), f"nothing is left running: {c.alive()}")
    r = c.replay()
    check(abs(r["cost_usd"] - bill["total"]) < 1e-9, "the ledger of the replay is the bill")
    starts = len(open(begun).read().split())
    print(f"ok: {kills} kills of farthingd, {killed_drivers} of drivers; {len(keys)} jobs in {starts} starts on {len(bill['instances'])} instances; "
          f"${bill['total']:.6f}, of which lost {bill['lost']:.6f}; {r['events']} events replayed")
except SystemExit:
    print(f"seed {seed}")
    raise
finally:
    c.close()
