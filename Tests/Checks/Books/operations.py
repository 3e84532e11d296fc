# SPDX-License-Identifier: Apache-2.0
"""Tills that reserve, capture in parts, release, refund with and without the card, charge a stored card and take back, while the payment service lies and the daemon dies at
any of its writes. After every step the daemon's account is held against the model's, and so is every yes and no."""
import asyncio
import os
import random
import signal

from ledger import OPEN, Books, Operation, Refund
from shop import ENDED_MEANWHILE, Sale, Shop, Till, ask
from teller import SUPPORTS, Teller

NEEDS = {"captures": "capture", "adjustments": "adjust", "releases": "release", "refund": "refundLinked"}
LATER = {"approved": "done", "declined": "refused", "failed": "refused", "cancelled": "refused", "reversed": "refused",
         "preparing": "created", "armed": "created", "reading": "created", "sealed": "created"}
AGREEMENT = {"kind": "unscheduled", "text": "I agree that the shop charges what I order.", "language": "en"}


def euros(value):
    return {"value": value, "currency": "EUR"}


class Wish:
    """Something that a till wants of a payment, under one key, however often it asks."""

    def __init__(self, call, body, key, value=None, extend=False):
        self.call, self.body, self.key, self.value, self.extend = call, body, key, value, extend

    def why_not(self, books, supports):
        if self.call == "captures":
            why = books.against_capture(self.value, self.body.get("tip", euros(0))["value"])
        elif self.call == "adjustments":
            why = books.against_adjustment(self.value)
        elif self.call == "releases":
            why = books.against_release(self.value)
        elif self.call == "refund":
            why = books.against_refund(self.value)
        else:
            why = books.against_reversal()
        if self.body.get("card") == "same":
            # Another one on the lane, or one that has not let it go yet.
            why.add("reader.busy")
        lacking = {NEEDS.get(self.call)} - {None}
        if self.call == "captures":
            account = books.account()
            if not self.body["final"] or account["captured"] > 0:
                lacking.add("multicapture")
            if self.value is not None and account["remaining"] < self.value <= account["capturableUpTo"]:
                lacking.add("overcapture")
        if self.extend:
            lacking = {"extend"}
        if lacking - set(supports):
            word = {"captures": "capture", "adjustments": "adjustment", "releases": "release", "refund": "refund"}
            why.add(f"{word[self.call]}.not_supported")
        return why


class Life:
    """What one till knows of one payment."""

    def __init__(self, sale, transaction):
        result = transaction.get("result", {})
        amount = result.get("amountApproved") or transaction["amount"]
        self.id, self.sale = transaction["id"], sale
        self.books = Books(amount["value"], sale.request.get("amountStatus") == "preauthorized" or "capture" in sale.request)


