#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An operator's day: reload, pause, drain, limits, dry run, a second daemon, a journal that is damaged, commands of the command line."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
from live import *

c = Cluster(capacity="{boot: 100ms, terminate: 50ms}")


def farthing(*args, code=0):
    r = subprocess.run([FARTHING, *args], capture_output=True, text=True, env={**os.environ, "FARTHING_SOCKET": c.socket}, timeout=60 * SLOW)
    check(r.returncode == code, f"farthing {args}: exit code {r.returncode}, not {code}: {r.stdout} {r.stderr}")
    return r.stdout


def edit(old, new):
    text = open(c.config).read()
    check(old in text, f"{old} is in the configuration")
    with open(c.config, "w") as f:
        f.write(text.replace(old, new))


def reload(words):
    before = open(c.log).read().count(words)
    c.daemon.send_signal(signal.SIGHUP)
    c.until(lambda: open(c.log).read().count(words) > before, 10, words)


try:
    # Dry run: nothing is touched, and said what would be done.
    r = subprocess.run([FARTHINGD, "--config", c.config, "--dry-run"], capture_output=True, text=True, timeout=30 * SLOW)
    check(r.returncode == 0 and "nothing to do" in r.stdout, f"a dry run of an empty cluster: {r.stdout} {r.stderr}")
    check(not os.path.exists(c.state), "it has made nothing")
    c.start()
    farthing("pause")
    job = farthing("submit", "--name", "a", "sleep 0.5").strip()
    time.sleep(1.5)
    check(not c.instances() and c.get("/v1/status")["state"] == "paused", "paused: nothing is rented")
    c.kill()
    before = {p: os.stat(os.path.join(d, p)).st_mtime_ns for d, _, files in os.walk(c.state) for p in files}
    r = subprocess.run([FARTHINGD, "--config", c.config, "--dry-run"], capture_output=True, text=True, timeout=30 * SLOW)
    check(r.returncode == 0 and "paused" in r.stdout and "would" not in r.stdout, f"a dry run while paused: {r.stdout} {r.stderr}")
    for policy in ("stratus", "eva", "no-packing", "no-packing:round=1s"):
        with open(c.config + ".dry", "w") as f:
            f.write(open(c.config).read().replace("policy: stratus:round=1s", f"policy: {policy}").replace(c.state, c.state + "-dry"))
        shutil.copytree(os.path.join(c.state, "workload"), os.path.join(c.state + "-dry", "workload"))
        r = subprocess.run([FARTHINGD, "--config", c.config + ".dry", "--dry-run"], capture_output=True, text=True, timeout=60 * SLOW)
        check(r.returncode == 0 and "would launch" in r.stdout and f"would place a task of {job}" in r.stdout, f"a job waits, {policy}: {r.stdout} {r.stderr}")
        shutil.rmtree(c.state + "-dry")
    after = {p: os.stat(os.path.join(d, p)).st_mtime_ns for d, _, files in os.walk(c.state) for p in files}
    check(before == after, f"it changed something: {set(before.items()) ^ set(after.items())}")
    c.start()
    check(c.get("/v1/status")["state"] == "paused", "a pause holds over a restart")
    r = subprocess.run([FARTHINGD, "--config", c.config], capture_output=True, text=True, timeout=30 * SLOW)
    check(r.returncode == 1 and "another farthingd" in r.stderr, f"a second one is refused: {r.returncode} {r.stderr}")
    farthing("resume")
    c.settled(1, 20)
    check(farthing("submit", "--wait", "--", "sh", "-c", "exit 0").strip(), "a key")
    farthing("submit", "--wait", "exit 7", code=7)
    text = farthing("jobs")
    check(job in text and "failed" in text, f"a table: {text}")
    json.loads(farthing("jobs", "--format", "json"))
    check("launch" in farthing("explain", "i0") and "about" in json.loads(farthing("explain", job, "--format", "json")), "explained")
    check(job in farthing("bill", "--by", "jobs") and "BOOT" in farthing("bill", "--by", "instances"), "the bill")
    farthing("explain", "nosuch", code=2)
    farthing("cancel", "nosuch", code=2)
    farthing("drain", code=2)
    farthing("submit", code=2)

    # Every field is in docs/formats.md.
    known = set(re.findall(r"`([a-z0-9_]+)`", open(os.path.join(os.environ["SOURCE"], "docs/formats.md")).read()))

    def fields(v):
        if isinstance(v, dict):
            return set(v).union(*(fields(x) for x in v.values()))
        return set().union(*(fields(x) for x in v)) if isinstance(v, list) else set()
    farthing("submit", "sleep 2")
    c.until(lambda: c.instances(), 20, "an instance is there")
    for p in ("jobs", "instances", "bill", "status", f"jobs/{job}", f"explain/{job}", "../healthz"):
        got = fields(c.get(os.path.normpath("/v1/" + p)))
        check(got <= known, f"docs/formats.md does not name {got - known} of {p}")
    c.settled(4, 20)

    # Reload: prices, policy and limits change; what is wrong is refused, and the old holds.
    edit("offer small price=0.36", "offer small price=0.72")
    reload("price changes")
    edit("policy: stratus:round=1s", "policy: no-packing:round=1s")
    reload("policy changes")
    check(c.get("/v1/status")["policy"] == "no-packing:round=1s", "another policy decides")
    edit("policy: no-packing:round=1s", "policy: nonsense")
    reload("reload failed")
    check(c.get("/v1/status")["policy"] == "no-packing:round=1s", "the old one holds")
    edit("policy: nonsense", "policy: no-packing:round=1s")
    edit("limits: {max_instances: 16}", "limits: {max_instances: 16, usd_per_hour: 0.80}")
    reload("limits change")
    jobs = [c.submit("sleep 0.7", name="limited") for _ in range(3)]
    c.until(lambda: c.get("/v1/status")["running"] == 1, 20, "one runs")
    check(len([i for i in c.instances() if i["state"] != "terminating"]) == 1, "not more than the dollars an hour allow")
    check('farthing_actions_rejected_total{reason="hourly-budget"} 0' not in c.get("/metrics"), "refused by the budget")
    c.settled(7, 40)
    edit(", usd_per_hour: 0.80", "")
    reload("limits change")

    edit("retry: {first: 100ms", "retry: {first: 200ms")
    reload("changes with a new start only")
    # Drain one, then all.
    long = c.submit("sleep 2", name="long")
    c.until(lambda: any(j["job"] == long and j["state"] == "running" for j in c.jobs()), 20, "it runs")
    i = next(i["instance"] for i in c.instances() if i["tasks"])
    farthing("drain", i)
    check(next(x["state"] for x in c.instances() if x["instance"] == i) == "draining", "it drains")
    farthing("drain", "--all")
    c.settled(8, 20)
    c.drained(20)
    check(c.get("/v1/status")["state"] == "paused", "and nothing new is rented")
    farthing("resume")
    c.stop()
    c.replay()
    # New prices are followed after a restart too; another catalog is not.
    edit("offer small price=0.72", "offer small price=0.50")
    c.start()
    c.until(lambda: open(c.log).read().count("price changes") >= 2, 10, "the price changes")
    c.stop()
    c.replay()
    edit("type small family=general holds=cpu:2", "type small family=general holds=cpu:3")
    r = subprocess.run([FARTHINGD, "--config", c.config], capture_output=True, text=True, timeout=30 * SLOW)
    check(r.returncode == 1 and "another catalog" in r.stderr, f"another catalog: {r.returncode} {r.stderr}")
    edit("type small family=general holds=cpu:3", "type small family=general holds=cpu:2")

    # A damaged journal is reported and left as it is.
    journal = os.path.join(c.state, "journal.db")
    good = open(journal, "rb").read()
    at = good.find(b"instance-ready")
    check(at > 0, "there is something to damage")
    with open(journal, "r+b") as f:
        f.seek(at)
        f.write(b"instance-redry")
    bad = open(journal, "rb").read()
    r = subprocess.run([FARTHINGD, "--config", c.config], capture_output=True, text=True, timeout=30 * SLOW)
    check(r.returncode == 1 and "journal" in r.stderr, f"a damaged journal: {r.returncode} {r.stderr}")
    check(open(journal, "rb").read() == bad, "it is left as it is")
    with open(journal, "wb") as f:
        f.write(good)
    c.start()
    c.stop()
    print("ok")
finally:
    c.close()
