# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster of our own on this machine: munged, slurmctld, and as many slurmd as farthingd starts.

Everything lives in one temporary directory and on ports that were free; nothing of the machine's own Slurm is touched.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

NEEDED = ["munged", "slurmctld", "slurmd", "sbatch", "scontrol", "scancel"]


def skip_unless_possible():
    """Ends the test as skipped where it cannot run: without root; without Slurm's programs, which continuous integration must have."""
    if os.geteuid() != 0:
        print("skipped: slurmd needs root")
        sys.exit(77)
    lacking = [name for name in NEEDED if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    if not os.path.exists(os.environ["SLURM_DRIVER"]):
        lacking.append("farthing-driver-slurm (libslurm-dev was not there when it was built)")
    if lacking:
        print("skipped: not installed: " + ", ".join(lacking))
        sys.exit(1 if os.environ.get("CI") else 77)


def free_ports(n):
    """The first of n ports in a row that are all free."""
    for base in range(21000 + os.getpid() % 1000 * 20, 60000, n):
        held = []
        try:
            for port in range(base, base + n):
                s = socket.socket()
                held.append(s)
                s.bind(("127.0.0.1", port))
            return base
        except OSError:
            continue
        finally:
            for s in held:
                s.close()
    raise SystemExit("no free ports")


CATALOG = """farthing-catalog 1
type node.small family=node holds=cpu:2,mem:2000MiB acquire=1s setup=1s terminate=1s
type node.large family=node holds=cpu:4,mem:4000MiB acquire=1s setup=1s terminate=1s
offer node.small price=0.36
offer node.large price=0.72
"""


class Rig:
    def __init__(self, build, source, nodes=4):
        self.build, self.source = build, source
        self.dir = tempfile.mkdtemp(prefix="farthing-slurm-")
        self.children = {}
        self.nodes = nodes
        self.port = free_ports(2 + 2 * nodes)
        for name in ["state", "spool", "log", "power", "marks"]:
            os.mkdir(self.path(name))
        self.env = dict(os.environ, SLURM_CONF=self.path("slurm.conf"), PATH=os.environ["PATH"] + ":/usr/sbin:/sbin",
                        FARTHING_SLURM=self.path("power.conf"))
        self.write("catalog.txt", CATALOG)
        self.write_conf()

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)

    def write_conf(self):
        libexec = self.path("libexec")
        shutil.copytree(os.path.join(self.source, "share", "slurm"), libexec)
        shutil.copy(os.path.join(libexec, "job_submit.lua"), self.path("job_submit.lua"))
        self.write("power.conf", "FARTHING_SPOOL=%s\nFARTHING_LOCK=%s\n" % (self.path("power"), self.path("daemon/journal.db.lock")))
        lines = subprocess.run([os.path.join(self.build, "farthing"), "slurm-conf", "--catalog", self.path("catalog.txt"), "--count",
                                str(self.nodes), "--ports", str(self.port + 2), "--programs", libexec], check=True, capture_output=True,
                               text=True).stdout
        host = socket.gethostname().split(".")[0]
        base = {"ClusterName": "rig", "SlurmctldHost": host + "(127.0.0.1)", "SlurmUser": "root", "SlurmdUser": "root",
                "AuthType": "auth/munge", "AuthInfo": "socket=" + self.path("munge.socket"), "SlurmctldPort": self.port,
                "SlurmdPort": self.port + 1, "StateSaveLocation": self.path("state"), "SlurmdSpoolDir": self.path("spool", "%n"),
                "SlurmctldPidFile": self.path("slurmctld.pid"), "SlurmdPidFile": self.path("slurmd-%n.pid"),
                "SlurmctldLogFile": self.path("log", "slurmctld.log"), "SlurmdLogFile": self.path("log", "slurmd-%n.log"),
                "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "MpiDefault": "none",
                "SlurmdParameters": "config_overrides", "KillWait": 2, "SlurmdTimeout": 10, "PriorityType": "priority/basic"}
        lines = lines.replace("SuspendTimeout=10", "SuspendTimeout=2").replace("ResumeTimeout=300", "ResumeTimeout=20")
        lines = lines.replace("NodeAddr=127.0.0.1", "NodeAddr=127.0.0.1 NodeHostname=" + host)
        self.write("slurm.conf", "".join("%s=%s\n" % item for item in base.items()) + lines)

    # ---- processes ----

    def spawn(self, name, command, **kw):
        log = open(self.path("log", name + ".out"), "ab")
        self.children[name] = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.env, cwd=self.dir,
                                               start_new_session=True, **kw)
        log.close()
        return self.children[name]

    def start_slurm(self):
        with open(self.path("munge.key"), "wb") as f:
            f.write(os.urandom(128))
        os.chmod(self.path("munge.key"), 0o400)
        os.chmod(self.dir, 0o711)
        self.spawn("munged", ["munged", "--foreground", "--force", "--socket=" + self.path("munge.socket"), "--key-file=" + self.path("munge.key"),
                              "--pid-file=" + self.path("munged.pid"), "--log-file=" + self.path("log", "munged.log"), "--seed-file=" +
                              self.path("munged.seed"), "--num-threads=2"])
        self.wait("munged", lambda: os.path.exists(self.path("munge.socket")), 10)
        self.start_slurmctld()

    def start_slurmctld(self):
        self.spawn("slurmctld", ["slurmctld", "-D", "-f", self.path("slurm.conf")])
        self.wait("slurmctld", lambda: self.run("scontrol", "ping").returncode == 0 and
                  "UP" in self.run("scontrol", "ping").stdout, 20)

    def end(self, name, sig=signal.SIGTERM, seconds=15):
        p = self.children.pop(name)
        if p.poll() is None:
            p.send_signal(sig)
        try:
            return p.wait(seconds)
        except subprocess.TimeoutExpired:
            p.kill()
            return p.wait()

    def run(self, *command, check=False):
        r = subprocess.run(command, capture_output=True, text=True, env=self.env, cwd=self.dir, timeout=60)
        if check and r.returncode:
            raise SystemExit("%s: %s%s" % (" ".join(command), r.stdout, r.stderr))
        return r

    def farthing(self, *args, check=True):
        return self.run(os.path.join(self.build, "farthing"), *args, check=check)

    def ask(self, *args):
        return json.loads(self.farthing(*args, "--socket", self.path("farthingd.sock"), "--format", "json").stdout)

    def wait(self, what, is_so, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if is_so():
                return
            time.sleep(0.2)
        self.show()
        raise SystemExit("waited %d s in vain for: %s" % (seconds, what))

    def show(self):
        for name in sorted(os.listdir(self.path("log"))):
            with open(self.path("log", name), errors="replace") as f:
                tail = f.readlines()[-25:]
            print("---- %s\n%s" % (name, "".join(tail)), file=sys.stderr)
        for command in (["squeue", "-r", "-o", "%i %T %r %Q %N %E"], ["sinfo", "-N", "-o", "%N %T %E"]):
            print(self.run(*command).stdout, file=sys.stderr)

    # ---- farthingd ----

    def configure(self, policy, faults=""):
        self.write("farthing.yaml", """cluster: rig
policy: %s
catalog: %s
state: %s
workload:
  driver: slurm
  poll: 500ms
  config:
    conf: %s
    spool: %s
    poll: 500ms
capacity:
  driver: local
  config:
    acquire: 200ms
    boot: 500ms
    command: [%s, -D, -N, "{node}", -f, %s]
%sapi:
  socket: %s
""" % (policy, self.path("catalog.txt"), self.path("daemon"), self.path("slurm.conf"), self.path("power"),
       shutil.which("slurmd", path=self.env["PATH"]), self.path("slurm.conf"), faults, self.path("farthingd.sock")))

    def start_farthingd(self):
        self.spawn("farthingd", [os.path.join(self.build, "farthingd"), "--config", self.path("farthing.yaml")])

    # ---- jobs ----

    def submit(self, n, seconds=1, *more):
        """A job that leaves a mark each time it ends well."""
        wrap = "sleep %s; echo done >>%s" % (seconds, self.path("marks", "%s.${SLURM_ARRAY_TASK_ID:-0}" % n))
        return self.run("sbatch", "--parsable", "-o", "/dev/null", "-J", "job%s" % n, "--wrap", wrap, *more, check=True).stdout.strip()

    def marks(self):
        found = {}
        for name in os.listdir(self.path("marks")):
            with open(self.path("marks", name)) as f:
                found[name] = len(f.readlines())
        return found

    def close(self):
        for name in [n for n in ("farthingd", "slurmctld") if n in self.children]:
            self.end(name)
        for name in [n for n in self.children if n != "munged"]:
            self.end(name)
        self.end_leftovers()
        if "munged" in self.children:
            self.end("munged")
        shutil.rmtree(self.dir, ignore_errors=True)

    def leftovers(self):
        """Processes that name our directory, on their command line or in their environment: slurmd and its steps, runners, drivers."""
        found = []
        ours = {p.pid for p in self.children.values()} | {os.getpid()}
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            for name in ("cmdline", "environ"):
                try:
                    with open("/proc/%d/%s" % (pid, name), "rb") as f:
                        if self.dir.encode() in f.read() and pid not in ours and pid not in found:
                            found.append(pid)
                except OSError:
                    pass
        return found

    def end_leftovers(self):
        for _ in range(3):  # what ends may have started something
            for pid in self.leftovers():
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            time.sleep(0.2)
