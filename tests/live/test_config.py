#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A configuration that is wrong is refused with file and line before anything starts."""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from live import *

tmp = tempfile.mkdtemp(prefix="farthing-config-")
path = os.path.join(tmp, "farthing.yaml")
GOOD = f"""cluster: c
state: {tmp}/state
policy: stratus
catalog: |
  farthing-catalog 1
  type a holds=cpu:1
  offer a price=1
workload:
  driver: process
capacity:
  driver: local
  config:
    boot: 1s
"""


def run(text, *args):
    if isinstance(text, str):
        text = text.encode()
    with open(path, "wb") as f:
        f.write(text)
    return subprocess.run([FARTHINGD, "--config", path, *args], capture_output=True, text=True, timeout=30 * SLOW)


def refuses(text, line, words):
    r = run(text)
    where = f"{path}:{line}:" if line else path
    check(r.returncode == 2, f"exit code {r.returncode}, not 2, for {words}: {r.stderr}")
    check(where in r.stderr and words in r.stderr, f"'{where} ... {words}' is not in: {r.stderr}")
    check(not os.path.exists(f"{tmp}/state"), "nothing has started")
    r = run(text, "--check")
    check(r.returncode == 2 and where in r.stderr and words in r.stderr, f"--check says so too: {r.returncode} {r.stderr}")


def swap(old, new):
    check(old in GOOD, old)
    return GOOD.replace(old, new)


try:
    r = run(GOOD, "--check")
    check(r.returncode == 0 and "cluster c" in r.stdout, f"the good one is good: {r.stderr}")
    refuses(GOOD + "nonsense: 1\n", 14, "unknown key 'nonsense'")
    refuses(swap("  driver: local", "  driver: local\n  drover: x"), 12, "unknown key 'drover'")
    refuses(swap("cluster: c", "cluster: [c]"), 1, "a text is needed")
    refuses(swap("cluster: c", "cluster: a/b"), 1, "letters, digits")
    refuses(GOOD + "decide_limit: soon\n", 14, "a duration is needed")
    refuses(GOOD + "limits: {usd_per_hour: -1}\n", 14, "dollars are needed")
    refuses(GOOD + "limits:\n  moves_per_hour: many\n", 15, "a whole number is needed")
    refuses(GOOD + "limits:\n  disturbed: 120%\n", 15, "a share is needed")
    refuses(GOOD + "log: {level: loud}\n", 14, "one of debug, info, warn, error")
    refuses(GOOD + "workload:\n  driver: slurm\n", 14, "given twice, first on line 8")
    refuses(swap("driver: process", "driver: [process, slurm]"), 9, "one driver a role")
    refuses(swap("driver: process", "driver: local"), 9, "is for capacity, not for workload")
    refuses(swap("driver: local", "driver: locl"), 11, "unknown driver 'locl'")
    refuses(swap("driver: local", "driver: /no/such/program"), 11, "No such file")
    refuses(swap("policy: stratus", "policy: stratos"), 3, "stratos")
    refuses(swap("policy: stratus", "policy: {name: eva, rond: 5s}"), 3, "rond")
    refuses(GOOD + "profile: no-such-file\n", 14, "No such file")
    refuses(GOOD + "api:\n  tls_key: no-such-file\n", 15, "No such file")
    refuses(swap("cluster: c", "cluster: &x c"), 1, "anchors and aliases are not taken")
    refuses(GOOD + "retry: {first: 10s, most: 1s}\n", 14, "longer than 'most'")
    refuses(GOOD + "api:\n  users: [no-such-user-here]\n", 15, "no user no-such-user-here")
    refuses(GOOD + "api:\n  listen: 127.0.0.1:4000\n", 15, "token_file")
    refuses(GOOD + "api:\n  max_body: 4096\n  listen: 127.0.0.1:99999\n", 16, "ADDRESS:PORT")
    refuses(GOOD + "api:\n  listen: 0.0.0.0:4000\n", 15, "not on loopback")
    refuses(GOOD + "a: 1\nb: *x\n", 15, "aliases are not taken")
    refuses(GOOD + "x: [1, 2\n", None, "")
    refuses("", 1, "empty")
    refuses("just words\n", 1, "keys and values")
    refuses(GOOD + "---\ntwo: 2\n", 14, "one document")
    refuses("x: " + "[" * 100 + "]" * 100, 1, "nested")
    refuses(b"cluster: \xff\xfe\n", None, "")
    refuses("cluster: c\n" * 2, 2, "given twice")
    for key in ("cluster", "policy", "catalog", "workload", "capacity"):
        lines, out = GOOD.split("\n"), []
        for text in lines:
            skip = text.startswith(key) or (out and out[-1] is None and text.startswith(" "))
            out.append(None if skip else text)
        refuses("\n".join(t for t in out if t is not None), 1, f"'{key}' is missing")
    os.remove(path)
    r = subprocess.run([FARTHINGD, "--config", path], capture_output=True, text=True)
    check(r.returncode == 2 and path in r.stderr, f"a missing file: {r.stderr}")
    # A driver's own settings are the driver's to judge; the line is found all the same.
    refuses(swap("    boot: 1s", "    boot: 1s\n    boat: 2s"), 14, "unknown key 'boat'")
    refuses(swap("    boot: 1s", "    boot: many"), 13, "")
    refuses(swap("offer a price=1", "offer b price=1"), 7, "")
    for args, words in ((["--nonsense"], "--help"), (["extra"], "too much")):
        r = subprocess.run([FARTHINGD, *args], capture_output=True, text=True)
        check(r.returncode == 2 and words in r.stderr, f"{args}: {r.stderr}")
    r = subprocess.run([FARTHINGD, "--print-config"], capture_output=True, text=True)
    with open(path, "w") as f:
        f.write(r.stdout)
    r = subprocess.run([FARTHINGD, "--config", path, "--check"], capture_output=True, text=True)
    check(r.returncode == 0, f"the built-in configuration is one: {r.stderr}")
    print("ok")
finally:
    shutil.rmtree(tmp, ignore_errors=True)
