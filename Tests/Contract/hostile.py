# SPDX-License-Identifier: Apache-2.0
"""What only a bad client sends, on the live socket: each gets the documented answer, and the daemon goes on.

hostile.py POS-SOCKET
"""
import json
import socket
import sys
import time

PATH = sys.argv[1]
POST = (
    b"POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Idempotency-Key: hostile\r\nContent-Length: %d\r\n\r\n"
)


def answer(connection, data=b""):
    """Status and error code of the next answer, read to the end of its body."""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return None, None
        data += chunk
    head, body = data.split(b"\r\n\r\n", 1)
    lines = head.decode("ascii").split("\r\n")
    length = next(int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:"))
    while len(body) < length:
        chunk = connection.recv(65536)
        assert chunk, "answer was cut off"
        body += chunk
    body = json.loads(body[:length])
    return int(lines[0].split(" ")[1]), body.get("error", {}).get("code")


def connect():
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(15)
    connection.connect(PATH)
    return connection


def send(data, half_close=False):
    with connect() as connection:
        try:
            connection.sendall(data)
        except BrokenPipeError:
            pass
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        return answer(connection)


def second(data):
    """Two requests at once: the first is served, and the answer to the other one is looked at."""
    with connect() as connection:
        connection.sendall(data)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
        assert received.startswith(b"HTTP/1.1 200 "), received[:40]
        return answer(connection, received[received.index(b"HTTP/1.1 ", 9) :])


def drip(data):
    """A byte every quarter of a second, until the daemon has had enough."""
    with connect() as connection:
        for byte in data:
            try:
                connection.sendall(bytes([byte]))
            except BrokenPipeError:
                break
            time.sleep(0.25)
            connection.setblocking(False)
            try:
                if connection.recv(1, socket.MSG_PEEK):
                    break
            except BlockingIOError:
                pass
            finally:
                connection.settimeout(15)
        return answer(connection)


def post(body):
    return POST % len(body) + body


DEEP = b'{"type":"purchase","amount":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}"
STATUS = b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n"
CASES = [
    ("a head over 16 KiB", lambda: send(STATUS + b"X: " + b"a" * 20_000 + b"\r\n\r\n"), 431, "request.head_too_large"),
    ("a body over 64 KiB", lambda: send(post(b" " * 70_000)), 413, "request.body_too_large"),
    ("a slow head", lambda: drip(STATUS + b"X: " + b"a" * 100), 408, "request.too_slow"),
    ("a head that ends in the middle", lambda: send(STATUS[:20], True), 400, "request.incomplete"),
    ("a body that ends in the middle", lambda: send(post(b"{}")[:-1], True), 400, "request.incomplete"),
    ("a client that has said all it will", lambda: send(STATUS + b"\r\n", True), 200, None),
    ("a second request behind the first", lambda: second((STATUS + b"\r\n") * 2), 400, "request.pipelined"),
    ("a transfer encoding", lambda: send(STATUS + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 411, "request.transfer_encoding"),
    ("a body that is not UTF-8", lambda: send(post(b'{"type":"\xff\xfe"}')), 400, "request.malformed_json"),
    ("a body of zeros", lambda: send(post(b"\0" * 100)), 400, "request.malformed_json"),
    ("JSON 10,000 levels deep", lambda: send(post(DEEP)), 400, "request.malformed_json"),
    ("noise", lambda: send(bytes(range(256)) * 8 + b"\r\n\r\n"), 501, "request.method_unknown"),
    ("a control character in the path", lambda: send(b"GET /v1/%0Astatus HTTP/1.1\r\nHost: x\r\n\r\n"), 400, "request.invalid_target"),
    ("a path that is not UTF-8", lambda: send(b"GET /v1/%ff HTTP/1.1\r\nHost: x\r\n\r\n"), 400, "request.invalid_target"),
    ("a target without a slash", lambda: send(b"GET v1/status HTTP/1.1\r\n\r\n"), 400, "request.malformed"),
    ("two lengths", lambda: send(STATUS + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400, "request.malformed"),
]

failed = False
for name, play, status, code in CASES:
    found = play()
    fine = found == (status, code)
    failed |= not fine
    print(f"{'ok ' if fine else 'BAD'} {name}: {found[0]} {found[1] or ''}" + ("" if fine else f", not {status} {code}"))
assert send(STATUS + b"\r\n") == (200, None), "the daemon does not answer any more"
sys.exit(failed)
