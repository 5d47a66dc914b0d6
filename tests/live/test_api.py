#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The API is closed to others, and nothing that comes over it is too long or too odd."""
import os
import pwd
import ssl
import sys

sys.path.insert(0, os.path.dirname(__file__))
from live import *


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


port = free_port()
nobody = pwd.getpwnam("nobody")
root = os.geteuid() == 0
c = Cluster(extra="")
token_file = os.path.join(c.dir, "token")
with open(token_file, "w") as f:
    f.write("a-secret-of-some-length\n")
os.chmod(token_file, 0o600)
base = open(c.config).read()


def configure(api):
    with open(c.config, "w") as f:
        f.write(base + f"api: {{{api}}}\n")


def refused_to_start(api, words):
    configure(api)
    r = subprocess.run([FARTHINGD, "--config", c.config], capture_output=True, text=True, timeout=20 * SLOW)
    check(r.returncode == 2 and words in r.stderr, f"{api}: {r.returncode} {r.stderr}")


def tcp(path, token=None, method="GET", body=None, raw=None):
    s = socket.create_connection(("127.0.0.1", port), timeout=10)
    try:
        if raw is None:
            head = f"{method} {path} HTTP/1.0\r\n" + (f"Authorization: Bearer {token}\r\n" if token else "")
            raw = (head + f"Content-Length: {len(body or '')}\r\n\r\n" + (body or "")).encode()
        try:
            s.sendall(raw)
        except OSError:
            pass
        out = b""
        while True:
            try:
                piece = s.recv(65536)
            except OSError:
                break
            if not piece:
                break
            out += piece
    finally:
        s.close()
    return int(out.split()[1]) if out.startswith(b"HTTP/1") else 0


