# SPDX-License-Identifier: Apache-2.0
"""The same payment service asked for captures, adjustments, releases, refunds and charges, written from docs/openapi-psp.yaml. Here too
the first full word is true, and what a 4xx to a first request refuses is not carried out; everything else may be wrong."""
import asyncio
import json
import time

from ledger import maximum
from liar import Adapter, Dropped

CALLS = {"captures": "capture", "adjustments": "adjust", "releases": "release", "refunds": "refundLinked"}
SUPPORTS = ["sale", "preauth", "refund", "verify", "capture", "multicapture", "overcapture", "adjust", "extend", "release",
            "refundLinked", "charge"]
ROADS = [
    ("whole", 3), ("lost", 4), ("torn", 2), ("500", 2), ("503", 1), ("page", 1), ("408", 1), ("429", 1), ("running", 3),
    ("409", 1), ("late", 1), ("twice", 2), ("contrary", 2), ("unknown words", 1), ("empty", 1), ("422", 1),
    ("other amount", 2), ("other id", 2), ("other figures", 1),
]
CONTRARY = {"approved": "declined", "partial": "declined", "declined": "approved"}


class Account:
    """What the payment service holds, has paid out and taken back, of one payment."""

    def __init__(self, value, held):
        self.authorised, self.hold, self.captured = value, value if held else 0, 0 if held else value
        self.released, self.refunded, self.maximum = 0, 0, maximum(value) if held else None
        self.has_captures = False

    def figures(self):
        return {"currency": "EUR", "authorised": self.authorised, "captured": self.captured, "released": self.released,
                "refunded": self.refunded}


