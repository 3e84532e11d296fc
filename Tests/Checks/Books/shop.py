# SPDX-License-Identifier: Apache-2.0
"""A shop: a daemon in a process of its own that can be killed, virtual readers, and tills that repeat, vanish, cancel and
forget. Written from docs/integrating/protocol.md and docs/openapi.yaml alone."""
import asyncio
import json
import os
import random
import signal
import subprocess
import time

from liar import Adapter, Habits

SETTLED = {"approved", "declined", "stored", "reversing", "reversed", "cancelled", "failed", "completed"}
ENDED = {"approved", "declined", "reversed", "cancelled", "failed", "completed", "delivered"}
# What a person's word is refused with once there is no need of it.
ENDED_MEANWHILE = {"resolution.not_open", "open_item.not_open", "open_item.ended"}
YEAR = 31_536_000_000
CARDS = ["visa", "visa", "mastercard", "visa-afl", "visa-afl", "visa-afl", "visa-phone", "visa-declines"]


async def ask(path, method, target, body=None, key=None, wait=None, limit=30):
    """One call on a connection of its own: status and answer."""
    reader, writer = await asyncio.open_unix_connection(path, limit=1 << 22)
    try:
        text = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n"
        if method == "POST":
            head += f"Content-Length: {len(text)}\r\n"
        if text:
            head += "Content-Type: application/json\r\n"
        if key:
            head += f"Idempotency-Key: {key}\r\n"
        if wait:
            head += f"Prefer: wait={wait}\r\n"
        writer.write(head.encode() + b"\r\n" + text)
        await writer.drain()
        async with asyncio.timeout(limit):
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
            length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)
            answer = await reader.readexactly(length)
        return int(lines[0].split(" ")[1]), json.loads(answer or b"{}")
    finally:
        writer.transport.abort()