def as_nobody(method, path, body=None):
    """The status that another user gets over the socket."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.setgid(nobody.pw_gid)
            os.setuid(nobody.pw_uid)
            try:
                c.ask(method, path, body)
                status = 200
            except Refused as e:
                status = e.status
            except OSError:
                status = 0
            os.write(w, str(status).encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    os.close(w)
    return int(os.read(r, 10) or b"-1")


try:
    user = "token_user: nobody, " if root else ""
    refused_to_start(f"{user}listen: '0.0.0.0:{port}', token_file: {token_file}", "not on loopback")
    refused_to_start(f"{user}listen: '127.0.0.1:{port}'", "token_file")
    refused_to_start(f"{user}listen: 'nonsense', token_file: {token_file}", "ADDRESS:PORT")
    refused_to_start("users: [no-such-user-here]", "no-such-user-here")
    if root:
        refused_to_start(f"listen: '127.0.0.1:{port}', token_file: {token_file}", "token_user")
    os.chmod(token_file, 0o644)
    refused_to_start(f"{user}listen: '127.0.0.1:{port}', token_file: {token_file}", "its owner's alone")
    os.chmod(token_file, 0o600)
    short = os.path.join(c.dir, "short")
    open(short, "w").write("x\n")
    os.chmod(short, 0o600)
    refused_to_start(f"{user}listen: '127.0.0.1:{port}', token_file: {short}", "at least 16 characters")

    configure(f"{user}listen: '127.0.0.1:{port}', token_file: {token_file}, max_body: 4096")
    os.chmod(c.dir, 0o755)
    c.start()
    os.chmod(c.state, 0o755)
    if root:
        check(as_nobody("GET", "/v1/jobs") == 403, "another user is refused")
        check(as_nobody("POST", "/v1/jobs", {"command": "true"}) == 403, "and cannot submit")
        check(as_nobody("GET", "/healthz") == 200, "but may ask whether we are well")
    good = "a-secret-of-some-length"
    check(tcp("/v1/jobs", good) == 200, "the token opens")
    for bad in (None, "", "a", "a-secret-of-some-lengtX", good + "x", good[:-1], "x" * 3000):
        check(tcp("/v1/jobs", bad) == 401, f"{bad!r} does not")
    check(tcp("/metrics") == 401 and tcp("/healthz") == 200, "nothing but health without it")
    check(tcp("/v1/nonsense", good) == 404 and tcp("/", good) == 404 and tcp("/v1/jobs/nosuch", good) == 404, "what is not there is not there")
    check(tcp("/v1/jobs", good, "DELETE") == 405, "other methods are refused")
    check(tcp("/v1/jobs", good, "POST", "x" * 5000) == 413, "a body that is too long is refused")
    chunked = f"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {good}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    chunked += b"".join(b"1000\r\n" + b"x" * 4096 + b"\r\n" for _ in range(4)) + b"0\r\n\r\n"
    check(tcp("", raw=chunked) == 413, "also in pieces")
    huge = f"POST /v1/jobs HTTP/1.0\r\nAuthorization: Bearer {good}\r\nContent-Length: 99999999999999999999\r\n\r\n".encode()
    check(tcp("", raw=huge) in (400, 413), "a length beyond numbers is refused")
    for body in ("", "nonsense", "[]", "5", '{"command": "a", "command": "b"}', '{"command": 5}', '{"tasks": [{"demand": "cpu:x"}], "command": "true"}', "[" * 3000,
                 '{"command": "true", "key": "../../etc"}', '{"command": "true", "uid": "root"}'):
        status = tcp("/v1/jobs", good, "POST", body)
        check(status == 400 or (status == 201 and "uid" in body), f"{body[:40]!r}: {status}")
    check(tcp("", raw=b"\x00\x01\x02\r\n\r\n") in (0, 400), "what is no request is refused")
    check(tcp("", raw=b"GET /" + b"a" * 200000 + b" HTTP/1.0\r\n\r\n") in (0, 400, 413, 414, 431), "a path without end is refused")
    if root:
        # What the token's holder submits runs as the user named for it, whatever the body says.
        out = os.path.join(c.dir, "whoami")
        open(out, "w").close()
        os.chmod(out, 0o666)
        check(tcp("/v1/jobs", good, "POST", json.dumps({"command": f"id -u >{out}", "uid": 0, "user": "root", "name": "who"})) == 201, "submitted")
        c.until(lambda: open(out).read().strip() == str(nobody.pw_uid), 20, "it runs as that user")
    c.stop()
    check(not os.path.exists(c.socket), "the socket goes with us")

    # Users who are named may use it; what is others' is not theirs to end.
    if root:
        configure("users: [nobody]")
        c.start()
        check(as_nobody("GET", "/v1/jobs") == 200, "a named user is let in")
        mine = c.submit("sleep 30", name="mine")
        c.until(lambda: any(j["job"] == mine for j in c.jobs()), 10, "there")
        check(as_nobody("POST", f"/v1/jobs/{mine}/cancel") == 403, "but cannot end another's job")
        check(as_nobody("POST", "/v1/pause") == 403 and as_nobody("POST", "/v1/drain") == 403, "nor give orders")
        c.post(f"/v1/jobs/{mine}/cancel")
        c.drained(30)
        c.stop()
    # TLS, where there is something to make a certificate with.
    if shutil.which("openssl"):
        pem = [os.path.join(c.dir, n) for n in ("key.pem", "cert.pem")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", pem[0], "-out", pem[1], "-days", "1", "-subj", "/CN=localhost"],
                       check=True, capture_output=True)
        configure(f"{user}listen: '0.0.0.0:{port}', token_file: {token_file}, tls_key: {pem[0]}, tls_certificate: {pem[1]}")
        c.start()
        context = ssl.create_default_context(cafile=pem[1])
        context.check_hostname = False
        with context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=10)) as s:
            s.sendall(f"GET /v1/status HTTP/1.0\r\nAuthorization: Bearer {good}\r\n\r\n".encode())
            check(b" 200 " in s.recv(15), "over TLS")
        check(tcp("/v1/status", good) != 200, "not in clear")
        c.stop()
    # The client over TCP.
    configure(f"{user}listen: '127.0.0.1:{port}', token_file: {token_file}")
    c.start()
    args = ["--url", f"http://127.0.0.1:{port}", "--token-file", token_file]
    r = subprocess.run([FARTHING, "jobs", "--format", "json", *args], capture_output=True, text=True)
    check(r.returncode == 0 and "farthing.jobs/1" in r.stdout, f"the client over TCP: {r.stderr}")
    r = subprocess.run([FARTHING, "jobs", *args[:2], "--token-file", short], capture_output=True, text=True)
    check(r.returncode == 2 and "token" in r.stderr, f"with a wrong token: {r.stderr}")
    r = subprocess.run([FARTHING, "jobs", "--socket", c.dir + "/nothing"], capture_output=True, text=True)
    check(r.returncode == 1 and "is farthingd running?" in r.stderr, f"nobody there: {r.returncode} {r.stderr}")
    c.stop()
    print("ok" if root else "ok (what needs other users is for root only)")
finally:
    c.close()