class OperationShop(Shop):
    def __init__(self, *everything):
        super().__init__(*everything)
        supports = list(SUPPORTS)
        # Some services cannot do everything.
        if self.dice.random() < 0.3:
            supports.remove(self.dice.choice(SUPPORTS[5:]))
        self.adapter = Teller(f"{self.folder}/psp.sock", self.adapter.seed, self.adapter.habits, self.tell, supports)
        self.lives, self.day_ends, self.steps, self.is_mortal, self.deaths = [], {}, 0, True, random.Random(self.dice.random())
        self.listed_operations, self.card = 0, None

    # Deaths: at a write that the dice choose, many of them soon after the start

    async def start(self):
        at = self.deaths.choice([self.deaths.randrange(1, 200), self.deaths.randrange(1, 1_500), self.deaths.randrange(1, 6_000)])
        if not self.is_mortal or self.kills >= self.arguments.kills // self.arguments.shops:
            at = 0
        with open(f"{self.folder}/death", "w") as file:
            file.write(f"{at}\n")
        os.environ["DEATH"] = f"{self.folder}/death"
        await super().start()
        # Its death may come at any moment.
        self.is_restarting = at > 0

    async def trouble(self):
        dice, due = random.Random(f"{self.arguments.seed}/{self.name}/trouble"), 0
        while True:
            await asyncio.sleep(0.01)
            if self.process.returncode == -signal.SIGKILL:
                self.kills += 1
                self.is_restarting = True
                for order in list(self.orders):
                    if self.orders[order].is_under_way:
                        self.tell(order, "the daemon is killed")
                self.jump(dice)
                await self.start()
            elif self.steps > due:
                due = self.steps + dice.randrange(20, 200)
                pause = self.arguments.away * dice.choice([0, 0.05, 0.5, 1.5])
                self.tell("adapter", f"restarts, away for {pause} s")
                await self.adapter.restart(pause, self.adapter.habits.forgets and dice.random() < 0.7)

    async def open(self, sales):
        self.left = sales
        await self.adapter.start()
        self.is_restarting = True
        await self.start()
        trouble = asyncio.create_task(self.trouble())
        if "charge" in self.adapter.supports:
            await self.store_card()
        tills = [asyncio.create_task(OperationTill(self, n).work()) for n in range(self.arguments.lanes)]
        try:
            await asyncio.gather(*tills)
        finally:
            trouble.cancel()
            for till in tills:
                till.cancel()
        self.is_mortal, self.is_restarting = False, True
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        await self.start()
        await self.grace()

    async def store_card(self):
        """While everybody is honest: what a charge may rest on."""
        self.adapter.is_honest = True
        while self.card is None:
            order = f"{self.name}-card-{len(self.orders)}"
            request = {"type": "verification", "currency": "EUR", "reason": "saveCard", "agreement": AGREEMENT, "order": order,
                       "lane": "lane-0", "deadline": 8, "detached": True}
            sale, till = Sale(order, f"key-{order}", request), OperationTill(self, 0)
            self.orders[order] = sale
            card = asyncio.create_task(till.present(random.Random(order)))
            await till.begin(sale, random.Random("honest"))
            await till.follow(sale, random.Random("honest"))
            await card
            sale.is_under_way = False
            _, transaction = await self.call("GET", f"/v1/transactions/{sale.id}")
            if stored := transaction.get("credential"):
                self.card = {"credential": stored["id"], "agreement": stored["agreements"][0]["id"]}
        self.adapter.is_honest = False

    async def unfinished(self):
        rest = await super().unfinished()
        for life in self.lives:
            await self.learn(life)
            rest += [each for each in life.books.operations + life.books.refunds if each.state in OPEN]
        return rest

    # What the daemon says

    async def learn_ends(self, life):
        """What has become of everything that was open, in the order in which it was asked for."""
        for operation in [each for each in life.books.operations if each.state in OPEN]:
            _, answer = await self.call("GET", f"/v1/operations/{operation.id}")
            if operation.state in OPEN and answer["state"] != operation.state:
                life.books.end(operation, answer["state"])
        for refund in [each for each in life.books.refunds if each.state in OPEN]:
            _, answer = await self.call("GET", f"/v1/transactions/{refund.id}")
            refund.state = LATER.get(answer["state"], answer["state"])
            if refund.state == "done":
                refund.done = (answer.get("result", {}).get("amountApproved") or answer["amount"])["value"]
            elif refund.state not in OPEN | {"refused"}:
                self.fault(life.sale.order, f"refund {refund.id} is {refund.state}")

    async def learn(self, life):
        await self.learn_ends(life)
        _, answer = await self.call("GET", f"/v1/transactions/{life.id}")
        if answer["state"] in ("reversing", "reversed"):
            await self.learn_reversal(life)
        return answer

    async def learn_reversal(self, life):
        """Nothing is taken back while an operation is under way: what was open a moment ago had ended before."""
        await self.learn_ends(life)
        life.books.reverse()

    async def compare(self, life):
        """The daemon's account and the model's, while nothing happens between the questions."""
        for _ in range(5):
            before = [each.state for each in life.books.operations + life.books.refunds]
            told = (await self.learn(life)).get("account", {})
            ours = life.books.account()
            differences = {name: (told.get(name), figure) for name, figure in ours.items() if told.get(name) != figure}
            after = [each.state for each in life.books.operations + life.books.refunds]
            if not differences and not life.books.faults():
                return
            if before != after:
                continue
            await asyncio.sleep(0.05)
        self.fault(life.sale.order, f"{life.id}: the daemon's account differs (daemon, model): {differences} {life.books.faults()}")

    async def close_day(self, key):
        status, answer = await self.call("POST", "/v1/days", {"label": key}, key=key)
        if status != 201:
            return self.fault("daemon", f"day end {key}: {status} {answer}")
        told = answer["day"]["number"], sum(each["value"] for each in answer["totals"]["net"])
        if self.day_ends.setdefault(key, told) != told:
            self.fault("daemon", f"day end {key} is {told}, and was {self.day_ends[key]}")

    # A person looks after what is open

    async def settle(self):
        _, totals = await self.call("GET", "/v1/totals")
        entries = totals["open"]
        named = {each.get("operation") or each["transaction"] for each in entries}
        truth = self.adapter.carried_out
        for life in self.lives:
            for each in life.books.operations + life.books.refunds:
                if each.state not in OPEN:
                    continue
                self.listed_operations += 1
                if each.id not in named and totals["openCount"] <= len(entries):
                    self.fault(life.sale.order, f"{each.id} is {each.state}, and no open item")
                is_done = truth.get(each.id) is not None
                if isinstance(each, Operation):
                    demand = {"outcome": "done" if is_done else "refused", "evidence": "asked by telephone"}
                    status, answer = await self.call("POST", f"/v1/operations/{each.id}/resolution", demand)
                else:
                    demand = {"as": "charged" if is_done else "notCharged", "note": "asked by telephone"}
                    if is_done and truth[each.id] < each.value:
                        demand["amount"] = {"value": truth[each.id], "currency": "EUR"}
                    status, answer = await self.call("POST", f"/v1/open-items/{each.id}/settlement", demand)
                if status == 409 and answer["error"]["code"] in ENDED_MEANWHILE:
                    # It was not waiting for the person: an answer has come since.
                    await self.learn_ends(life)
                    if each.state not in OPEN:
                        continue
                if status != 200:
                    self.fault(life.sale.order, f"{each} {each.id} cannot be settled: {status} {answer['error']['code']}")
            await self.compare(life)
        # What has ended, and about which the service said something else besides.
        for each in entries:
            if each["kind"] in ("figuresDiffer", "contradiction"):
                _, ended = await self.call("GET", f"/v1/operations/{each['operation']}")
                demand = {"outcome": ended["state"], "evidence": "the account was read out by telephone"}
                status, answer = await self.call("POST", f"/v1/operations/{each['operation']}/resolution", demand)
                if status != 200:
                    self.fault("daemon", f"{each['kind']} cannot be settled: {status} {answer['error']['code']}")
        _, totals = await self.call("GET", "/v1/totals")
        for each in totals["open"]:
            if "operation" in each or each["kind"] == "unknownRefund":
                self.fault("daemon", f"{each['kind']} is settled, and still an open item")
        listed = await super().settle()
        for life in self.lives:
            if life.id in listed and life.books.is_reversed and self.adapter.service.charged(life.id):
                # Nobody acknowledged the reversal, and the service has the money: it is the shop's after all.
                life.books = life.books.before_reversal()
                await self.compare(life)
        return listed

    # The end

    async def judge_operations(self):
        """The daemon's books, the model's and the payment service's, and every sum in one day."""
        known = {each.id: each for life in self.lives for each in life.books.operations + life.books.refunds}
        for id, value in self.adapter.carried_out.items():
            if value is not None and (id not in known or known[id].state != "done"):
                self.fault(self.adapter.service.orders[id], f"{id} is carried out, and here {getattr(known.get(id), 'state', None)}")
        net = 0
        for life in self.lives:
            account, books = self.adapter.accounts[life.id], life.books
            for each in books.operations + books.refunds:
                if each.state == "done" and self.adapter.carried_out.get(each.id) is None:
                    self.fault(life.sale.order, f"{each} {each.id} is done here, and nothing there")
            if account.hold != books.hold and not books.is_reversed:
                self.fault(life.sale.order, f"{life.id}: {books.hold} held here, {account.hold} there")
            for name, figure in books.account().items():
                if name in ("authorised", "captured", "released", "refunded") and figure != account.figures()[name]:
                    self.fault(life.sale.order, f"{life.id}: {name} {figure} here, {account.figures()[name]} there")
            net += books.net
        alive = {life.id for life in self.lives}
        for sale in self.orders.values():
            for id in sale.books.keys() & self.adapter.accounts.keys() - alive:
                # A person may have settled it since it was noted.
                _, now = await self.call("GET", f"/v1/transactions/{id}")
                if now.get("state") == "approved":
                    net += self.adapter.accounts[id].captured
        _, totals = await self.call("GET", "/v1/totals")
        booked = sum(each["value"] for each in totals["net"]) + sum(dict(self.day_ends.values()).values())
        if booked != net:
            self.fault("daemon", f"the days come to {booked}, the payments to {net}")


