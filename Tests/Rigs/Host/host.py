#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second acquirer's host, by another hand than the switch: written from the message lists that acquirers print for their merchants (authorisation and
financial requests, advices, reversals with field 90, sign-on, sign-off, key change, cut-over and echo by field 70, totals by 0500), with a book of its
own, its own times (7) and references (37), and the ways of hosts on a bad day, which a seed chooses.

    host.py PORT BOOK --seed 7 --answer-seconds 3 --faults 100

SIGUSR1 makes it well: from then on it does what its manual says. `second-host.json` beside it is what a switch has to know."""
import argparse
import asyncio
import datetime
import hashlib
import os
import random
import signal
import ssl
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from book import Book  # noqa: E402
from line import Line  # noqa: E402
from wire import HEADER, Message, tags  # noqa: E402

# Of a thousand payments; what happens to it, and whether it is booked.
PAYMENT_FAULTS = [
    ("approved, 16", 15), ("part", 15), ("declined", 30), ("try later", 10),
    ("odd code, booked", 12), ("odd code", 8), ("no code, booked", 4), ("doubt, booked", 6), ("doubt", 6),
    ("lost, booked", 12), ("lost", 8), ("late, booked", 12), ("at the last moment, booked", 8), ("twice", 10),
    ("declined, then approved", 4), ("approved, then declined", 4),
    ("wrong amount, booked", 3), ("wrong currency, booked", 3), ("wrong kind, booked", 2), ("another terminal, booked", 4),
    ("booked in a while", 8), ("not known, then booked", 3),
    ("cut before", 3), ("cut after, booked", 3), ("half an answer, booked", 3), ("bad bytes, booked", 2), ("bad length, booked", 2), ("deaf", 1),
]
# Where messages carry codes.
CODE_FAULTS = [("wrong code, booked", 6), ("no code, booked", 5), ("another key, booked", 5), ("no code", 3)]
# Of a thousand reversals and advices.
ADVICE_FAULTS = [
    ("lost", 30), ("lost, done", 40), ("late, done", 20), ("twice", 30), ("try later", 20), ("try later, done", 15), ("odd code", 10), ("blanks, done", 10),
    ("cut after, done", 5), ("refused", 10), ("refused, then done", 10), ("lie", 60),
]
# What its manual promises in a certificate test: by the minor units of a payment, what is done, and the code. All else is approved.
TEST_AMOUNTS = {
    2051: ("declined", "51"), 2054: ("declined", "54"), 2091: ("try later", "91"), 2096: ("doubt", "96"), 2010: ("part", None),
    2097: ("odd code", "Z9"), 2098: ("lost, booked", None), 2099: ("late, booked", None),
}
# Of a thousand messages: what the host does by itself.
OWN_WAYS = [("cut-over", 2), ("sign-off", 1), ("key change", 3), ("echo", 6), ("stray answer", 5), ("unknown type", 2), ("stall", 1), ("empty frame", 3)]


class Host:
    def __init__(self, book, seed, answer_seconds, faults, zone=None, algorithm="cmac", is_test=False):
        self.is_test = is_test
        self.book, self.dice, self.seconds, self.faults = book, random.Random(seed), answer_seconds, faults
        self.lines, self.stalled_until, self.traces = set(), 0.0, 0
        # Until when each port takes no line, by its number.
        self.closed = {}
        self.codes = None
        if zone:
            from codes import Codes  # Needs a library that is not Python's own.
            self.codes = Codes(zone, self.dice, algorithm)
            PAYMENT_FAULTS.extend(CODE_FAULTS)
        self.day = datetime.date(2026, 11, 28) + datetime.timedelta(days=book.cut_overs)
        for key in list(book.unsure):
            book.write(do="forget", key=key)
        # None is given twice, also after a death.
        self.references = 1_000 * int(time.time() % 100_000_000)
        # What is on its way into the book: keys.
        self.coming = {}
        # The line over which an approval went out at once, by key.
        self.told = {}

    def well(self):
        self.faults = 0

    def chosen(self, amount):
        """What is done with a payment, and the code where its manual has one for the amount."""
        if self.is_test:
            return TEST_AMOUNTS.get(amount, ("approved", None))
        return self.choose(PAYMENT_FAULTS) or "approved", None

    def choose(self, table):
        left = self.dice.random() * 1_000
        for what, count in table:
            left -= count * self.faults / 100
            if left < 0:
                self.book.write(do="fault", what=what)
                return what
        return None

    async def stalls(self):
        """Everything stands still for a while, and goes on after it."""
        while (left := self.stalled_until - time.monotonic()) > 0:
            await asyncio.sleep(left)

    # Messages

    def stamped(self, message):
        """The host's own time in field 7."""
        message[7] = datetime.datetime.now(datetime.timezone.utc).strftime("%m%d%H%M%S")
        return message

    def answer(self, request, code, **fields):
        message = self.stamped(request.answer(3, 4, 11, 12, 13, 32, 41, 42, 49))
        if code is not None:
            message[39] = code
        message[15] = self.day.strftime("%m%d")
        for name, value in fields.items():
            message[int(name[1:])] = value
        return message

    def take(self, line, message):
        kind = message.kind
        if kind[1] == "8":
            return self.network(line, message)
        if kind not in ("0100", "0200", "0220", "0221", "0400", "0401", "0420", "0421", "0500", "0501"):
            return self.book.write(do="violation", what=f"type {kind} is not in the manual")
        if not line.is_signed_on:
            self.book.write(do="violation", what=f"{kind} on a line that is not signed on")
        if missing := [number for number in (7, 11, 32) if number not in message]:
            return self.book.write(do="violation", what=f"{kind} without {missing}")
        self.own_ways(line)
        if kind in ("0100", "0200"):
            self.payment(line, message)
        elif kind[1] == "5":
            self.totals(line, message)
        else:
            self.advice(line, message)

    # The session

    def network(self, line, message):
        what = message.get(70)
        if int(message.kind[2]) % 2:
            # The switch's word on what the host asked for.
            if what == "101" and line.next_key:
                if message.get(39) == "00":
                    line.key = line.next_key
                line.next_key = None
            if what == "002" and message.get(39) == "00":
                line.is_signed_on = False
                if not self.faults or self.dice.random() < 0.7:
                    line.later(self.dice.uniform(0.3, 2), self.request("001"), lambda: setattr(line, "is_signed_on", True))
            return
        if what == "001":
            line.is_signed_on = True
        elif what == "002":
            line.is_signed_on = False
        answer = self.stamped(message.answer(11, 32, 70))
        answer[39] = "00" if what in ("001", "002", "301") else "12"
        if what == "101" and self.codes:
            if not line.is_signed_on:
                self.book.write(do="violation", what="a key was asked for before the sign-on")
            line.key, line.next_key = self.codes.fresh(), None
            answer[39], answer[48] = "00", self.codes.handed(line.key)
        line.send(answer)
        if self.codes:
            return
        if what == "001" and self.faults and self.dice.random() < 0.3:
            line.send(self.request("101", **{"f48": "ZPK0011223344556677"}))

    def request(self, what, **fields):
        self.traces = self.traces % 999_999 + 1
        message = self.stamped(Message("0800", {11: str(self.traces).zfill(6), 70: what}))
        for name, value in fields.items():
            message[int(name[1:])] = value
        return message

    def own_ways(self, line):
        what = self.choose(OWN_WAYS + [("port closed", 2)] * (len(self.closed) > 1))
        if what == "cut-over":
            self.day += datetime.timedelta(days=1)
            self.book.write(do="cutover", day=self.day.isoformat())
            for each in self.lines:
                each.send(self.request("201", f15=self.day.strftime("%m%d")))
        elif what == "port closed":
            self.closed[line.port] = time.monotonic() + self.dice.uniform(1, 6)
            for each in [each for each in self.lines if each.port == line.port]:
                each.cut()
        elif what == "sign-off":
            line.send(self.request("002"))
        elif what == "key change":
            self.change_key(line)
        elif what == "echo":
            line.send(self.request("301"))
        elif what == "stray answer":
            line.send(self.stamped(Message("0210", {4: "000000000100", 11: "999999", 32: "12345678901", 39: "00", 41: "T0000000"})))
        elif what == "unknown type":
            line.send(self.stamped(Message("0620", {11: "000001", 48: "A NOTE FOR THE OPERATOR"})))
        elif what == "stall":
            self.stalled_until = time.monotonic() + self.seconds * self.dice.uniform(0.5, 1.3)
        elif what == "empty frame":
            line.send(b"0000")

    def change_key(self, line):
        """By itself: without codes nobody wants the key, with them every fifth is damaged on its way."""
        if not self.codes:
            return line.send(self.request("101", f48="ZPK8899AABBCCDDEEFF"))
        if line.key is None or line.next_key:
            return
        key = self.codes.fresh()
        text = self.codes.handed(key)
        if self.dice.random() < 0.2:
            return line.send(self.request("101", f48=self.codes.damaged(text)))
        line.next_key = key
        line.send(self.request("101", f48=text))

    # Payments

    @staticmethod
    def key(message):
        return f"{message.get(41, '').strip()}/{message[11]}/{message[7]}"

    def payment(self, line, message):
        key, book = self.key(message), self.book
        if key in book.entries or key in self.coming:
            book.write(do="violation", what=f"{message.kind} {key} came twice")
            return
        amount, is_credit = int(message[4]), message[3].startswith("20")
        kind = "hold" if message.kind == "0100" else "credit" if is_credit else "debit"
        card = None
        if 55 in message:
            chip = tags(message[55])
            if int(chip.get("9F02", "-1")) != amount:
                book.write(do="violation", what=f"{key}: 9F02 is not field 4")
            number = message.get(2) or message.get(35, "").replace("=", "D").split("D")[0]
            card = hashlib.sha256(f"{number}/{chip.get('9F36')}/{chip.get('9F26')}".encode()).hexdigest()[:24]
        self.references += 1
        reference = f"H{self.references:011d}"
        code = f"{self.dice.randrange(1_000_000):06d}"
        fault, fixed = self.chosen(amount)
        if fault == "deaf":
            line.is_deaf = True
            return
        if fault == "cut before":
            return line.cut()
        if fault == "lost":
            return
        if fault == "no code":
            return line.send(self.answer(message, "51", f37=reference), fault)
        if fault in ("declined", "try later", "odd code", "doubt"):
            word = fixed or self.dice.choice({"declined": ["51", "05", "61", "14"], "try later": ["91"], "odd code": ["32", "  ", "Z9", "99"], "doubt": ["96", "68"]}[fault])
            return line.send(self.answer(message, word, f37=reference))
        value = max(1, amount // 2) if fault == "part" else amount
        word = {"approved, 16": "16", "part": "10"}.get(fault, "00")
        told = self.answer(message, word, f37=reference, f38=code)
        told[4] = str(value).zfill(12)

        def booked():
            book.write(do="book", key=key, kind=kind, card=card, amount=amount, value=value, code=word, reference=reference, day=told[15])

        if fault in ("booked in a while", "not known, then booked"):
            self.coming[key] = fault
            # Who has heard of its reversal meanwhile does not book it; who forgets that, does, whether or not anybody is there to hear of it.
            def in_a_while():
                del self.coming[key]
                if key not in book.voided:
                    booked()
                    line.send(told)
            asyncio.get_running_loop().call_later(self.dice.uniform(0.2, 2 * self.seconds), in_a_while)
            return
        if key in book.voided:
            return line.send(self.answer(message, "94", f37=reference))
        booked()
        self.tell(line, message, fault, told, key)

    def tell(self, line, message, fault, told, key):
        """The answer to what is booked, as the fault has it."""
        if fault == "odd code, booked":
            told[39] = self.dice.choice(["32", "  ", "Z9", "99"])
        elif fault == "doubt, booked":
            told[39] = self.dice.choice(["96", "68", "22"])
        elif fault == "no code, booked":
            del told[39]
        elif fault == "wrong amount, booked":
            told[4] = str(int(message[4]) + 100).zfill(12)
        elif fault == "wrong currency, booked":
            told[49] = "840"
        elif fault == "wrong kind, booked":
            told[3] = "310000"
        elif fault == "another terminal, booked":
            told[41] = "T9999999"
        if fault == "lost, booked":
            return
        if fault in ("wrong code, booked", "no code, booked", "another key, booked"):
            return line.send(told, fault.split(",")[0])
        if fault in ("late, booked", "at the last moment, booked"):
            wait = self.dice.uniform(0.1, 3) if fault == "late, booked" else self.dice.uniform(-0.3, 0.1)
            return line.later(self.seconds + wait, told)
        if fault == "cut after, booked":
            return line.cut()
        if fault == "half an answer, booked":
            return line.cut(told.frame()[:40])
        if fault == "bad bytes, booked":
            data = told.frame()
            return line.send(data[:HEADER + 4] + b"\xff\x00\x80" + data[HEADER + 7:])
        if fault == "bad length, booked":
            return line.send(b"\x00\x45" + told.frame()[HEADER:])
        if fault == "declined, then approved":
            self.book.write(do="unsure", key=key)
            line.send(self.answer(message, "51", f37=told[37]))
            return line.later(self.dice.uniform(0, 0.5), told, lambda: line.unless_heard(key, fault))
        self.book.write(do="answered", key=key, code=told.get(39, ""), day=told[15])
        line.send(told)
        if told.get(39) in ("00", "16") and fault != "another terminal, booked":
            self.told[key] = line
        if fault == "twice":
            line.later(self.dice.uniform(0, 0.3), told)
        elif fault == "approved, then declined":
            line.later(self.dice.uniform(0, 0.5), self.answer(message, "51", f37=told[37]), lambda: line.if_heard(key, fault))

    # Reversals, captures, releases

    def original(self, message):
        """By field 90: type, trace number and time of what it is about, at the same terminal."""
        if len(message.get(90, "")) != 42:
            self.book.write(do="violation", what=f"{message.kind} without field 90")
            return None
        return f"{message.get(41, '').strip()}/{message[90][4:10]}/{message[90][10:20]}"

    def advice(self, line, message):
        key, book = self.key(message), self.book
        original = self.original(message)
        if original is None:
            return line.send(self.answer(message, "30"))
        fault = self.choose(ADVICE_FAULTS)
        if fault == "lost":
            return
        if fault in ("try later", "odd code"):
            return line.send(self.answer(message, "91" if fault == "try later" else self.dice.choice(["96", "Z9"] + ["30", "57"] * (message.kind[1] == "4" and 95 not in message))))
        # What it has carried out it does not refuse afterwards, where nobody may have heard of the first.
        if fault == "refused, then done" and message.kind[1] == "2" and key not in book.advices:
            line.send(self.answer(message, "57"))
            return line.later(self.dice.uniform(0, 0.3), b"", lambda: self.after_all(line, message, key, original))
        word = self.carry_out(line, message, key, original, fault)
        answer = self.answer(message, word)
        if fault == "lost, done":
            return
        if fault == "cut after, done":
            return line.cut()
        if fault == "late, done":
            return line.later(self.dice.uniform(0.5, 2 * self.seconds), answer)
        if fault == "try later, done":
            answer[39] = "91"
        elif fault == "blanks, done":
            answer[39] = "  "
        line.send(answer)
        if fault == "twice":
            line.later(self.dice.uniform(0, 0.3), answer)

    def after_all(self, line, message, key, original):
        if line.is_heard():
            line.send(self.answer(message, self.carry_out(line, message, key, original, None)))
            if key in self.book.entries:
                self.book.write(do="unsure", key=key)
                line.unless_heard(key, "refused, then done")

    def carry_out(self, line, message, key, original, fault):
        book, entry = self.book, self.book.entries.get(original)
        if key in book.advices:
            # A repeat is carried out once, and who is told so may count on it.
            if key in book.unsure:
                book.write(do="sure", key=key)
            return self.dice.choice(["94", book.advices[key]]) if book.advices[key] == "00" and int(message.kind[3]) % 2 else book.advices[key]
        is_reversal = message.kind[1] == "4"
        if entry is None:
            if is_reversal:
                if self.coming.get(original) != "not known, then booked":
                    book.write(do="void", key=key, original=original)
                return self.dice.choice(["25"] * 12 + ["00"] * 7 + ["12"]) if self.faults else "25"
            book.write(do="refuse", key=key, code="25")
            return "25"
        if fault == "refused" and not is_reversal:
            book.write(do="refuse", key=key, code="57")
            return "57"
        if is_reversal and 95 not in message:
            sent = self.told.get(original)
            # What it has approved over this very line it says not to know; what it does with it is its own affair.
            if fault == "lie" and sent is line:
                word = self.dice.choice(["25", "12", "94"] if message.kind[3] == "0" else ["25", "12"])
                book.write(do="lie", key=original, what=f"{message.kind} {word}")
                if self.dice.random() < 0.5 and word != "94":
                    book.write(do="forget", key=original)
                return word
            book.write(do="reverse", key=key, original=original)
            return "00"
        if is_reversal:
            book.write(do="release", key=key, original=original, remaining=int(message[95][:12]))
            return "00"
        if entry.is_reversed or entry.kind != "hold" or int(message[4]) > entry.held:
            book.write(do="refuse", key=key, code="25" if entry.is_reversed else "61")
            return book.advices[key]
        book.write(do="capture", key=key, original=original, amount=int(message[4]))
        return "00"

    # Totals

    def totals(self, line, message):
        fault = self.dice.choice(["91", "30", "  ", "lost", None]) if self.faults else None
        if fault == "lost":
            return
        answer = self.stamped(message.answer(11, 32, 50))
        if fault:
            answer[39] = fault
            return line.send(answer)
        told = int(message[97][1:]) * (1 if message[97][0] == "D" else -1)
        is_same = told == self.book.net()
        answer[39], answer[66] = ("00", "1") if is_same else ("95", "2")
        self.book.write(do="day", credits=message.get(86), debits=message.get(88), told=told, code=answer[39])
        line.send(answer)


async def serve(arguments):
    host = Host(Book(arguments.book), f"{arguments.seed}/{os.path.exists(arguments.book) and os.path.getsize(arguments.book)}",
                arguments.answer_seconds, arguments.faults, arguments.zone, arguments.algorithm, arguments.test_amounts)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, host.well)
    secure = None
    if arguments.certificate:
        secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=arguments.authority)
        secure.minimum_version = ssl.TLSVersion.TLSv1_2
        secure.verify_mode = ssl.CERT_REQUIRED
        secure.load_cert_chain(arguments.certificate)
    servers = []
    for port in [arguments.port, *arguments.second]:
        host.closed[port] = 0.0

        async def come(reader, writer, port=port):
            if time.monotonic() < host.closed[port] and host.faults:
                return writer.close()
            await Line(host, reader, writer, port).run()

        servers.append(await asyncio.start_server(come, "127.0.0.1", port, ssl=secure))
    print(servers[0].sockets[0].getsockname()[1], flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("book")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--answer-seconds", type=float, default=3)
    parser.add_argument("--faults", type=float, default=100, help="per cent of the usual share; 0 for none")
    parser.add_argument("--test-amounts", action="store_true", help="for a certificate test: the amount says what is done, and nothing is left to chance; with --faults 0")
    parser.add_argument("--second", type=int, action="append", default=[], help="another port of the same host; then ports are closed for a while")
    parser.add_argument("--certificate", help="TLS by this file, for those whose certificate is of --authority")
    parser.add_argument("--authority")
    parser.add_argument("--zone", help="key in hexadecimal: messages carry codes, by keys that it wraps")
    parser.add_argument("--algorithm", choices=["cmac", "retail"], default="cmac", help="of the codes")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
