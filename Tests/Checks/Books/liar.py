# SPDX-License-Identifier: Apache-2.0
"""A payment service that lies, written from docs/openapi-psp.yaml and docs/integrating/protocol.md alone.

`Service` is the truth: what it has really booked. `Adapter` is what the daemon talks to: it books, forgets, contradicts,
delays, answers twice and restarts, as dice say that are thrown anew for every order. What it says first and in full about a
payment is true, for nobody could live with anything else: an approval is booked, a first refusal is not, and what it says it
has taken back it has taken back. Everything else may be wrong.
"""
import asyncio
import json
import os
import random


class Booking:
    def __init__(self, amount, kind):
        self.amount, self.kind, self.undone = amount, kind, False


class Service:
    """What is really charged, by the transaction's id."""

    def __init__(self):
        self.bookings, self.orders, self.unwanted = {}, {}, set()

    def book(self, id, amount, kind, order):
        self.orders[id] = order
        self.bookings.setdefault(id, []).append(Booking(dict(amount), kind))

    def undo(self, id):
        self.unwanted.add(id)
        for booking in self.bookings.get(id, []):
            booking.undone = True

    def charged(self, id):
        return [(b.amount["value"], b.amount["currency"]) for b in self.bookings.get(id, []) if not b.undone]


class Habits:
    """How often an adapter does what."""

    def __init__(self, dice, forgets_as_declared):
        self.declines = dice.choice([0.05, 0.15])
        # How many stand behind the socket, and whether they know of each other's keys.
        self.replicas = dice.choice([1, 1, 2])
        self.has_common_store = not forgets_as_declared or dice.random() < 0.5
        # Only who says so may forget: a key that is kept by its word makes a second sending harmless.
        self.forgets = forgets_as_declared
        self.key_life = 0 if forgets_as_declared else None
        # To a reversal of what it does not know: done, by its books, or 404.
        self.knows_its_books = dice.random() < 0.5

    def __str__(self):
        return ", ".join(f"{name} {value}" for name, value in vars(self).items())


class Dropped(Exception):
    """The connection ends without a word."""


