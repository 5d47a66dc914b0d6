#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""farthing-driver-slurm alone, against a real slurmctld: what it lists, and what comes of what it is asked."""
import json
import os
import subprocess
import sys
import time

from rig import Rig, skip_unless_possible

skip_unless_possible()


class Driver:
    def __init__(self, rig):
        self.log = open(rig.path("log", "driver.out"), "ab")
        self.p = subprocess.Popen([os.environ["SLURM_DRIVER"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                  env=rig.env)
        self.n = 0
        os.makedirs(rig.path("driver"), exist_ok=True)
        self.hello = self.ask(op="hello", protocol=1, role="workload", cluster="rig", state=rig.path("driver"),
                              config={"conf": rig.path("slurm.conf"), "spool": rig.path("power"), "poll": 0.2},
                              catalog={"types": [{"name": "node.small"}, {"name": "node.large"}]})

    def ask(self, **request):
        self.n += 1
        self.p.stdin.write(json.dumps(dict(request, id=self.n)) + "\n")
        self.p.stdin.flush()
        while True:
            answer = json.loads(self.p.stdout.readline())
            if answer.get("id") == self.n:
                return answer

    def jobs(self, since=0):
        return {j["key"]: j for j in self.ask(op="list", since=since)["jobs"]}

    def nodes(self):
        return {n["node"]: n["state"] for n in self.ask(op="list", since=0)["nodes"]}

    def run_state(self, key):
        runs = self.jobs()[key]["runs"]
        return runs[0]["state"] if runs else None

    def close(self):
        self.p.stdin.close()
        assert self.p.wait(10) == 0
        self.log.close()


def run(token, node, task=0):
    return {"run": token, "task": task, "node": node, "instance": "i"}


def check(what, is_so):
    if not is_so:
        raise SystemExit("not so: " + what)


rig = Rig(os.environ["BUILD"], os.environ["SOURCE"], nodes=2)
try:
    rig.start_slurm()
    d = Driver(rig)
    check("nodes by type", d.hello["nodes"] == {"node.small": ["node-small-1", "node-small-2"], "node.large": ["node-large-1", "node-large-2"]})
    check("all absent", set(d.nodes().values()) == {"absent"})

    plain = rig.submit("plain", 1, "-n1", "--mem=100")
    after = rig.submit("after", 0, "-n2", "--mem=200", "-d", "afterok:" + plain)
    array = rig.submit("array", 1, "-a", "1-5:2", "-n1")
    user = rig.submit("held", 0, "-H")
    later = rig.submit("later", 0, "--begin=now+1hour")
    wide = rig.submit("wide", 0, "-N2", "-n4", "--time=7")
    off = rig.submit("off", 0, "--comment=farthing:off")
    jobs = d.jobs()
    check("the job marked otherwise is left alone", off not in jobs)
    check("array tasks are jobs", {k for k in jobs if "_" in k} == {array + "_1", array + "_3", array + "_5"})
    state = {k: j["state"] for k, j in jobs.items()}
    check("what waits and what is held", state == {plain: "waiting", after: "held", array + "_1": "waiting", array + "_3": "waiting",
                                                   array + "_5": "waiting", user: "held", later: "held", wide: "waiting"})
    check("demand", jobs[after]["tasks"] == [{"count": 1, "demand": "cpu:2,mem:200MiB"}])
    check("wide", jobs[wide]["kind"] == "rigid" and jobs[wide]["tasks"][0]["count"] == 2 and jobs[wide]["limit"] == 420)

    # What a policy cannot know of stays held, and says why.
    for option, says in (("--constraint=node.large", "features"), ("--exclude=node-small-1", "excludes"),
                         ("--nodelist=node-large-1", "names its nodes")):
        odd = rig.submit("odd", 0, option)
        check(option + " is held", d.jobs()[odd]["state"] == "held" and says in d.jobs()[odd]["why"])
        rig.run("scancel", odd, check=True)
    alone = rig.submit("alone", 0, "--exclusive")
    check("--exclusive is told", d.jobs()[alone]["exclusive"] is True and d.jobs()[alone]["state"] == "waiting")
    rig.run("scancel", alone, check=True)
    check("tasks on several nodes keep apart", d.jobs()[wide]["apart"] is True)

    # A user's release of his hold does not start the job: it begins to wait for us. He may hold it again.
    own = rig.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sbatch", "--parsable", "-H", "-D", "/tmp", "-o", "/dev/null",
                  "--comment=mine", "--wrap", "true", check=True).stdout.strip()
    check("held by its user", d.jobs()[own]["state"] == "held")
    for verb, state in (("release", "waiting"), ("hold", "held"), ("release", "waiting")):
        rig.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "scontrol", verb, own, check=True)
        check("%s by its user: %s" % (verb, state), d.jobs()[own]["state"] == state)
        check("not started", "Priority=0 " in rig.run("scontrol", "show", "job", own).stdout)
    shown = rig.run("scontrol", "show", "job", own).stdout
    check("his comment is kept: " + shown, "Comment=mine" in shown and "farthing:held" not in shown)
    rig.run("scancel", own, check=True)

    # A machine comes: its slurmd reports, and jobs are released onto it.
    for node in ["node-large-1", "node-large-2"]:
        rig.spawn(node, ["slurmd", "-D", "-N", node, "-f", rig.path("slurm.conf")])
    rig.wait("two ready nodes", lambda: list(d.nodes().values()).count("ready") == 2, 20)
    check("start", d.ask(op="start", job=plain, runs=[run("r1", "node-large-1")])["ok"])
    check("again is the same", d.ask(op="start", job=plain, runs=[run("r1", "node-large-1")])["ok"])
    rig.wait("it runs", lambda: d.run_state(plain) == "running", 10)
    check("another run is refused", not d.ask(op="start", job=plain, runs=[run("r9", "node-large-2")])["ok"])
    rig.wait("it ends", lambda: d.jobs()[plain]["state"] == "ended", 20)
    done = d.jobs()[plain]["runs"][0]
    check("well, where it was told to", done["exit"] == 0 and done["node"] == "node-large-1" and done["ended"] >= done["started"])
    check("its dependent may begin", d.jobs()[after]["state"] == "waiting")

    # A move: stopped, it waits again, and is started elsewhere under another run.
    one = array + "_3"
    mark = d.ask(op="list", since=0)["mark"]
    d.ask(op="start", job=one, runs=[run("r2", "node-large-1")])
    rig.wait("it runs", lambda: d.run_state(one) == "running", 10)
    check("a list from a mark on has what changed", set(d.jobs(mark)) == {one})
    check("stop", d.ask(op="stop", job=one, run="r2")["ok"])
    rig.wait("it has stopped", lambda: d.run_state(one) == "stopped" and d.jobs()[one]["state"] == "waiting", 20)
    check("start again", d.ask(op="start", job=one, runs=[run("r3", "node-large-2")])["ok"])
    rig.wait("it ends there", lambda: d.jobs()[one]["state"] == "ended" and d.jobs()[one]["runs"][0]["node"] == "node-large-2", 30)

    # Requeued by somebody after its end, it is a job once more; requeued and held, it is held.
    rig.run("scontrol", "requeue", plain, check=True)
    rig.wait("it waits again", lambda: d.jobs()[plain]["state"] == "waiting" and d.jobs()[plain]["again"] == 1 and not d.jobs()[plain]["runs"], 20)
    rig.wait("and not by Slurm's own will", lambda: "Priority=0 " in rig.run("scontrol", "show", "job", plain).stdout, 10)
    check("start", d.ask(op="start", job=plain, runs=[run("again1", "node-large-1")])["ok"])
    rig.wait("it ends again", lambda: d.jobs()[plain]["state"] == "ended" and d.jobs()[plain]["again"] == 1, 30)
    rig.run("scontrol", "requeuehold", plain, check=True)
    rig.wait("held", lambda: d.jobs()[plain]["state"] == "held" or d.jobs()[plain].get("again") == 2, 20)

    # Two nodes at once.
    check("start", d.ask(op="start", job=wide, runs=[run("w0", "node-large-1"), run("w1", "node-large-2", 1)])["ok"])
    rig.wait("it ends", lambda: d.jobs()[wide]["state"] == "ended", 20)
    check("both runs", [r["run"] for r in d.jobs()[wide]["runs"]] == ["w0", "w1"])

    # The driver forgets nothing when it dies: what it knows stands in Slurm.
    two = array + "_5"
    d.ask(op="start", job=two, runs=[run("r4", "node-large-1")])
    d.p.kill()
    d.p.wait()
    d = Driver(rig)
    check("known again", d.jobs()[two]["runs"][0]["run"] == "r4")

    # A node fails under a job: the run is lost, and the job waits for us instead of going on by itself.
    three = array + "_1"
    slow = rig.submit("slow", 30, "-n1")
    rig.wait("listed", lambda: slow in d.jobs(), 5)
    d.ask(op="start", job=slow, runs=[run("r5", "node-large-2")])
    rig.wait("it runs", lambda: d.run_state(slow) == "running", 10)
    rig.end("node-large-2")
    check("down", d.ask(op="node", node="node-large-2", want="down")["ok"])
    # Slurm lets go of it once it has given the node up (SlurmdTimeout, looked at now and then).
    rig.wait("lost", lambda: d.run_state(slow) == "lost" and d.jobs()[slow]["state"] == "waiting", 120)
    check("cancel", d.ask(op="cancel", job=slow)["ok"])
    rig.wait("cancelled", lambda: d.jobs()[slow]["state"] == "cancelled", 10)
    check("cancel again", d.ask(op="cancel", job=slow)["ok"])

    # The controller goes away and comes back: no list is given meanwhile, rather than an empty one.
    rig.end("slurmctld")
    check("no list", not d.ask(op="list", since=0)["ok"])
    rig.start_slurmctld()
    check("a list again", three in d.jobs())

    for request, says in (({"op": "start", "job": "999", "runs": [run("x", "y")]}, "no such job"),
                          ({"op": "start", "job": three, "runs": []}, "runs"),
                          ({"op": "start", "job": three, "runs": [run("a b", "node-large-1")]}, "token"),
                          ({"op": "start", "job": three}, "runs"), ({"op": "node", "node": "nonesuch", "want": "up"}, "no such node"),
                          ({"op": "node", "node": "node-large-1", "want": "sideways"}, "want"), ({"op": "stop", "job": three}, "run"),
                          ({"op": "dance"}, "dance")):
        answer = d.ask(**request)
        check("%s is refused: %s" % (request, answer), not answer["ok"] and says in answer["error"])
    d.close()
    print("as it should be")
except BaseException:
    rig.show()
    raise
finally:
    rig.close()