class OperationTill(Till):
    async def present(self, dice):
        await asyncio.sleep(dice.random() * 0.05)
        await self.shop.reader(self.lane, "swap visa")

    async def sell(self, order, dice):
        shop = self.shop
        request = {"type": "purchase", "amount": euros(dice.choice([dice.randrange(1, 20), dice.randrange(100, 9_000)])),
                   "order": order, "lane": f"lane-{self.lane}", "deadline": 8, "detached": True}
        kind = dice.random()
        if kind < 0.2 and shop.card:
            request = {"type": "charge", "initiator": "merchant", "reason": "unscheduled", "amount": request["amount"],
                       "order": order} | shop.card
        elif kind < 0.7:
            request["amountStatus"] = "preauthorized"
        elif kind < 0.8 and "capture" in shop.adapter.supports:
            request["capture"] = {"mode": "manual"}
        sale = shop.orders[order] = Sale(order, f"key-{order}", request)
        shop.tell(order, f"till: sells {request}")
        card = asyncio.create_task(self.present(dice)) if request["type"] == "purchase" else None
        await self.begin(sale, dice)
        await self.follow(sale, random.Random("honest"))
        if card:
            await card
        _, transaction = await shop.call("GET", f"/v1/transactions/{sale.id}")
        if transaction["state"] == "approved":
            life = Life(sale, transaction)
            shop.lives.append(life)
            for step in range(dice.randrange(2, 12)):
                shop.steps += 1
                await self.step(life, f"{order}-{step}", dice)
        sale.is_under_way = False

    async def step(self, life, key, dice):
        await self.shop.compare(life)
        if dice.random() < 0.03:
            await self.shop.close_day(dice.choice([key, self.shop.name]))
        wishes = [self.draw(life, key, dice)]
        if dice.random() < 0.1:
            # Two tills at once, of which at most one may have the same sum.
            wishes.append(self.draw(life, f"{key}-too", dice))
        await asyncio.gather(*(self.want(life, wish, dice, len(wishes) == 1) for wish in wishes))
        pending = life.books.pending
        if pending and dice.random() < 0.1:
            status, answer = await self.shop.call("DELETE", f"/v1/operations/{pending.id}")
            self.shop.tell(life.sale.order, f"till: withdraws {pending.id}: {status} {answer.get('outcome')}")
        elif (pending or life.books.may_be_given_back) and dice.random() < 0.5:
            await asyncio.sleep(dice.random() * 1.5)

    def draw(self, life, key, dice):
        account = life.books.account()

        def some(limit):
            # In the limit, at it, above it.
            return max(1, dice.choice([dice.randrange(1, limit + 2), limit, limit // 2, limit + 1, limit * 2]))

        call = dice.choices(["captures", "adjustments", "releases", "refund", "reversal"], [8, 3, 3, 6, 1])[0]
        if call == "captures":
            value = None if dice.random() < 0.3 else some(account["capturableUpTo"])
            body = {"final": dice.random() < 0.4}
            if value is not None:
                body["amount"] = euros(value)
                if dice.random() < 0.2:
                    body["tip"] = euros(dice.randrange(1, value + 1))
            return Wish(call, body, key, value)
        if call == "adjustments":
            if dice.random() < 0.2:
                return Wish(call, {"extend": True}, key, extend=True)
            value = dice.randrange(1, 12_000)
            return Wish(call, {"total": euros(value)}, key, value)
        if call == "reversal":
            return Wish(call, {"reason": "customerCancel"}, key)
        value = None if dice.random() < 0.3 else some(account["remaining" if call == "releases" else "refundable"])
        body = {} if value is None else {"amount": euros(value)}
        if call == "refund":
            body |= {"type": "refund", "of": life.id, "order": key}
            if dice.random() < 0.4:
                body |= {"card": "same", "lane": f"lane-{self.lane}", "deadline": 8, "detached": True}
        return Wish(call, body, key, value)

    async def want(self, life, wish, dice, is_alone):
        shop, order = self.shop, life.sale.order
        target = "/v1/transactions" if wish.call == "refund" else f"/v1/transactions/{life.id}/{wish.call}"
        before = wish.why_not(life.books, shop.adapter.supports)
        if dice.random() < 0.1:
            # It goes away, and asks again.
            asyncio.create_task(self.ask_and_leave(target, wish, dice.random() * 0.1))
            await asyncio.sleep(dice.random() * 0.1)
        key = None if wish.call == "reversal" else wish.key
        code = "idempotency.in_progress"
        while code == "idempotency.in_progress":
            status, answer = await shop.call("POST", target, wish.body, key=key, wait=dice.choice([None, 1, 3]), limit=40)
            code = answer.get("error", {}).get("code")
        shop.tell(order, f"till: {wish.call} {wish.body}: {status} {code or answer.get('state')} {answer.get('id', '')}")
        if status >= 400:
            if is_alone and code not in before:
                await shop.learn(life)
                if code not in (after := wish.why_not(life.books, shop.adapter.supports)):
                    shop.fault(order, f"{wish.call} was refused with {code}, wanted one of {sorted(before | after)}")
            return
        if wish.call == "reversal":
            life.sale.wishes.add("reversal")
        if is_alone and before:
            await shop.learn(life)
            # A lane may be busy, and need not be.
            if after := wish.why_not(life.books.before_reversal(), shop.adapter.supports) - {"reader.busy"}:
                shop.fault(order, f"{wish.call} was accepted, and should have been refused with one of {sorted(after)}")
        if wish.call == "reversal":
            await shop.learn_reversal(life)
        elif wish.call == "refund":
            life.books.refunds.append(Refund(answer["id"], answer["amount"]["value"]))
            if "card" in wish.body:
                await self.read(answer["id"])
        else:
            value = 0 if wish.extend else (answer.get("amount") or answer.get("total"))["value"]
            life.books.begin(Operation(answer["id"], wish.call, value, final=answer.get("final", True), extend=wish.extend))

    async def read(self, id):
        """The customer presents the card until it is read, or nobody waits for it any more."""
        state = "created"
        while LATER.get(state, state) == "created":
            await self.shop.reader(self.lane, "swap visa")
            await asyncio.sleep(0.15)
            _, answer = await self.shop.call("GET", f"/v1/transactions/{id}")
            state = answer["state"]

    async def ask_and_leave(self, target, wish, limit):
        try:
            key = None if wish.call == "reversal" else wish.key
            await ask(self.shop.pos, "POST", target, wish.body, key=key, limit=limit)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            pass
