# SPDX-License-Identifier: Apache-2.0
"""The whole life of a payment with a real daemon in test mode: life.py SOCKET. A card lies on its reader.

Reserves, has more held, captures a part, releases the rest, refunds twice, and ends the day, blocking and with asyncio.
"""
import asyncio
import contextlib
import io
import pathlib
import re
import select
import socket
import socketserver
import sys
import tempfile
import threading
import time
import unittest
import uuid
from unittest import mock

import nfc_tap
import nfc_tap.wire
from nfc_tap.api.books import close_day, get_totals
from nfc_tap.api.operations import adjust_payment, capture_payment, list_operations, release_payment
from nfc_tap.api.state import get_status
from nfc_tap.api.transactions import create_transaction, get_transaction
from nfc_tap.models import (
    AdjustmentRequest, CaptureRequest, EndOfDayRequest, LinkedRefundRequest, LinkedRefundRequestType, Money, ReleaseRequest, Total)

SOCKET = sys.argv.pop() if len(sys.argv) > 1 else None


def euros(cents, kind=Total):
    return kind(value=cents, currency="EUR")


def key():
    return str(uuid.uuid4())


def refund(payment, cents):
    return LinkedRefundRequest(type_=LinkedRefundRequestType.REFUND, of=payment.id, amount=euros(cents))


@contextlib.contextmanager
def losing(path, count):
    """A socket before the daemon's that carries out every request, and loses the answers to the first ones that begin a sale."""
    lost = []

    class Line(socketserver.BaseRequestHandler):
        def handle(self):
            begins = False
            with socket.socket(socket.AF_UNIX) as daemon:
                daemon.connect(SOCKET)
                while True:
                    for side in select.select([self.request, daemon], [], [])[0]:
                        data = side.recv(65_536)
                        if not data:
                            return
                        if side is self.request:
                            # A request comes in one piece or in two.
                            begins = data.startswith(b"POST /v1/transactions ") or begins and not data.startswith(b"GET ")
                            daemon.sendall(data)
                        elif begins and len(lost) < count:
                            lost.append(data)
                            return
                        else:
                            self.request.sendall(data)

    with socketserver.ThreadingUnixStreamServer(path, Line) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield lost
        finally:
            server.shutdown()


@contextlib.contextmanager
def gateway(*first):
    """An address before the daemon's socket, of a gateway or a proxy that gives the first calls these answers, of status, media type and
    body, and no others of its own; and all heads that it got."""
    heads = []

    class Line(socketserver.BaseRequestHandler):
        def handle(self):
            with socket.socket(socket.AF_UNIX) as daemon:
                daemon.connect(SOCKET)
                while True:
                    for side in select.select([self.request, daemon], [], [])[0]:
                        if not (data := side.recv(65_536)):
                            return
                        if side is daemon:
                            self.request.sendall(data)
                            continue
                        if b" HTTP/1.1\r\n" in data:
                            heads.append(data.split(b"\r\n\r\n")[0].decode())
                        if len(heads) <= len(first):
                            status, kind, body = first[len(heads) - 1]
                            self.request.sendall((f"HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
                                                  f"Connection: close\r\n\r\n{body}").encode())
                            return
                        daemon.sendall(data)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Line) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", heads
        finally:
            server.shutdown()


AWAY = 502, "application/json", \
    '{"error":{"code":"daemon.unavailable","message":"m","resolution":"r","retryable":true,"who":"administrator","docs":"d"}}'
#: What nginx, haproxy, Apache and lighttpd say where the gateway is away or late, and what a page of maintenance says.
PROXIES = tuple((status, "text/html", f"<html><body><h1>{status}</h1></body></html>") for status in (502, 503, 504, 500, 408, 429, 200))