class Teller(Adapter):
    def __init__(self, path, seed, habits, tell, supports):
        super().__init__(path, seed, habits, tell)
        self.supports, self.accounts, self.carried_out, self.tokens, self.reads = supports, {}, {}, set(), {}
        self.words = [{} for _ in self.stores] if not habits.has_common_store else [{}] * len(self.stores)
        # Since when the daemon that runs now knows what is supported.
        self.known_since = None

    async def restart(self, pause, forgets):
        if forgets:
            for store in self.words:
                store.clear()
        await super().restart(pause, forgets)

    async def answer(self, writer, method, target, fields, body):
        parts = target.strip("/").split("/")
        if parts == ["v1", "health"]:
            health = {"status": "ok", "protocolVersions": ["v1"], "supports": self.supports}
            if self.habits.key_life is not None:
                health["keyLife"] = self.habits.key_life
            self.known_since = self.known_since or time.monotonic()
            writer.write(self.message(200, health))
        elif parts == ["v1", "charges"]:
            charge = json.loads(body)
            if charge["token"] not in self.tokens:
                self.faults.append(f"{charge['order']}: a charge of a card that was never named")
            await self.authorize(writer, fields.get("idempotency-key"), json.dumps(charge | {"type": "sale", "offline": False}).encode())
        elif parts[:2] == ["v1", "operations"] and method == "GET":
            await self.tell_of(writer, parts[2])
        elif len(parts) == 4 and parts[3] in CALLS:
            await self.operate(writer, parts[2], parts[3], fields.get("idempotency-key"), body)
        else:
            return await super().answer(writer, method, target, fields, body)
        await writer.drain()

    def decide(self, order, request, dice):
        answer = super().decide(order, request, dice)
        held = request["type"] == "preauth"
        amount = answer.get("amountApproved") or request["amount"]
        if "agreement" in request and "token" not in request and answer["outcome"] == "approved":
            answer = answer | {"cardToken": f"card-{request['id'][-6:]}"}
            self.tokens.add(answer["cardToken"])
        if answer["outcome"] in ("approved", "partial") and amount["value"] > 0:
            self.accounts[request["id"]] = Account(amount["value"], held)
            if held and (most := maximum(amount["value"])):
                answer = answer | {"maximumCapture": {"value": most, "currency": "EUR"}}
        return answer

    def lies(self, order, dice):
        """About taps it lies seldom: what comes after an approval is tried here."""
        return super().lies(order, dice) and dice.random() < 0.15

    def cheats(self, order, dice):
        return super().lies(order, dice)

    # Requests

    async def operate(self, writer, payment, call, key, body):
        request = json.loads(body)
        id = request["id"]
        self.service.orders.setdefault(id, self.service.orders.get(payment, payment))
        order, dice = self.throw(id, call)
        is_supported = ("extend" if "extend" in request else CALLS[call]) in self.supports
        # A daemon that has just started may not know yet; then the answer is a refusal.
        is_known = self.known_since is not None and time.monotonic() - self.known_since > 5
        for is_wrong, what in [
                (id != key, f"key {key} for the operation {id}"), (is_known and not is_supported, f"{call} is not supported"),
                (self.bodies.setdefault(id, body) != body, f"{id} was sent again with another body"),
                (id in self.carried_out and self.habits.forgets, f"{id} was sent again, and keys live for no time")]:
            if is_wrong:
                self.faults.append(f"{order}: {what}")
        if request.get("card") == "same":
            self.look_at_read(order, request)
        store = self.words[dice.randrange(len(self.words))]
        if id in store:
            return await self.say(writer, order, store[id], dice, isRepeat=True)
        if self.cheats(order, dice):
            what = dice.choice(["loses", "loses", "fails", "refuses", "does not know"])
            self.tell(order, f"adapter: {what} {call} {id}")
            if what == "loses":
                raise Dropped
            if what == "fails":
                return writer.write(self.message(dice.choice([500, 502, 503, 429, 408, 421]), {}))
            if what == "does not know":
                return writer.write(self.message(404, {}))
            return writer.write(self.message(dice.choice([400, 401, 403, 413]), {}))
        if is_supported:
            answer = self.carry_out(order, payment, call, request, dice)
        else:
            answer = {"id": id, "outcome": "declined", "responseCode": "57", "reason": "notSupported"}
        store[id] = answer
        self.tell(order, f"adapter: {call} {id} of {request.get('amount', request.get('total'))}: {answer['outcome']}")
        await self.say(writer, order, answer, dice)

    def look_at_read(self, order, request):
        """A read is the refund's own, and sent for a minute at most."""
        read, id, now = request.get("authorization", {}), request["id"], time.monotonic()
        if read.get("id") != id or read.get("amount") != request["amount"] or read.get("type") != "refund" or not read.get("envelope"):
            self.faults.append(f"{order}: {id} comes without a read of its own")
        if now - self.reads.setdefault(id, now) > 65:
            self.faults.append(f"{order}: the read of {id} was sent again after more than a minute")

    def carry_out(self, order, payment, call, request, dice):
        account, id = self.accounts.get(payment), request["id"]
        declined = {"id": id, "outcome": "declined", "responseCode": "51", "reason": "issuer"}
        if id in self.carried_out:
            self.faults.append(f"{order}: {id} is carried out twice")
            return declined
        if account is None or payment in self.service.unwanted:
            self.faults.append(f"{order}: {call} of what nobody holds")
            return declined | {"reason": "unknownOriginal"}
        value = (request.get("amount") or request.get("total") or {"value": 0})["value"]
        if call != "releases" and dice.random() < self.habits.declines:
            self.carried_out[id] = None
            return declined
        answer = {"id": id, "outcome": "approved", "responseCode": "00", "pspReference": f"OP-{id[-12:]}"}
        if call == "captures":
            if value > max(account.hold, (account.maximum or 0) - account.captured) or account.hold <= 0:
                self.faults.append(f"{order}: a capture of {value} above what is left")
            account.captured, account.has_captures = account.captured + value, True
            account.hold -= min(value, account.hold)
            if request["final"]:
                account.released, account.hold = account.released + account.hold, 0
        elif call == "adjustments":
            if account.has_captures or account.hold <= 0:
                self.faults.append(f"{order}: an adjustment of what is not held")
            if "extend" not in request:
                account.authorised, account.hold = account.authorised + value - account.hold, value
        elif call == "releases":
            if value > account.hold:
                self.faults.append(f"{order}: a release of {value} above what is held")
            account.released, account.hold = account.released + value, account.hold - value
        else:
            if value > account.captured - account.refunded:
                self.faults.append(f"{order}: a refund of {value} above what is left")
            if value > 1 and dice.random() < 0.1:
                value //= 2
                answer |= {"outcome": "partial", "amountDone": {"value": value, "currency": "EUR"}}
            account.refunded += value
        self.carried_out[id] = value
        return answer | ({"account": account.figures()} if dice.random() < 0.7 else {})

    async def say(self, writer, order, answer, dice, isRepeat=False):
        road = "whole"
        if self.cheats(order, dice):
            roads = ROADS + ([("400", 1), ("404", 2)] if isRepeat else [])
            road = dice.choices([name for name, _ in roads], [weight for _, weight in roads])[0]
            self.tell(order, f"adapter: its answer about {answer['id']} is {road}")
        text = self.message(200, answer)
        if road == "lost":
            raise Dropped
        if road == "torn":
            writer.write(text[:dice.randrange(1, len(text))])
            await writer.drain()
            raise Dropped
        if road.isdigit():
            text = self.message(int(road), {})
        if road == "page":
            text = self.message(200, b"<html>Welcome</html>", "text/html")
        if road == "empty":
            text = self.message(200, b"")
        if road == "running":
            text = self.message(*dice.choice([(202, {}), (200, {"id": answer["id"], "outcome": "pending"})]))
        if road == "unknown words":
            text = self.message(200, answer | {"novelty": [1, {"a": None}]})
        if road == "other amount":
            text = self.message(200, answer | {"outcome": "approved", "amountDone": {"value": 77_777_777, "currency": "EUR"}})
        if road == "other id":
            text = self.message(200, answer | {"id": "01a2b3c4-0000-7000-8000-000000000000"})
        if road == "other figures" and "account" in answer:
            text = self.message(200, answer | {"account": answer["account"] | {"released": 99_999_999}})
        if road == "late":
            await asyncio.sleep(self.pause + dice.random())
        if road == "twice":
            text += text
        if road == "contrary":
            text += self.message(200, answer | {"outcome": CONTRARY[answer["outcome"]]})
        writer.write(text)

    # Questions

    async def tell_of(self, writer, id):
        order, dice = self.throw(id, "tell")
        answer = self.words[dice.randrange(len(self.words))].get(id)
        if not self.cheats(order, dice):
            self.tell(order, f"adapter: asked about {id}, says {answer['outcome'] if answer else 404}")
            return writer.write(self.message(200, answer) if answer else self.message(404, {}))
        what = dice.choice([404, 404, 500, 400, 403, 422, "pending", "page", "lost", "true", "true"])
        if what == "true" and answer:
            return await self.say(writer, order, answer, dice, isRepeat=True)
        self.tell(order, f"adapter: asked about {id}, lies {what}")
        if what == "lost":
            raise Dropped
        if what == "page":
            return writer.write(self.message(200, b"<html>", "text/html"))
        if what in ("pending", "true"):
            return writer.write(self.message(200, {"id": id, "outcome": "pending"}))
        writer.write(self.message(what, {}))
