# SPDX-License-Identifier: Apache-2.0
"""A farthingd of our own in a folder of its own: started, asked, killed, and looked at afterwards."""
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["BUILD"]
FARTHING = os.environ["FARTHING"]
FARTHINGD = os.environ["FARTHINGD"]
DRIVERS = os.environ["DRIVERS"]
SLOW = float(os.environ.get("SLOW", "1"))  # how much longer everything may take: sanitizers, loaded machines

CATALOG = """
catalog: |
  farthing-catalog 1
  type small family=general holds=cpu:2,mem:4GiB
  type large family=general holds=cpu:8,mem:16GiB
  offer small price=0.36
  offer small market=spot price=0.18
  offer large price=1.44
"""


class Refused(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text.strip()}")
        self.status, self.text = status, text


class UnixHTTP(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Cluster:
    """State and configuration in a temporary folder; the daemon may come and go."""

    def __init__(self, policy="stratus:round=1s", capacity="{boot: 300ms, keep_ended: true}", workload="{grace: 2s}", limits="{max_instances: 16}", extra="", name="t"):
        self.dir = tempfile.mkdtemp(prefix="farthing-live-")
        self.config = os.path.join(self.dir, "farthing.yaml")
        self.state = os.path.join(self.dir, "state")
        self.socket = os.path.join(self.state, "farthingd.sock")
        self.log = os.path.join(self.dir, "log")
        self.daemon = None
        with open(self.config, "w") as f:
            f.write(f"cluster: {name}\nstate: {self.state}\npolicy: {policy}\n{CATALOG}"
                    f"workload:\n  driver: process\n  poll: 500ms\n  config: {workload}\n"
                    f"capacity:\n  driver: local\n  poll: 500ms\n  config: {capacity}\n"
                    f"limits: {limits}\nretry: {{first: 100ms, most: 1s}}\n{extra}\n")

    def start(self, wait=True):
        with open(self.log, "a") as log:
            self.daemon = subprocess.Popen([FARTHINGD, "--config", self.config], stderr=log, stdin=subprocess.DEVNULL)
        if wait:
            self.until(lambda: self.get("/healthz")["ok"], 20, "farthingd is healthy")

    def kill(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()

    def stop(self):
        self.daemon.send_signal(signal.SIGTERM)
        code = self.daemon.wait(20 * SLOW)
        check(code == 0, f"farthingd stops with exit code {code}")

    def ask(self, method, path, body=None, headers=None, timeout=35):
        c = UnixHTTP(self.socket, timeout)
        try:
            c.request(method, path, body=None if body is None else json.dumps(body), headers=headers or {})
            r = c.getresponse()
            text = r.read().decode()
        finally:
            c.close()
        if r.status >= 300:
            raise Refused(r.status, text)
        return json.loads(text) if text.startswith("{") else text

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, body=None):
        return self.ask("POST", path, {} if body is None else body)

    def submit(self, command, demand="cpu:1,mem:256MiB", count=1, **more):
        spec = {"command": command, "tasks": [{"count": count, "demand": demand}], **more}
        return self.post("/v1/jobs", spec)["job"]

    def jobs(self):
        return self.get("/v1/jobs")["jobs"]

    def instances(self):
        return self.get("/v1/instances")["instances"]

    def until(self, ok, seconds, what):
        end = time.time() + seconds * SLOW
        last = None
        while time.time() < end:
            if self.daemon and self.daemon.poll() is not None:
                self.show()
                fail(f"farthingd ended with exit code {self.daemon.returncode} while waiting: {what}")
            try:
                if ok():
                    return
            except (OSError, Refused, http.client.HTTPException) as e:
                last = e
            time.sleep(0.05)
        self.show()
        fail(f"not in {seconds} s: {what} {last or ''}")

    def drained(self, seconds):
        self.until(lambda: not self.instances(), seconds, "no instance is left")

    def settled(self, n, seconds):
        """n jobs have ended and nothing is under way."""
        self.until(lambda: self.get("/v1/status")["jobs_done"] >= n, seconds, f"{n} jobs have ended")

    def show(self):
        if os.path.exists(self.log):
            with open(self.log) as f:
                sys.stdout.write("".join(f.readlines()[-60:]))

    def replay(self):
        r = subprocess.run([FARTHING, "replay", "--format", "json", os.path.join(self.state, "journal.db")], capture_output=True, text=True)
        check(r.returncode == 0 and json.loads(r.stdout)["same"], f"the journal replays to the same: {r.stdout} {r.stderr}")
        return json.loads(r.stdout)

    def alive(self):
        """Processes that belong to this cluster: runners, jobs, drivers."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    line = f.read()
                with open(f"/proc/{pid}/environ", "rb") as f:
                    line += f.read()
            except OSError:
                continue
            if self.dir.encode() in line and int(pid) != os.getpid() and (not self.daemon or int(pid) != self.daemon.pid):
                found.append((int(pid), line.replace(b"\0", b" ")[:200]))
        return found

    def close(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.kill()
            self.daemon.wait()
        for pid, _ in self.alive():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        shutil.rmtree(self.dir, ignore_errors=True)


def fail(text):
    print(f"FAIL: {text}")
    sys.exit(1)


def check(ok, text):
    if not ok:
        fail(text)


def ran_once(path, keys):
    """Each job appends its key as it ends: every one is there, and once."""
    with open(path) as f:
        lines = f.read().split()
    twice = sorted({k for k in lines if lines.count(k) > 1})
    missing = sorted(set(keys) - set(lines))
    check(not twice, f"jobs that completed twice: {twice}")
    check(not missing, f"jobs that never completed: {missing}")


def bill_is_uptime(cluster, slack_s=1.2):
    """The bill against what the capacity driver itself wrote down of each instance, at the offer's price; and the sums within it."""
    cluster.until(lambda: not os.listdir(f"{cluster.state}/capacity/instances"), 20, "the capacity driver has been told to forget all")
    seen = {}
    with open(f"{cluster.state}/capacity/ended.jsonl") as f:
        for line in f:
            o = json.loads(line)
            if "acquired" in o:
                seen["i" + o["token"].rsplit("-i", 1)[1].split("-")[0]] = o
    bill = cluster.get("/v1/bill")
    check({i["instance"] for i in bill["instances"]} == set(seen), f"the bill has the instances that were there: {set(seen) ^ {i['instance'] for i in bill['instances']}}")
    prices = {"small": 0.36, "small:spot": 0.18, "large": 1.44}
    total = 0
    for i in bill["instances"]:
        check(i["gone"] is not None, f"{i['instance']} is still there")
        o = seen[i["instance"]]
        check(o["offer"] == i["offer"], f"{i['instance']} is {o['offer']}, not {i['offer']}")
        up = (o["gone"] - o["acquired"]) / 1e6  # billed in whole seconds
        owed = up * prices[i["offer"]] / 3600
        check(abs(owed - i["total"]) <= slack_s * prices[i["offer"]] / 3600 + 1e-6, f"{i['instance']} was up for {up} s and costs {i['total']}, not {owed}")
        parts = sum(i[p] for p in ("used", "lost", "boot", "idle", "fragmented"))
        check(abs(parts - i["total"]) < 1e-9, f"the parts of {i['instance']} sum to {parts}, not {i['total']}")
        total += i["total"]
    check(abs(total - bill["total"]) < 1e-8, f"instances sum to {total}, the bill to {bill['total']}")
    per_job = sum(j["used"] + j["lost"] for j in bill["jobs"])
    check(abs(per_job - bill["used"] - bill["lost"]) < 1e-8, "jobs do not sum to what was used and lost")
    return bill