class Life(unittest.TestCase):
    def setUp(self):
        self.tap = nfc_tap.connect(SOCKET)
        self.addCleanup(self.tap.close)

    def account(self, payment):
        account = self.tap(get_transaction, payment.id).account
        return account.authorised, account.captured, account.released, account.refunded

    def test_a_payment_is_held_captured_released_and_refunded(self):
        tap = self.tap
        payment = tap.reserve(5_000, "EUR", order=f"room-{key()[:8]}")
        self.assertEqual("approved", payment.state)
        more = tap(adjust_payment, payment.id, body=AdjustmentRequest(total=euros(6_000)), idempotency_key=key(), prefer="wait=25")
        self.assertEqual("done", more.state)
        part = tap(
            capture_payment, payment.id, body=CaptureRequest(amount=euros(2_000), final=False), idempotency_key=key(),
            prefer="wait=25")
        self.assertEqual(("done", "capture"), (part.state, part.kind))
        rest = tap(release_payment, payment.id, body=ReleaseRequest(), idempotency_key=key(), prefer="wait=25")
        self.assertEqual("done", rest.state)
        self.assertEqual((6_000, 2_000, 4_000, 0), self.account(payment))
        for cents in (500, 700):
            back = tap(create_transaction, body=refund(payment, cents), idempotency_key=key(), prefer="wait=25")
            self.assertEqual("approved", back.state)
        self.assertEqual((6_000, 2_000, 4_000, 1_200), self.account(payment))
        self.assertEqual(3, len(tap(list_operations, payment.id).operations))
        with self.assertRaises(nfc_tap.TapError) as refused:
            tap(create_transaction, body=refund(payment, 801), idempotency_key=key())
        self.assertEqual(("refund.too_much", 422, False), (
            refused.exception.code, refused.exception.status, refused.exception.retryable))

    def test_a_sale_that_is_asked_for_again_under_its_key_is_one_sale(self):
        mine = key()
        first = self.tap.pay(1_250, "EUR", key=mine, order=f"A-{mine[:8]}")
        again = self.tap.pay(1_250, "EUR", key=mine, order=f"A-{mine[:8]}")
        self.assertEqual((first.id, "approved"), (again.id, again.state))
        self.assertEqual(first.id, self.tap.find(mine).id)
        with self.assertRaises(nfc_tap.TapError) as unknown:
            self.tap.find(key())
        self.assertEqual("idempotency.key_unknown", unknown.exception.code)
        self.assertEqual("declined", self.tap.pay(1_251, "EUR").state)

    def test_events_come_in_order_and_go_on_behind_a_cursor(self):
        seen = []

        def follow():
            for event in self.tap.events(after=0):
                seen.append(event)
                if str(event.name) == "payment.approved" and event.transaction == sale.id:
                    return

        sale = self.tap.pay(300, "EUR")
        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        thread.join(30)
        numbers = [event.id for event in seen]
        self.assertEqual(("payment.approved", sale.id), (str(seen[-1].name), seen[-1].transaction))
        self.assertEqual(sorted(set(numbers)), numbers)
        later = next(self.tap.events(after=numbers[-2]))
        self.assertEqual(numbers[-1], later.id)

    def test_an_event_that_broke_off_is_asked_for_again(self):
        reader = nfc_tap.wire.EventReader(4)
        for line in ("id: 5", "event: read.cardDetected", 'data: {"id":5,'):
            self.assertIsNone(reader.feed(line))
        self.assertEqual("4", reader.begin()["headers"]["Last-Event-ID"])
        for line in ("id: 5", "event: read.cardDetected", 'data: {"id":5,"name":"read.cardDetected","at":"2026-11-23T12:00:00.000Z"}'):
            self.assertIsNone(reader.feed(line))
        self.assertEqual(5, reader.feed("").id)
        self.assertEqual("5", reader.begin()["headers"]["Last-Event-ID"])

    def test_an_older_daemon_gives_the_events_that_it_has(self):
        reader = nfc_tap.wire.EventReader(4)
        asked = []
        for status in (400, 400, 503, 200):
            asked.append(reader.begin()["params"])
            self.assertEqual(status == 200, reader.answered(status))
        self.assertEqual([{"vocabulary": "3"}, {"vocabulary": "2"}, {}, {}], asked)
        # Whoever answers next may be a newer one.
        self.assertEqual({"vocabulary": "3"}, reader.begin()["params"])
        with self.assertRaises(nfc_tap.TapError):
            reader.answered(403)

    def test_the_day_ends_with_its_sums(self):
        self.tap.pay(400, "EUR")
        totals = self.tap(get_totals)
        self.assertTrue(totals.to_dict())
        day = self.tap(close_day, body=EndOfDayRequest(), idempotency_key=key())
        self.assertTrue(day.to_dict()["day"])

    def test_a_sale_whose_answers_are_lost_is_asked_for_again_and_charged_once(self):
        mine = key()
        with tempfile.TemporaryDirectory() as folder, losing(f"{folder}/pos.sock", 2) as lost:
            with nfc_tap.connect(f"{folder}/pos.sock") as tap:
                sale = tap.pay(1_600, "EUR", key=mine, order=f"L-{mine[:8]}")
        self.assertEqual("approved", sale.state)
        self.assertEqual(2, len(lost))
        self.assertEqual(sale.id, self.tap.find(mine).id)

    def test_a5_a_queue_that_is_full_is_waited_for(self):
        turns = []

        def full(error):
            turns.append(error)
            return nfc_tap.wire.is_full(error)

        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as door, socket.socket(socket.AF_UNIX) as first:
            door.bind(f"{folder}/pos.sock")
            door.listen(0)
            first.connect(f"{folder}/pos.sock")

            def serve():
                while len(turns) < 3:
                    time.sleep(0.01)
                door.accept()[0].close()
                near, _ = door.accept()
                with near, socket.socket(socket.AF_UNIX) as daemon:
                    daemon.connect(SOCKET)
                    while True:
                        for side in select.select([near, daemon], [], [])[0]:
                            if not (data := side.recv(65_536)):
                                return
                            (daemon if side is near else near).sendall(data)

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            with mock.patch("nfc_tap.tap.is_full", full), mock.patch("nfc_tap.tap.TURNS", 120.0):
                with nfc_tap.connect(f"{folder}/pos.sock") as tap:
                    self.assertEqual("test", str(tap(get_status).mode))
            thread.join()
        self.assertGreaterEqual(len(turns), 3)
        self.assertFalse(nfc_tap.wire.is_full(ConnectionRefusedError()))

    def test_the_example_of_the_readme_pays(self):
        text = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
        example = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1].replace("A-17", f"A-{key()[:8]}")
        self.assertLessEqual(len(example.splitlines()), 12)
        said = io.StringIO()
        with mock.patch("nfc_tap.wire.socket_path", lambda: SOCKET), contextlib.redirect_stdout(said):
            exec(compile(example, "README.md", "exec"), {})
        self.assertRegex(said.getvalue(), r"^Visa .*0010 paid$")

    def test_a_daemon_that_is_away_is_told_as_such(self):
        with nfc_tap.connect("/nowhere/pos.sock") as nobody, self.assertRaises(nfc_tap.TapError) as away:
            nobody(get_status)
        self.assertEqual(("client.unreachable", True), (away.exception.code, away.exception.retryable))

    def test_t50_a_till_behind_a_gateway_sends_its_token_and_takes_no_answer_of_a_proxy_for_the_daemons(self):
        with gateway(AWAY, AWAY, *PROXIES) as (address, heads), nfc_tap.connect(gateway=address, token="nt1.bar-1.secret") as tap:
            sale = tap.pay(1_700, "EUR")
            self.assertEqual("approved", sale.state)
            self.assertEqual(sale.id, next(event for event in tap.events(after=0) if event.transaction == sale.id).transaction)
        self.assertTrue(all("Authorization: Bearer nt1.bar-1.secret" in head for head in heads), heads)
        self.assertGreater(len(heads), 2 + len(PROXIES))
        keys = {line for head in heads for line in head.splitlines() if line.lower().startswith("idempotency-key:")}
        self.assertEqual(1, len(keys))
        # Whoever sends elsewhere has carried out nothing.
        with gateway((302, "text/html", "moved")) as (elsewhere, heads), nfc_tap.connect(gateway=elsewhere, token="t") as tap:
            with self.assertRaises(nfc_tap.TapError) as moved:
                tap.pay(1_700, "EUR")
        self.assertEqual(("client.unexpected_answer", 1), (moved.exception.code, len(heads)))
        for wrong in ({"gateway": address}, {"token": "t"}, {"path": "/x", "gateway": address, "token": "t"}):
            with self.assertRaises(ValueError):
                nfc_tap.connect(**wrong)

    def test_the_same_with_asyncio(self):
        async def walk():
            async with nfc_tap.connect_async(SOCKET) as tap:
                status = await tap(get_status)
                payment = await tap.reserve(2_000, "EUR")
                done = await tap(
                    capture_payment, payment.id, body=CaptureRequest(), idempotency_key=key(), prefer="wait=25")
                async for event in tap.events(after=0):
                    if event.transaction == payment.id:
                        break
                return str(status.mode), str(done.state)

        self.assertEqual(("test", "done"), asyncio.run(walk()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
