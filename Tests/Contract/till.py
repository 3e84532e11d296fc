# SPDX-License-Identifier: Apache-2.0
"""A till and its customers, for the contract's test: real transactions for calls that need one."""
import http.client
import json
import socket
import threading
import time
import uuid


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(path, method, target, body=None, **headers):
    """Status and JSON of one answer of the server at a Unix socket."""
    connection = Connection(path)
    try:
        data = json.dumps(body) if body is not None else ""
        if data:
            headers["Content-Type"] = "application/json"
        connection.request(method, target, data, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or "null")
    finally:
        connection.close()


def obey(control, command):
    """One command to a virtual reader."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as reader:
        reader.settimeout(10)
        reader.connect(control)
        reader.sendall(command.encode() + b"\n")
        return reader.recv(4096).decode().strip()


class Till:
    def __init__(self, socket_path, control, card):
        self.path, self.control, self.card = socket_path, control, card

    def sale(self, value=500, **more):
        """A payment with a card that is there, at its end."""
        return self.tap({"type": "purchase", "amount": {"value": value, "currency": "EUR"}, **more})

    def stored_card(self):
        """A card that was just stored, with what its holder agreed to."""
        agreement = {"kind": "recurring", "text": "I agree.", "language": "en"}
        return self.tap({"type": "verification", "reason": "saveCard", "currency": "EUR", "agreement": agreement})["credential"]

    def tap(self, request):
        """A transaction with a card that is there, at its end."""
        body = {"lane": "lane-3", "deadline": 20, **request}
        for _ in range(100):
            obey(self.control, f"present {self.card}")
            try:
                status, answer = ask(
                    self.path, "POST", "/v1/transactions", body, Idempotency_Key=str(uuid.uuid4()), Prefer="wait=20")
            finally:
                obey(self.control, "remove")
            if status == 201:
                return answer
            # Somebody else's transaction has the lane, for a second.
            assert answer["error"]["code"] == "reader.busy", answer
            time.sleep(0.1)
        raise AssertionError("the till's lane was never free")

    def capture(self):
        """A capture about which the payment service has not decided yet."""
        held = self.sale(amountStatus="preauthorized")["id"]
        status, answer = ask(
            self.path, "POST", f"/v1/transactions/{held}/captures", {"amount": {"value": 98, "currency": "EUR"}, "final": False},
            Idempotency_Key=str(uuid.uuid4()))
        assert status == 202, answer
        return answer

    def day_end(self):
        """A day that was just closed."""
        status, answer = ask(self.path, "POST", "/v1/days", {}, Idempotency_Key=str(uuid.uuid4()))
        assert status == 201, answer
        return answer

    def differing_day(self):
        """A day that was just closed, with a sale that the sandbox has lost."""
        self.sale(value=531)
        status, answer = ask(self.path, "POST", "/v1/days", {}, Idempotency_Key=str(uuid.uuid4()), Prefer="wait=20")
        assert status == 201 and answer["day"]["state"] == "differs", answer
        return answer

    def open_item(self):
        """The oldest open item, if there is one."""
        _, listed = ask(self.path, "GET", "/v1/open-items")
        return listed["items"][0]["transaction"] if listed["items"] else None

    def open_batch(self):
        """The open batch of the queue, opened where there is none; a sale goes into it."""
        _, queue = ask(self.path, "GET", "/v1/queue")
        if "openBatch" in queue:
            return ask(self.path, "GET", f"/v1/queue/batches/{queue['openBatch']}")[1]
        self.sale()
        return ask(self.path, "POST", "/v1/queue/batches", {"size": 2})[1]


class Machine:
    """What stands at a lane that stands alone, and has customers."""

    def __init__(self, path, lane):
        self.path, self.lane = path, lane

    @property
    def is_there(self):
        """Whether the lane stands alone."""
        return ask(self.path, "GET", f"/v1/lanes/{self.lane}/standing")[0] == 200

    def session(self, is_claimed):
        """A session that was just offered, or that was claimed."""
        for _ in range(300):
            _, listed = ask(self.path, "GET", f"/v1/sessions?open=true&lane={self.lane}")
            for session in listed["sessions"]:
                if session["state"] == "offered":
                    if is_claimed:
                        status, answer = self.call(session["id"], "claim", {"reference": session["id"]})
                        assert status == 200, answer
                    return session["id"]
            # Room for the next customer.
            for session in listed["sessions"]:
                if session["state"] == "open":
                    self.call(session["id"], "release")
            time.sleep(0.1)
        raise AssertionError("nobody came to the machine")

    def call(self, session, call, body=None):
        return ask(self.path, "POST", f"/v1/sessions/{session}/{call}", body)


def customers(controls, card):
    """People who come to these readers without an end, each for a moment."""

    def come_and_go():
        while True:
            for command, pause in ((f"present {card}", 0.2), ("remove", 0.1)):
                for control in controls:
                    try:
                        obey(control, command)
                    except OSError:
                        return
                time.sleep(pause)

    threading.Thread(target=come_and_go, daemon=True).start()
