#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drivers that hang, whose world is away, or that list what is not ours: seen, told, and outlived."""
import os
import re
import sys
import threading

sys.path.insert(0, os.path.dirname(__file__))
from live import *

fake = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_driver.py")


def driver_pid(c, name):
    return next(pid for pid in (int(p) for p in os.listdir("/proc") if p.isdigit())
                if os.path.basename(open(f"/proc/{pid}/cmdline").read().split("\0")[0]) == name and
                int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1]) == c.daemon.pid)


def well(c):
    try:
        return c.get("/healthz")["ok"]
    except Refused as e:
        check(e.status == 503, f"{e}")
        return False


def hung():
    c = Cluster(capacity="{boot: 100ms, terminate: 50ms}")
    try:
        text = open(c.config).read().replace("  driver: process\n", f"  driver: process\n  answer_limit: {4 * SLOW}s\n")
        open(c.config, "w").write(text)
        c.start()
        pid = driver_pid(c, "farthing-driver-process")
        os.kill(pid, signal.SIGSTOP)
        c.until(lambda: not well(c), 4, "a driver that hangs is not well")
        # Who gives up leaves no room for more.
        big = {"command": "true", "env": {"A": "x" * 100000}}
        answers = []

        def submit():
            try:
                c.ask("POST", "/v1/jobs", big, timeout=0.5)
            except Refused as e:
                answers.append(e.status)
            except OSError:
                pass
        for _ in range(4):
            threads = [threading.Thread(target=submit) for _ in range(24)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            if 503 in answers:
                break
        check(503 in answers, f"not more is put into its queue than it may have: {answers}")
        c.until(lambda: "does not answer" in open(c.log).read(), 10, "told")
        c.until(lambda: well(c), 20, "it is started again")
        check(driver_pid(c, "farthing-driver-process") != pid, "another one")
        c.submit("true", key="after")
        c.until(lambda: any(j["job"] == "after" and j["state"] == "done" for j in c.jobs()), 60, "and works")
        c.stop()
    finally:
        c.close()


def away():
    c = Cluster(policy="no-packing:round=1s", capacity="{boot: 100ms, terminate: 50ms}")
    try:
        there = os.path.join(c.dir, "away")
        open(there, "w").close()
        text = open(c.config).read()
        text = re.sub(r"  driver: process\n  poll: 500ms\n  config: .*", f"  driver: {fake}\n  config: {{jobs: 1, run: 1, away: {there}}}", text)
        open(c.config, "w").write(text)
        c.start(wait=False)
        c.until(lambda: open(c.log).read().count("its manager is away") >= 2, 20, "it is tried again")
        check(not well(c), "and is not well meanwhile")
        os.unlink(there)
        c.settled(1, 60)
        c.stop()
    finally:
        c.close()


def strangers():
    c = Cluster(capacity="{}")
    try:
        script = os.path.join(c.dir, "cloud")
        with open(script, "w") as f:
            f.write(f'#!/bin/sh\ncat >/dev/null\necho "$1" >>{c.dir}/calls\n'
                    'test "$1" != list || echo \'{"instances": [{"token": "other-production-db", "state": "ready"}, {"token": "t-x-1-i0-1", "state": "ready"}, '
                    '{"token": "t-5f-i0-1", "state": "ready"}]}\'\n')
        os.chmod(script, 0o755)
        text = re.sub(r"  driver: local\n  poll: 500ms\n  config: .*",
                      f"  driver: exec\n  config: {{launch: [{script}, launch], terminate: ['{script}', 'terminate'], list: ['{script}', list], list_every: 100ms}}", open(c.config).read())
        text = text.replace("[" + script, f"['{script}'")
        open(c.config, "w").write(text)
        c.start()
        c.until(lambda: open(c.log).read().count("left alone") >= 2, 20, "told")
        c.until(lambda: "terminate" in open(f"{c.dir}/calls").read(), 20, "what another journal of ours has left is let go")
        ended = re.findall(r"terminate what is not ours to keep.*token=(\S+)", open(c.log).read())
        check(set(ended) == {"t-5f-i0-1"}, f"and nothing else: {ended}")
        c.stop()
    finally:
        c.close()


def with_fake(policy, config):
    c = Cluster(policy=policy, capacity="{boot: 100ms, terminate: 50ms}")
    text = re.sub(r"  driver: process\n  poll: 500ms\n  config: .*", f"  driver: {fake}\n  config: {{{config}}}", open(c.config).read())
    open(c.config, "w").write(text.replace("first: 100ms, most: 1s", "first: 1s, most: 1h"))
    return c


def not_started():
    """What never starts where it is put is not rented for again and again."""
    c = with_fake("no-packing:round=1s", "jobs: 1, run: 1, refuse: 1000")
    try:
        c.start()
        c.until(lambda: open(c.log).read().count("put aside") >= 2, 60, "it is put aside")
        c.drained(60)
        before = open(c.log).read().count("msg=launch ")
        check(before <= 8, f"{before} machines were rented for it")
        c.stop()
        c.replay()
    finally:
        c.close()


def apart():
    """Tasks that must not share a machine do not, though it has room for all of them."""
    c = with_fake("stratus:round=1s", "jobs: 2, run: 1, wide: 2")
    try:
        c.start()
        c.settled(2, 60)
        check("twice on one machine" not in open(c.log).read(), "on one machine")
        c.stop()
        c.replay()
    finally:
        c.close()


not_started()
apart()
hung()
away()
strangers()
print("ok")