class Adapter:
    # (name, weight): what becomes of an answer on its way.
    ROADS = [
        ("whole", 4), ("lost", 4), ("torn", 2), ("500", 2), ("503", 1), ("page", 2), ("404", 1), ("408", 1), ("429", 1),
        ("running", 3), ("409", 1), ("late", 2), ("twice", 2), ("contrary", 2), ("unknown words", 2), ("empty", 1),
    ]

    def __init__(self, path, seed, habits, tell):
        self.path, self.seed, self.habits, self.tell = path, seed, habits, tell
        self.service, self.is_honest, self.server = Service(), False, None
        self.stores = [{} for _ in range(habits.replicas)]
        if habits.has_common_store:
            self.stores = [self.stores[0]] * habits.replicas
        self.bodies, self.counts, self.faults, self.connections, self.replaced = {}, {}, [], set(), 0
        # Whose answer did not get through, and what the daemon may not take back: the customer has the goods.
        self.doubted, self.offline = set(), set()
        self.pause = 1.5

    # The socket

    async def start(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.server = await asyncio.start_unix_server(self.serve, self.path)

    async def stop(self):
        server, self.server = self.server, None
        if server:
            server.close()
        for writer in list(self.connections):
            writer.transport.abort()
        if os.path.exists(self.path):
            os.unlink(self.path)

    async def restart(self, pause, forgets):
        """It dies, and what it had in memory with it."""
        if forgets:
            for store in self.stores:
                store.clear()
        self.replaced += 1
        await self.stop()
        await asyncio.sleep(pause)
        await self.start()

    async def serve(self, reader, writer):
        self.connections.add(writer)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ")
                fields = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                await self.answer(writer, method, target, fields, body)
        except (asyncio.IncompleteReadError, ConnectionError, Dropped, asyncio.CancelledError):
            pass
        finally:
            self.connections.discard(writer)
            writer.transport.abort()

    @staticmethod
    def message(status, body, kind="application/json"):
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n"
        return head.encode() + text

    async def answer(self, writer, method, target, fields, body):
        parts = target.strip("/").split("/")
        if parts == ["v1", "health"]:
            health = {"status": "ok", "protocolVersions": ["v1"], "supports": ["sale", "preauth", "refund", "verify"]}
            if self.habits.key_life is not None:
                health["keyLife"] = self.habits.key_life
            writer.write(self.message(200, health))
        elif parts[:2] != ["v1", "authorizations"]:
            writer.write(self.message(404, {}))
        elif method == "GET":
            await self.query(writer, parts[2])
        elif len(parts) == 4:
            await self.reverse(writer, parts[2], json.loads(body))
        else:
            await self.authorize(writer, fields.get("idempotency-key"), body)
        await writer.drain()

    def throw(self, id, call):
        """Dice of this call for this order: the same for the same seed, whoever comes first."""
        order = self.service.orders.get(id, id)
        count = self.counts[order, call] = self.counts.get((order, call), 0) + 1
        return order, random.Random(f"{self.seed}/{order}/{call}/{count}")

    def lies(self, order, dice):
        """Orders have better and worse days."""
        mood = random.Random(f"{self.seed}/{order}/mood").choice([0, 0.1, 0.3, 0.5, 0.8])
        return not self.is_honest and dice.random() < mood

    # Authorisations

    async def authorize(self, writer, id, body):
        request = json.loads(body)
        self.service.orders.setdefault(id, request.get("order", id))
        if request["offline"]:
            self.offline.add(id)
        order, dice = self.throw(id, "authorize")
        if request["id"] != id:
            self.faults.append(f"{order}: key {id} for the transaction {request['id']}")
        if self.bodies.setdefault(id, body) != body:
            self.faults.append(f"{order}: {id} was sent again with another body")
        store = self.stores[dice.randrange(len(self.stores))]
        if id in store:
            return await self.repeat(writer, order, id, store[id], dice)
        if id in self.service.unwanted:
            self.tell(order, "adapter: declines what was reversed before it came")
            return writer.write(self.message(200, {"outcome": "declined", "responseCode": "94"}))
        if self.lies(order, dice):
            what = dice.choice(["loses", "loses", "fails", "refuses", "stuck"])
            self.tell(order, f"adapter: {what} the authorisation")
            if what == "loses":
                raise Dropped
            if what == "fails":
                return writer.write(self.message(dice.choice([500, 502, 503, 429, 408]), {}))
            if what == "refuses":
                return writer.write(self.message(dice.choice([400, 401, 403, 413, 422]), {}))
            # In its socket until long after anybody waits.
            await asyncio.sleep(self.pause + dice.random())
            if id in self.service.unwanted or id in store:
                raise Dropped
        answer = self.decide(order, request, dice)
        store[id] = answer
        if answer["outcome"] in ("approved", "partial"):
            amount = answer.get("amountApproved") or request["amount"]
            self.service.book(id, amount, request["type"], order)
        self.tell(order, f"adapter: {answer['outcome']} {answer.get('amountApproved', '')} {answer['responseCode']}")
        await self.send(writer, order, id, answer, dice)

    def decide(self, order, request, dice):
        reference = f"REF-{request['id'][-12:]}"
        if dice.random() < self.habits.declines:
            return {"outcome": "declined", "responseCode": dice.choice(["05", "51", "91"])}
        answer = {"outcome": "approved", "responseCode": "00", "pspReference": reference}
        value, currency = request["amount"]["value"], request["amount"]["currency"]
        if value > 1 and dice.random() < 0.05:
            return answer | {"outcome": "partial", "amountApproved": {"value": value // 2, "currency": currency}}
        if value and self.lies(order, dice) and dice.random() < 0.2:
            # Nothing that anybody asked for: it is to be asked about, and taken back.
            return answer | dice.choice([
                {"amountApproved": {"value": 100 * value, "currency": currency}},
                {"amountApproved": {"value": 1, "currency": currency}},
                {"amountApproved": {"value": value, "currency": "JPY"}},
                {"responseCode": "51"},
                {"outcome": "partial"},
                {"outcome": "partial", "amountApproved": {"value": value + 1, "currency": currency}},
                {"outcome": "partial", "amountApproved": {"value": -value, "currency": currency}},
            ])
        return answer

    async def repeat(self, writer, order, id, answer, dice):
        if answer["outcome"] != "declined" and self.lies(order, dice):
            # Its own record is a replay to it, though it has booked the payment.
            status = dice.choice([400, 401, 403, 413, 422, 200])
            self.tell(order, f"adapter: refuses with {status} what it has booked")
            return writer.write(self.message(status, {"outcome": "declined", "responseCode": "94"}))
        self.tell(order, "adapter: gives the answer of this key again")
        await self.send(writer, order, id, answer, dice)

    async def send(self, writer, order, id, answer, dice):
        road = "whole"
        if self.lies(order, dice):
            road = dice.choices([name for name, _ in self.ROADS], [weight for _, weight in self.ROADS])[0]
        if road != "whole":
            self.tell(order, f"adapter: its answer is {road}")
        if road not in ("whole", "twice", "contrary", "unknown words", "running", "409"):
            self.doubted.add(id)
        text = self.message(200, answer)
        if road == "lost":
            raise Dropped
        if road == "torn":
            writer.write(text[:dice.randrange(1, len(text))])
            await writer.drain()
            raise Dropped
        if road in ("500", "503", "404", "408", "429"):
            text = self.message(int(road), {})
        if road == "page":
            text = self.message(200, b"<html>Welcome</html>", "text/html")
        if road == "empty":
            text = self.message(200, b"")
        if road == "running":
            text = self.message(*dice.choice([(202, {}), (200, {"outcome": "pending"})]))
        if road == "409":
            text = self.message(409, {})
        if road == "unknown words":
            text = self.message(200, answer | {"action": "dance", "novelty": [1, {"a": None}]})
        if road == "late":
            await asyncio.sleep(self.pause + dice.random())
        if road == "twice":
            text += text
        if road == "contrary":
            # Another answer right behind, for whoever reads the next one from this connection.
            other = "declined" if answer["outcome"] != "declined" else "approved"
            text += self.message(200, {"outcome": other, "responseCode": "00" if other == "approved" else "05"})
        writer.write(text)

    # Questions

    async def query(self, writer, id):
        order, dice = self.throw(id, "query")
        answer = self.stores[dice.randrange(len(self.stores))].get(id)
        if not self.lies(order, dice):
            self.tell(order, f"adapter: asked, says {answer['outcome'] if answer else 404}")
            return writer.write(self.message(200, answer) if answer else self.message(404, {}))
        what = dice.choice([404, 404, 500, 400, 403, "pending", "page", "lost", "declined"])
        # A first word that declines has to be true.
        if what == "declined" and (id not in self.doubted or id in self.offline):
            what = 404
        self.tell(order, f"adapter: asked, lies {what}")
        if what == "lost":
            raise Dropped
        if what == "page":
            return writer.write(self.message(200, b"<html>", "text/html"))
        if what in ("pending", "declined"):
            return writer.write(self.message(200, {"outcome": what, "responseCode": "05"}))
        writer.write(self.message(what, {}))

    # Reversals

    async def reverse(self, writer, id, request):
        order, dice = self.throw(id, "reverse")
        is_known = any(id in store for store in self.stores)
        what = "done"
        if self.lies(order, dice):
            what = dice.choice([404, 500, 400, 409, "lost", "page", "empty", "done and lost"])
        elif id in self.service.bookings and not is_known and not self.habits.knows_its_books:
            what = 404
        self.tell(order, f"adapter: reversal of {request.get('amount')} {request.get('pspReference')}: {what}")
        if what in ("done", "done and lost"):
            self.service.undo(id)
        if what in ("lost", "done and lost"):
            raise Dropped
        if what == "page":
            return writer.write(self.message(200, b"<html>", "text/html"))
        if what == "empty":
            return writer.write(self.message(200, b""))
        if what == "done":
            return writer.write(self.message(dice.choice([200, 202]), {"status": dice.choice(["done", "queued"])}))
        writer.write(self.message(what, {}))