class Shop:
    def __init__(self, name, folder, arguments, dice, clock):
        self.name, self.folder, self.arguments, self.dice = name, str(folder), arguments, dice
        self.pos, self.clock, self.wall = f"{self.folder}/pos.sock", clock, f"{self.folder}/wall"
        self.stories, self.faults, self.orders = {}, [], {}
        self.kills, self.begun, self.process, self.is_restarting = 0, 0, None, False
        self.left = 0
        self.begin = time.monotonic()
        habits = Habits(dice, arguments.open_items and dice.random() < 0.4)
        self.adapter = Adapter(f"{self.folder}/psp.sock", f"{arguments.seed}/{name}", habits, self.tell)
        self.configure()

    def tell(self, order, line):
        self.stories.setdefault(order, []).append(f"{time.monotonic() - self.begin:8.3f} {line}")

    def fault(self, order, what):
        self.faults.append((order, what))

    # The daemon

    def configure(self):
        with open("docs/examples/terminal-test.json") as file:
            terminal = file.read().replace('"floor": 0', '"floor": 100000')
        with open(f"{self.folder}/terminal.json", "w") as file:
            file.write(terminal)
        lanes = "".join(
            f'[[lane]]\nname = "lane-{n}"\nreader = "virtual:{self.folder}/reader-{n}.sock"\n'
            for n in range(self.arguments.lanes))
        with open(f"{self.folder}/nfc-tapd.conf", "w") as file:
            file.write(
                f'[pos]\nsocket = "{self.pos}"\n[psp]\nsocket = "{self.folder}/psp.sock"\nanswer-timeout = 1\n'
                f'connect-timeout = 1\n[journal]\ndirectory = "{self.folder}/state"\n'
                f'[terminal]\nfile = "{self.folder}/terminal.json"\nmax-tap-retries = 10\n'
                '[offline]\ncount = 1000\nper-card = 1000\n'
                f'[[offline.currency]]\ncode = "EUR"\namount = 90000\ntotal = 900000000\n{lanes}')
        self.move_clock(0)

    def move_clock(self, milliseconds):
        """The daemon's wall clock, while it runs and from its next start on."""
        with open(self.wall + ".new", "w") as file:
            file.write(f"{milliseconds // 1000}\n")
        os.replace(self.wall + ".new", self.wall)

    async def start(self):
        log = open(f"{self.folder}/nfc-tapd.log", "ab")
        self.process = await asyncio.create_subprocess_exec(
            f"{self.arguments.binaries}/nfc-tapd", "--config", f"{self.folder}/nfc-tapd.conf", "--runtime-directory",
            self.folder, "--log-level", "warning", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
            env={**os.environ, "LD_PRELOAD": self.clock, "SHIFTED": self.wall})
        log.close()
        self.adapter.known_since = None
        self.is_restarting = False

    async def end(self, how):
        if how != signal.SIGKILL and self.process.returncode is None:
            # One that is still starting ends as any program does.
            await self.call("GET", "/v1/status")
        code = self.process.returncode
        if code is None:
            self.process.send_signal(how)
            try:
                async with asyncio.timeout(60):
                    code = await self.process.wait()
            except TimeoutError:
                self.fault("daemon", "does not end within a minute of being asked to")
                self.process.kill()
                await self.process.wait()
                return
            if how != signal.SIGKILL and code != 0:
                self.fault("daemon", f"ended with {code} when it was asked to stop")
        else:
            self.fault("daemon", f"ended by itself with {code}")

    async def kill(self):
        self.kills += 1
        self.is_restarting = True
        await self.end(signal.SIGKILL)
        for order in list(self.orders):
            if self.orders[order].is_under_way:
                self.tell(order, "the daemon is killed")
        await self.start()

    # Calls that find the daemon alive sooner or later

    async def call(self, *request, **more):
        """As the documents say: repeated until there is an answer."""
        end = time.monotonic() + 120
        while True:
            try:
                status, answer = await ask(self.pos, *request, **more)
                if status not in (429, 503):
                    return status, answer
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                answer = repr(error)
            if time.monotonic() > end or self.process.returncode is not None and not self.is_restarting:
                raise RuntimeError(f"{self.name}: no answer to {request}: {answer}; see {self.folder}/nfc-tapd.log")
            await asyncio.sleep(0.03)

    async def reader(self, lane, line):
        try:
            reader, writer = await asyncio.open_unix_connection(f"{self.folder}/reader-{lane}.sock")
            writer.write(line.encode() + b"\n")
            async with asyncio.timeout(5):
                await reader.readline()
            writer.transport.abort()
        except (OSError, TimeoutError):
            pass  # It has just been killed.

    # A day

    async def open(self, sales):
        self.left = sales
        await self.adapter.start()
        await self.start()
        await self.call("GET", "/v1/status")
        kills = min(-(-self.arguments.kills // self.arguments.shops), sales)
        tasks = [self.trouble()] + [Till(self, n).work() for n in range(self.arguments.lanes)]
        self.kill_at = sorted(self.dice.sample(range(sales), kills))
        runs = [asyncio.create_task(task) for task in tasks]
        try:
            await asyncio.gather(*runs[1:])
        finally:
            runs[0].cancel()
        await self.grace()

    async def trouble(self):
        """Kills, restarts of the adapter, hours when it is away, and a clock that jumps: by the number of sales begun."""
        dice, due = random.Random(f"{self.arguments.seed}/{self.name}/trouble"), 0
        while True:
            await asyncio.sleep(0.01)
            if self.kill_at and self.begun > self.kill_at[0]:
                self.kill_at.pop(0)
                await asyncio.sleep(dice.random() * 0.3)
                self.jump(dice)
                await self.kill()
                await asyncio.sleep(dice.random() * 0.3)
                self.jump(dice)
            elif self.begun > due:
                due = self.begun + dice.randrange(5, 40)
                pause = self.arguments.away * dice.choice([0, 0.05, 0.5, 2, 4])
                self.tell("adapter", f"restarts, away for {pause} s")
                await self.adapter.restart(pause, self.adapter.habits.forgets and dice.random() < 0.7)

    def jump(self, dice):
        """The wall clock is put back or ahead, by minutes or years, or put right."""
        if self.arguments.clocks and dice.random() < 0.3:
            moved = dice.choice([0, 0, 0, -60_000, 60_000, -3_600_000, 3_600_000, -YEAR, YEAR // 4])
            self.tell("clock", f"{moved} ms off")
            self.move_clock(moved)

    async def grace(self):
        """Everybody is honest, and the daemon is given the time that it asks for."""
        self.adapter.is_honest = True
        if not self.adapter.server:
            await self.adapter.start()
        moved = 0
        for _ in range(4):
            # Longer than any pause between two attempts, seconds of the tests aside.
            moved += 11 * 60_000
            self.is_restarting = True
            await self.end(signal.SIGTERM)
            self.move_clock(moved)
            await self.start()
            await self.call("POST", "/v1/queue/flush")
            for _ in range(30):
                if not await self.unfinished():
                    break
                await asyncio.sleep(0.2)
            else:
                continue
            break

    async def settle(self):
        """The person who looks after the open items asks the payment service and says what it says, until none is left.

        Returns what was listed, as it was listed."""
        listed = {}
        while True:
            _, answer = await self.call("GET", "/v1/open-items")
            if not answer["items"]:
                if answer["count"]:
                    self.fault("daemon", f"{answer['count']} open items, and none in the list")
                return listed
            for item in answer["items"]:
                id = item["transaction"]
                if id in listed:
                    self.fault(self.adapter.service.orders.get(id, "daemon"), f"{id} is settled, and still an open item")
                    return listed
                listed[id] = item
                booked = self.adapter.service.charged(id)
                asked = item["amount"]
                # A lie may book more than was asked for, or a credit: neither is a charge that a shop keeps.
                is_charged = booked and booked[0][1] == asked["currency"] and min(1, asked["value"]) <= booked[0][0] <= asked["value"]
                if booked and not is_charged:
                    # What nobody has asked for is taken back by the service, at the shop's word.
                    self.adapter.service.undo(id)
                demand = {"as": "charged" if is_charged else "notCharged", "note": "asked by telephone"}
                if is_charged and booked[0][0] < asked["value"]:
                    demand["amount"] = {"value": booked[0][0], "currency": booked[0][1]}
                for _ in range(5):
                    status, after = await self.call("POST", f"/v1/open-items/{id}/settlement", demand)
                    # No answer in time, on a machine without a processor to spare: a person presses again.
                    if status != 500:
                        break
                if status == 409 and after["error"]["code"] in ENDED_MEANWHILE:
                    # It was not waiting for the person: an answer has come since.
                    status, after = await self.call("GET", f"/v1/transactions/{id}")
                wanted = {"approved"} if is_charged else {"reversed", "declined"}
                if status != 200 or after.get("state") not in wanted:
                    what = after.get("error", after).get("code", after.get("state"))
                    self.fault(item.get("order", "daemon"), f"{id} settled as {demand['as']}: {status} {what}")
                    return listed

    async def unfinished(self):
        """Transactions that have no end yet; what each is now is noted."""
        rest = []
        for sale in self.orders.values():
            if not sale.is_final:
                _, answer = await self.call("GET", f"/v1/transactions?order={sale.order}")
                sale.books = {each["id"]: each for each in answer["transactions"]}
                waits = [e for e in sale.books.values() if e["state"] not in ENDED or self.awaits_confirmation(e)]
                sale.is_final = not waits
                rest += waits
        return rest

    @staticmethod
    def awaits_confirmation(transaction):
        confirmation = transaction.get("confirmation")
        return transaction["state"] == "approved" and confirmation is not None and "confirmedAt" not in confirmation


class Sale:
    """What a till wants, and what it was told."""

    def __init__(self, order, key, request):
        self.order, self.key, self.request = order, key, request
        self.id, self.told, self.books, self.wishes = None, set(), {}, set()
        self.is_under_way, self.is_final = True, False


class Till:
    def __init__(self, shop, lane):
        self.shop, self.lane, self.count = shop, lane, 0

    async def work(self):
        while self.shop.left > 0:
            self.shop.left -= 1
            self.shop.begun += 1
            self.count += 1
            order = f"{self.shop.name}-{self.lane}-{self.count}"
            await self.sell(order, random.Random(f"{self.shop.arguments.seed}/{order}"))

    def hear(self, sale, status, answer, what):
        if status >= 400:
            self.shop.tell(sale.order, f"till: {what}: {status} {answer.get('error', {}).get('code')}")
            return None
        transaction = answer.get("transaction", answer)
        if not isinstance(transaction, dict) or "id" not in transaction:
            return None
        if sale.id and sale.id != transaction["id"]:
            self.shop.fault(sale.order, f"the same key is {sale.id} and {transaction['id']}")
        sale.id = transaction["id"]
        sale.told.add(transaction["state"])
        self.shop.tell(sale.order, f"till: {what}: {status} {transaction['state']} {transaction['id']}")
        return transaction

    async def post(self, sale, wait=None):
        status, answer = await self.shop.call(
            "POST", "/v1/transactions", sale.request, key=sale.key, wait=wait, limit=40)
        return status, self.hear(sale, status, answer, "POST"), answer

    async def wish(self, sale, what, body=None):
        """Something else that a till may want, of a transaction that it knows."""
        sale.wishes.add(what)
        method, target = ("DELETE", "") if what == "cancel" else ("POST", f"/{what}")
        self.shop.tell(sale.order, f"till: wants {what}")
        status, answer = await self.shop.call(method, f"/v1/transactions/{sale.id}{target}", body)
        self.hear(sale, status, answer, what)
        return status

    async def sell(self, order, dice):
        shop = self.shop
        request = {
            "type": "purchase", "amount": {"value": dice.choice([dice.randrange(100, 4_000), dice.randrange(100, 50_000)]), "currency": "EUR"}, "order": order,
            "lane": f"lane-{self.lane}", "deadline": 8, "detached": dice.random() < 0.7,
        }
        kind = dice.random()
        if kind < 0.08:
            request["type"] = "refund"
        elif kind < 0.12:
            request = {"type": "verification", "currency": "EUR", "reason": "openTab"} | {
                name: request[name] for name in ("order", "lane", "deadline", "detached")}
        elif kind < 0.18:
            request["amountStatus"] = "preauthorized"
        elif kind < 0.33:
            request["confirmWithin"] = dice.choice([1, 2, 60])
        sale = shop.orders[order] = Sale(order, f"key-{order}", request)
        shop.tell(order, f"till: sells {request}")
        card = asyncio.create_task(self.present(dice))
        await self.begin(sale, dice)
        await self.follow(sale, dice)
        await self.close(sale, dice)
        await card
        sale.is_under_way = False
        if sale.told == {"failed"} or not self.shop.adapter.server:
            # The shop waits a little, too, when nothing can be charged.
            await asyncio.sleep(dice.random() * 0.6)

    async def present(self, dice):
        await asyncio.sleep(dice.random() * 0.1)
        if dice.random() < 0.06:
            await self.shop.reader(self.lane, dice.choice([
                f"fault card-gone after {dice.randrange(12)}", f"fault mute at {dice.randrange(1, 12)}",
                f"fault garbage at {dice.randrange(1, 12)}", f"fault status 6985 at {dice.randrange(1, 12)}"]))
        if dice.random() < 0.02:
            await self.shop.reader(self.lane, f"swap {dice.choice(CARDS)}")
            await self.shop.reader(self.lane, "collide")
            await asyncio.sleep(0.1)
            await self.shop.reader(self.lane, "remove")
        # Customers whose bank cannot be asked try another card.
        name = dice.choice(CARDS) if self.shop.adapter.server or dice.random() < 0.2 else "visa-afl"
        await self.shop.reader(self.lane, f"swap {name}")

    async def begin(self, sale, dice):
        """It asks, repeats itself, asks twice at a time, or goes away in between."""
        way = dice.random()
        if way < 0.1:
            try:
                await ask(self.shop.pos, "POST", "/v1/transactions", sale.request, key=sale.key, wait=20,
                          limit=dice.random() * 0.3)
            except (OSError, asyncio.IncompleteReadError, TimeoutError):
                self.shop.tell(sale.order, "till: goes away")
            await asyncio.sleep(dice.random() * 0.3)
        elif way < 0.2:
            # Two at a time: one of them may hear that the other is being looked at.
            await asyncio.gather(self.post(sale), self.post(sale))
        while True:
            status, _, answer = await self.post(sale, wait=None if way < 0.5 else 20)
            code = answer.get("error", {}).get("code")
            if code not in ("reader.busy", "idempotency.in_progress", "reader.detached"):
                break
            await asyncio.sleep(0.1)
        if status not in (200, 201):
            self.shop.fault(sale.order, f"a sale was refused: {status} {answer}")

    async def follow(self, sale, dice):
        if sale.id and dice.random() < 0.1:
            await asyncio.sleep(dice.random() * 0.4)
            await self.wish(sale, "cancel")
        if sale.id and dice.random() < 0.05:
            await asyncio.sleep(dice.random() * 0.4)
            await self.wish(sale, "reversal", {"reason": "customerCancel"})
        nudge = asyncio.create_task(self.nudge(sale, dice))
        end = time.monotonic() + 180
        while sale.id and not sale.told & SETTLED:
            status, answer = await self.shop.call("GET", f"/v1/transactions/{sale.id}?wait=10", limit=20)
            self.hear(sale, status, answer, "GET")
            if time.monotonic() > end:
                # What only a person can end has to be listed for that person.
                _, listed = await self.shop.call("GET", "/v1/open-items")
                if not any(item["transaction"] == sale.id for item in listed.get("items", [])):
                    self.shop.fault(sale.order, f"no end for its till within three minutes: {answer.get('state')}")
                break
        nudge.cancel()

    async def nudge(self, sale, dice):
        """A customer whose card was not read, or whose reader was restarted, presents it again."""
        while True:
            await asyncio.sleep(1)
            await self.shop.reader(self.lane, "remove")
            await self.shop.reader(self.lane, f"swap {dice.choice(CARDS)}")

    async def close(self, sale, dice):
        if "approved" in sale.told and "confirmWithin" in sale.request and dice.random() < 0.8:
            await asyncio.sleep(dice.choice([0, 0, 0, 1, 2]))
            status = await self.wish(sale, "confirmation")
            if status == 200:
                sale.told.add("confirmed")
        if "approved" in sale.told and dice.random() < 0.06:
            await self.wish(sale, "reversal", {"reason": "malfunction"})
        if "stored" in sale.told and dice.random() < 0.2:
            await self.wish(sale, "decline")
        if dice.random() < 0.05:
            # The same key over something else charges nobody.
            other = dict(sale.request, order=f"{sale.order}-other")
            status, answer = await self.shop.call("POST", "/v1/transactions", other, key=sale.key)
            if status != 422:
                self.shop.fault(sale.order, f"the same key with another order: {status} {answer}")
