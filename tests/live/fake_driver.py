#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A driver that speaks the protocol and has no world behind it: a recorded list of jobs, and machines that are ready as soon as they are launched. For the scale
benchmark, and for what a workload with nodes of its own does. Which role it plays is in its hello; its config: jobs, kinds, run (seconds a task runs), nodes (names by type),
wide (tasks of each job, which must not share a machine), refuse (how many starts come to nothing), away (a file: while it is there, hello fails for now), control (a file: {"held": [...], "waiting": [...], "again": [...], "cancelled": [...]}, keys of jobs)."""
import json
import os
import select
import sys
import time


def now():
    return time.time_ns() // 1000


class Fake:
    def __init__(self):
        self.mark = self.first = now()
        self.things = {}  # token or key -> (mark, listed)
        self.ends = []
        self.nodes = {}
        self.control = None
        self.hidden = {}

    def touch(self, key, thing):
        self.mark += 1
        self.things[key] = (self.mark, thing)

    def hello(self, q):
        self.role, c = q["role"], q["config"]
        if os.path.exists(c.get("away", "")):
            return {"ok": False, "error": "its manager is away", "why": "other", "retry": True}
        self.run = c.get("run", 3600)
        for n in range(c.get("jobs", 0)):
            kind = n % c.get("kinds", 20)
            self.touch(f"j{n}", {"key": f"j{n}", "user": f"u{n % 50}", "name": f"k{kind}", "submitted": now(), "state": "waiting", "estimate": 600 + 60 * kind,
                                 "tasks": [{"count": 1, "demand": f"cpu:{kind % 8 + 1},mem:{kind % 16 + 1}GiB"}], "runs": []})
            if "wide" in c:
                self.things[f"j{n}"][1].update(kind="rigid", apart=True, tasks=[{"count": c["wide"], "demand": "cpu:1,mem:1GiB"}])
        self.refuse = c.get("refuse", 0)
        self.control = c.get("control")
        self.seen = None
        answer = {"protocol": 1, "driver": "fake"}
        if "nodes" in c:
            self.nodes = {n: "absent" for names in c["nodes"].values() for n in names}
            answer["nodes"] = c["nodes"]
        return answer

    def list(self, q):
        since = q["since"]
        full = not self.first <= since <= self.mark
        out = [t for m, t in self.things.values() if full or m > since]
        answer = {"full": full, "mark": self.mark, "instances" if self.role == "capacity" else "jobs": out}
        if self.nodes:
            answer["nodes"] = [{"node": n, "state": s} for n, s in self.nodes.items()]
        return answer

    def node(self, q):
        print(f"node {q['node']} {q['want']}", file=sys.stderr, flush=True)
        if q["want"] != "drain":
            self.nodes[q["node"]] = "ready" if q["want"] == "up" else "absent"

    def obey(self):
        """What users do behind our back."""
        try:
            stamp = os.stat(self.control).st_mtime_ns
            orders = json.load(open(self.control)) if stamp != self.seen else {}
        except (OSError, ValueError, TypeError):
            return False
        self.seen = stamp
        for what, keys in orders.items():
            for key in keys:
                job = (self.things.get(key) or self.hidden[key])[1]
                if what == "requeued":
                    job = {**job, "state": "waiting", "runs": [{**r, "state": "lost"} for r in job["runs"]]}
                elif what == "again":
                    job = {**job, "state": "waiting", "again": job.get("again", 0) + 1}
                else:
                    job = {**job, "state": what}
                self.touch(key, job)
        return bool(orders)

    def launch(self, q):
        if q["token"] not in self.things:
            t = now()
            self.touch(q["token"], {"token": q["token"], "offer": q["offer"]["name"], "node": q["node"], "state": "ready", "acquired": t, "ready": t})

    def terminate(self, q):
        t = self.things[q["token"]][1]
        if t["state"] != "gone":
            self.touch(q["token"], {**t, "state": "gone", "gone": now()})

    def start(self, q):
        job = self.things[q["job"]][1]
        nodes = [r["node"] for r in q["runs"]]
        if job.get("apart") and len(set(nodes)) < len(nodes):
            print(f"twice on one machine: {nodes}", file=sys.stderr, flush=True)
        if self.refuse > 0:
            self.refuse -= 1
            job["runs"] += [{**r, "state": "stopped"} for r in q["runs"]]
            return self.touch(q["job"], job)
        for r in q["runs"]:
            if all(x["run"] != r["run"] for x in job["runs"]):
                job["runs"].append({**r, "state": "running", "started": now()})
                self.ends.append((time.time() + self.run, q["job"], r["run"]))
        self.touch(q["job"], job)

    def stop(self, q):
        self.end(q["job"], q["run"], "lost" if q.get("lost") else "stopped")

    def end(self, key, run, how):
        job = self.things[key][1]
        for r in job["runs"]:
            if r["run"] == run and r["state"] == "running":
                r.update(state=how, ended=now(), exit=0)
                if how == "ended":
                    job["state"] = "ended"
                self.touch(key, job)

    def cancel(self, q):
        self.touch(q["job"], {**self.things[q["job"]][1], "state": "cancelled"})

    def forget(self, q):
        key = q.get("token") or q.get("job")
        self.hidden[key] = self.things.pop(key, None)

    def tick(self):
        obeyed = self.control and self.obey()
        due = [e for e in self.ends if e[0] <= time.time()]
        self.ends = [e for e in self.ends if e[0] > time.time()]
        for _, key, run in due:
            if key in self.things:
                self.end(key, run, "ended")
        return bool(due) or bool(obeyed)


def main():
    f = Fake()
    buf = b""
    while True:
        ready = select.select([0], [], [], 0.1)[0]
        if f.tick():
            print('{"event":"changed"}', flush=True)
        if not ready:
            continue
        piece = os.read(0, 1 << 20)
        if not piece:
            return
        *lines, buf = (buf + piece).split(b"\n")
        for line in lines:
            q = json.loads(line)
            print(json.dumps({"id": q["id"], "ok": True, **(getattr(f, q["op"])(q) or {})}), flush=True)


main()
