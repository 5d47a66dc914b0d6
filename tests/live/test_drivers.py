#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every driver keeps to the protocol: good and bad requests, tokens once, state that survives being killed."""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from live import *

tmp = tempfile.mkdtemp(prefix="farthing-drivers-")


class Driver:
    def __init__(self, name, role, config, state=None, greet=True):
        self.state = state or tempfile.mkdtemp(dir=tmp)
        self.p = subprocess.Popen([os.path.join(DRIVERS, f"farthing-driver-{name}")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.n = 0
        if greet:
            r = self.ask("hello", protocol=1, role=role, cluster="t", state=self.state, config=config, catalog={})
            check(r["ok"] and r["driver"] == name and r["protocol"] == 1, f"{name} greets: {r}")

    def raw(self, line):
        self.p.stdin.write(line + b"\n")
        self.p.stdin.flush()
        while True:
            answer = json.loads(self.p.stdout.readline())
            if "event" not in answer:
                return answer
            check(answer == {"event": "changed"}, f"an event: {answer}")

    def ask(self, op, **fields):
        self.n += 1
        r = self.raw(json.dumps({"op": op, "id": self.n, **fields}).encode())
        check(r["id"] == self.n, f"an answer has its request's id: {r}")
        check(r["ok"] or (r["error"] and r["why"] in ("capacity", "quota", "throttled", "other")), f"a failure says why: {r}")
        return r

    def one(self, kind, key, name):
        return next((x for x in self.ask("list", since=0)[kind] if x[key] == name), None)

    def until(self, ok, what, seconds=10):
        end = time.time() + seconds * SLOW
        while time.time() < end:
            if ok():
                return
            time.sleep(0.03)
        fail(f"not in time: {what}")

    def kill(self):
        self.p.kill()
        self.p.wait()

    def end(self):
        self.p.stdin.close()
        check(self.p.wait(10 * SLOW) == 0, "it ends with its input")


def manners(name, role, config):
    d = Driver(name, role, config, greet=False)
    check(not d.ask("list", since=0)["ok"], "hello comes first")
    check(not d.ask("hello", protocol=99, role=role, cluster="t", state=d.state, config=config)["ok"], "another protocol is refused")
    other = "capacity" if role == "workload" else "workload"
    check(not d.ask("hello", protocol=1, role=other, cluster="t", state=d.state, config=config)["ok"], "another role is refused")
    bad = d.ask("hello", protocol=1, role=role, cluster="t", state=d.state, config={**config, "no_such": 1})
    check(not bad["ok"] and bad["key"] == "no_such", f"an unknown setting is refused by name: {bad}")
    check(not d.ask("hello", protocol=1, role=role, cluster="t", config=config)["ok"], "a state folder is needed")
    check(d.ask("hello", protocol=1, role=role, cluster="t", state=d.state, config=config)["ok"], "then it greets")
    for line in (b"garbage", b"[]", b"{}", b'{"op":"list"}', b'{"op":5,"id":1}', b'{"op":"list","op":"list","id":1}', b"\xff\xfe", b"", b"null", b'{"id":7,"op":"nonsense"}'):
        r = d.raw(line)
        check(r["ok"] is False and r["error"], f"{line!r} is refused: {r}")
    full = d.ask("list", since=0)
    check(full["ok"] and full["full"] and isinstance(full["instances" if role == "capacity" else "jobs"], list), f"a list is a list: {full}")
    part = d.ask("list", since=full["mark"])
    check(part["full"] is False and not part["instances" if role == "capacity" else "jobs"], f"nothing has changed: {part}")
    check(d.ask("list", since=12345)["full"], "a mark of another time is answered with all")
    try:
        d.p.stdin.write(b'{"op":"list","id":99,"since":"' + b"x" * (70 << 20) + b'"}\n')
        d.p.stdin.flush()
    except BrokenPipeError:
        pass
    d.p.stdin = open(os.devnull, "wb")
    check(d.p.wait(30 * SLOW) != 0, "a line without end ends it")
    Driver(name, role, config).end()


OFFER = {"name": "small", "type": "small", "zone": "", "market": "on-demand", "price": 0.1}


def local():
    manners("local", "capacity", {})
    d = Driver("local", "capacity", {"boot": 0.2, "command": ["sleep", "1000{port}"], "first_port": 700, "max_instances": 3})
    for bad in ({}, {"token": "a"}, {"token": "../a", "node": "n", "offer": OFFER}, {"token": "a", "node": "n", "offer": {}}, {"token": 1, "node": "n", "offer": OFFER}):
        check(not d.ask("launch", **bad)["ok"], f"refused: {bad}")
    for _ in range(3):
        check(d.ask("launch", token="a", node="n1", offer=OFFER)["ok"], "a token is launched, once")
    check(len(d.ask("list", since=0)["instances"]) == 1, "once")
    d.until(lambda: d.one("instances", "token", "a")["state"] == "ready", "ready")
    a = d.one("instances", "token", "a")
    check(a["node"] == "n1" and a["offer"] == "small" and abs(a["ready"] - a["acquired"] - 200000) < 1000, f"as asked: {a}")
    sleeps = lambda: [p for p in filter(str.isdigit, os.listdir("/proc")) if cmdline(p).startswith("sleep 1000700")]
    d.until(lambda: len(sleeps()) == 1, "its process runs")
    d.kill()
    d = Driver("local", "capacity", {"boot": 0.2, "command": ["sleep", "1000{port}"], "first_port": 700, "max_instances": 3}, d.state)
    check(d.one("instances", "token", "a") == a, "a killed driver lists the same")
    check(d.ask("launch", token="a", node="n1", offer=OFFER)["ok"] and len(sleeps()) == 1, "and launches nothing again")
    check(d.ask("launch", token="b", node="n2", offer=OFFER)["ok"] and d.ask("launch", token="c", node="n3", offer=OFFER)["ok"], "up to the limit")
    r = d.ask("launch", token="e", node="n4", offer=OFFER)
    check(not r["ok"] and r["why"] == "quota", f"the limit is a quota: {r}")
    check(not d.ask("forget", token="a")["ok"], "what is not gone is not forgotten")
    check(d.ask("terminate", token="a")["ok"] and d.ask("terminate", token="a")["ok"] and d.ask("terminate", token="zz")["ok"], "terminate can be repeated")
    d.until(lambda: d.one("instances", "token", "a")["state"] == "gone" and not sleeps(), "gone, and its process with it")
    check("taken" not in d.one("instances", "token", "a"), "let go, not taken")
    d.until(lambda: d.ask("forget", token="a")["ok"], "forgotten")
    check(d.one("instances", "token", "a") is None, "no longer listed")
    # A process that ends by itself ends its instance; a stranger with its process id is left alone.
    d.until(lambda: d.one("instances", "token", "b")["state"] == "ready", "ready")
    folder = os.path.join(d.state, "processes", "b")
    d.until(lambda: os.path.exists(os.path.join(folder, "started")), "started")
    os.kill(json.load(open(os.path.join(folder, "started")))["pid"], signal.SIGKILL)
    d.until(lambda: d.one("instances", "token", "b")["state"] == "gone", "an instance whose process ended is gone")
    folder = os.path.join(d.state, "processes", "c")
    d.until(lambda: os.path.exists(os.path.join(folder, "started")), "started")
    c = json.load(open(os.path.join(folder, "started")))
    os.kill(c["runner"], signal.SIGKILL)
    d.until(lambda: d.one("instances", "token", "c")["state"] == "gone", "one whose runner was killed too")
    check(not os.path.exists(f"/proc/{c['pid']}") or "sleep 1000" not in cmdline(str(c["pid"])), "and its process is not left behind")
    stranger = subprocess.Popen(["sleep", "60"])
    json.dump({**c, "pid": stranger.pid, "runner": stranger.pid}, open(os.path.join(folder, "started"), "w"))
    os.unlink(os.path.join(folder, "exit"))
    d.ask("terminate", token="c")
    d.until(lambda: d.ask("forget", token="c")["ok"], "forgotten")
    check(stranger.poll() is None, "a stranger lives")
    stranger.kill()
    d.end()
    # Failures and revocations on purpose.
    d = Driver("local", "capacity", {"fail_share": "100%", "fail_why": "throttled", "boot": 0})
    check(d.ask("launch", token="x", node="n", offer=OFFER)["ok"], "it is taken")
    x = d.one("instances", "token", "x")
    check(x["state"] == "gone" and x["why"] == "throttled" and "acquired" not in x, f"and fails: {x}")
    d.end()
    d = Driver("local", "capacity", {"revoke_share": 1, "revoke_after": "200ms", "notice": "100ms", "boot": 0})
    d.ask("launch", token="x", node="n", offer=OFFER)
    d.until(lambda: "take_at" in d.one("instances", "token", "x"), "a revocation is announced")
    d.until(lambda: d.one("instances", "token", "x")["state"] == "gone", "and it is taken")
    x = d.one("instances", "token", "x")
    check(x["taken"] and x["gone"] == x["take_at"], f"at its time: {x}")
    d.end()


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def exec_():
    cloud = tempfile.mkdtemp(dir=tmp)
    script = os.path.join(cloud, "cloud.py")
    with open(script, "w") as f:
        f.write('''#!/usr/bin/env python3
import json, os, sys, time
d, verb = os.path.dirname(__file__), sys.argv[1]
q = json.load(sys.stdin)
mode = open(d + "/mode").read() if os.path.exists(d + "/mode") else ""
if mode == "slow": time.sleep(60)
if mode == "garbage": print("garbage"); sys.exit()
if mode == "fail": sys.exit(3)
if mode == "capacity" and verb == "launch": print(json.dumps({"error": "none left", "why": "capacity"})); sys.exit(1)
if mode == "flood": print("x" * (20 << 20)); sys.exit()
if verb == "launch":
    with open(d + "/calls", "a") as f: f.write(q["token"] + "\\n")
    open(d + "/vm." + q["token"], "w").write("ready")
if mode == "odd": print(json.dumps({"error": 5})); sys.exit()
if verb == "terminate" and mode != "deaf":
    try: os.unlink(d + "/vm." + q["token"])
    except OSError: pass
out = [{"token": n[3:], "state": open(d + "/" + n).read()} for n in os.listdir(d) if n.startswith("vm.") and mode != "late"]
print(json.dumps({"instances": out} if verb == "list" else {}))
''')
    os.chmod(script, 0o755)
    mode = lambda m: open(os.path.join(cloud, "mode"), "w").write(m)
    config = {v: [script, v] for v in ("launch", "terminate", "list")}
    config.update(timeout="1500ms", list_every="100ms", lost_after=0)
    config["timeout"] = f"{2 * SLOW}s"
    manners("exec", "capacity", config)
    d = Driver("exec", "capacity", config, greet=False)
    check(not d.ask("hello", protocol=1, role="capacity", cluster="t", state=d.state, config={})["ok"], "scripts must be named")
    d.kill()
    d = Driver("exec", "capacity", config)
    for m, why in (("capacity", "capacity"), ("fail", "other"), ("garbage", "other"), ("flood", "other"), ("slow", "other")):
        mode(m)
        r = d.ask("launch", token="a", node="n", offer=OFFER)
        check(not r["ok"] and r["why"] == why, f"{m}: {r}")
    mode("")
    check(d.ask("launch", token="a", node="n", offer=OFFER)["ok"] and d.ask("launch", token="a", node="n", offer=OFFER)["ok"], "launched")
    check(open(os.path.join(cloud, "calls")).read() == "a\n", "once")
    d.until(lambda: d.one("instances", "token", "a")["state"] == "ready", "ready")
    mode("fail")
    time.sleep(0.3)
    check(d.one("instances", "token", "a")["state"] == "ready", "a list that fails says nothing of an instance")
    mode("")
    d.kill()
    d = Driver("exec", "capacity", config, d.state)
    check(d.one("instances", "token", "a")["state"] == "ready" and d.ask("launch", token="a", node="n", offer=OFFER)["ok"], "a killed driver knows its tokens")
    check(open(os.path.join(cloud, "calls")).read() == "a\n", "still once")
    os.unlink(os.path.join(cloud, "vm.a"))
    d.until(lambda: d.one("instances", "token", "a")["state"] == "gone", "what the cloud no longer names is gone")
    check(d.ask("forget", token="a")["ok"] and d.one("instances", "token", "a") is None, "forgotten")
    open(os.path.join(cloud, "vm.stray"), "w").write("ready")
    d.until(lambda: d.one("instances", "token", "stray"), "what the cloud has of ours is listed, asked for or not")
    check(d.ask("terminate", token="stray")["ok"], "let go")
    d.until(lambda: d.one("instances", "token", "stray")["state"] == "gone", "gone")
    mode("odd")
    check(not d.ask("launch", token="o", node="n", offer=OFFER)["ok"], "an error that is no text is one")
    # A cloud that says yes and does nothing is asked again.
    mode("")
    check(d.ask("launch", token="deaf", node="n", offer=OFFER)["ok"], "launched")
    d.until(lambda: d.one("instances", "token", "deaf")["state"] == "ready", "ready")
    mode("deaf")
    check(d.ask("terminate", token="deaf")["ok"], "it says it goes")
    d.until(lambda: d.one("instances", "token", "deaf")["state"] == "ready", "it is still there, and that is told")
    mode("")
    check(d.ask("terminate", token="deaf")["ok"], "asked again")
    d.until(lambda: d.one("instances", "token", "deaf")["state"] == "gone", "gone")
    d.end()
    # What shows late is not given up because we were killed meanwhile.
    mode("late")
    d = Driver("exec", "capacity", {**config, "lost_after": "300s"})
    check(d.ask("launch", token="late", node="n", offer=OFFER)["ok"], "launched")
    d.kill()
    d = Driver("exec", "capacity", {**config, "lost_after": "300s"}, d.state)
    time.sleep(0.5)
    check(d.one("instances", "token", "late")["state"] == "requested", "it may still show")
    mode("")
    d.until(lambda: d.one("instances", "token", "late")["state"] == "ready", "and does")
    d.end()


def process():
    manners("process", "workload", {})
    d = Driver("process", "workload", {"grace": "1s"})
    spec = {"command": "echo out; echo err >&2; exit 3", "tasks": [{"count": 1, "demand": "cpu:1"}]}
    for bad in ({}, {"command": 5}, {"command": []}, {"command": "true", "nonsense": 1}, {"command": "true", "cwd": "relative"}, {"command": "true", "env": {"A": 1}},
                {"command": "true", "tasks": []}, {"command": "true", "tasks": [{"demand": 5}]}, {"command": "true", "kind": "odd"}, {"command": "true", "limit": "soon"}):
        check(not d.ask("submit", key="bad", spec=bad)["ok"], f"refused: {bad}")
    check(not d.ask("submit", key="../x", spec=spec)["ok"], "a key is no path")
    check(d.ask("submit", key="j", spec=spec)["ok"] and d.ask("submit", key="j", spec=spec)["ok"], "submitting can be repeated")
    check(not d.ask("submit", key="j", spec={**spec, "name": "x"})["ok"], "but not with another job")
    run = lambda r, task=0: {"job": "j", "runs": [{"run": r, "task": task, "node": "n1", "instance": "i0"}]}
    for bad in ({"job": "j"}, {"job": "nosuch", "runs": []}, run("../r"), run("r", 5)):
        check(not d.ask("start", **bad)["ok"], f"refused: {bad}")
    check(d.ask("start", **run("r1"))["ok"] and d.ask("start", **run("r1"))["ok"], "started, once")
    d.until(lambda: d.one("jobs", "key", "j")["state"] == "ended", "ended")
    j = d.one("jobs", "key", "j")
    check(len(j["runs"]) == 1 and j["runs"][0]["exit"] == 3 and j["runs"][0]["ended"] >= j["runs"][0]["started"], f"with its exit code: {j}")
    check(not d.ask("start", **run("r2"))["ok"], "what has ended is not started again")
    check(d.ask("forget", job="j")["ok"] and d.ask("forget", job="j")["ok"], "forgotten")
    check(open(f"{d.state}/output/j.0.out").read() == "out\n" and open(f"{d.state}/output/j.0.err").read() == "err\n", "what it wrote stays")
    # It outlives the driver; stop, restart under another run; no second run beside the first.
    mark = os.path.join(d.state, "mark")
    d.ask("submit", key="k", spec={"command": f"trap 'echo saved >>{mark}; exit 0' TERM; echo begun >>{mark}; sleep 30 & wait"})
    go = lambda r: d.ask("start", job="k", runs=[{"run": r, "task": 0, "node": "n1", "instance": "i0"}])
    state = lambda r: next((x["state"] for x in d.one("jobs", "key", "k")["runs"] if x["run"] == r), None)
    check(go("k1")["ok"], "started")
    d.until(lambda: os.path.exists(mark), "it runs")
    d.kill()
    d = Driver("process", "workload", {"grace": "1s"}, d.state)
    check(state("k1") == "running", "it outlives the driver")
    check(go("k1")["ok"] and not go("k2")["ok"], "known is known; beside it nothing starts")
    check(d.ask("stop", job="k", run="k1")["ok"], "asked to stop")
    d.until(lambda: state("k1") == "stopped", "stopped, though it ended with 0: it handled the signal")
    check(open(mark).read() == "begun\nsaved\n", "it could save its state")
    check(go("k2")["ok"], "and goes on under another run")
    d.until(lambda: open(mark).read().count("begun") == 2, "begun again")
    check(not d.ask("forget", job="k")["ok"], "what runs is not forgotten")
    check(d.ask("stop", job="k", run="k2", lost=True)["ok"], "its machine is gone")
    d.until(lambda: state("k2") == "lost", "lost")
    check(open(mark).read().count("saved") == 1, "and could save nothing")
    check(go("k3")["ok"], "again")
    d.until(lambda: state("k3") == "running", "running")
    check(d.ask("cancel", job="k")["ok"], "cancelled")
    d.until(lambda: state("k3") == "lost" and d.one("jobs", "key", "k")["state"] == "cancelled", "killed")
    check(not go("k4")["ok"] and d.ask("forget", job="k")["ok"], "for good")
    # A stubborn one is killed after its grace; all it has started goes with it.
    d.ask("submit", key="s", spec={"command": f"trap '' TERM; setsid sleep 77777 & sleep 77777", "grace": "300ms"})
    d.ask("start", job="s", runs=[{"run": "s1", "task": 0, "node": "n1", "instance": "i0"}])
    sleepers = lambda: [p for p in filter(str.isdigit, os.listdir("/proc")) if cmdline(p) == "sleep 77777"]
    d.until(lambda: len(sleepers()) == 2, "it runs")
    d.ask("stop", job="s", run="s1")
    d.until(lambda: not sleepers(), "nothing of it is left")
    # So it is when the runner is killed.
    d.ask("submit", key="r", spec={"command": "setsid sleep 66666 & sleep 66666"})
    d.ask("start", job="r", runs=[{"run": "r1", "task": 0, "node": "n1", "instance": "i0"}])
    sleepers = lambda: [p for p in filter(str.isdigit, os.listdir("/proc")) if cmdline(p) == "sleep 66666"]
    d.until(lambda: len(sleepers()) == 2, "it runs")
    os.kill(json.load(open(f"{d.state}/jobs/r/runs/r1/started"))["runner"], signal.SIGKILL)
    d.until(lambda: not sleepers() and d.one("jobs", "key", "r")["runs"][0]["state"] == "lost", "lost, and nothing of it is left")
    # The environment is the one given.
    os.environ["FARTHING_TEST_LEAK"] = "1"
    d.ask("submit", key="e", spec={"command": "env; pwd", "env": {"A": "b"}, "cwd": "/tmp"})
    d.ask("start", job="e", runs=[{"run": "e1", "task": 0, "node": "n7", "instance": "i3"}])
    d.until(lambda: d.one("jobs", "key", "e")["state"] == "ended", "ended")
    out = open(f"{d.state}/jobs/e/runs/e1/stdout").read().split("\n")
    check("A=b" in out and "FARTHING_NODE=n7" in out and "FARTHING_INSTANCE=i3" in out and "/tmp" in out, f"its environment: {out}")
    check(not any("LEAK" in line for line in out), "nothing of ours")
    if os.geteuid() == 0:
        d.ask("submit", key="u", spec={"command": "id -u; id -g", "uid": 65534, "gid": 65534})
        d.ask("start", job="u", runs=[{"run": "u1", "task": 0, "node": "n7", "instance": "i3"}])
        d.until(lambda: d.one("jobs", "key", "u")["state"] == "ended", "ended")
        check(open(f"{d.state}/jobs/u/runs/u1/stdout").read() == "65534\n65534\n", "as the user who submitted it")
    d.end()


try:
    {"local": local, "exec": exec_, "process": process}[sys.argv[1]]()
    print("ok")
finally:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if tmp.encode() in f.read():
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass
    shutil.rmtree(tmp, ignore_errors=True)
