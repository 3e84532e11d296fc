# SPDX-License-Identifier: Apache-2.0
"""A look at the disks that a power cut leaves, for a tenth of what a start of the programs costs. The journal's own code opens it, and what
it has is held against what was said before. What a start makes of what it finds is seen with the programs, once for each kind of find.
"""
import json
import pathlib
import sqlite3
import subprocess
import threading

from judge import AFTER, BACK
from shop import ENDED, TILLS

# All that the journal's own code reads; the reserve is room, and nothing else.
READ = {f"state/{name}" for name in ("journal.sqlite", "journal.sqlite-wal", "journal.sqlite-journal", "installation.jwk")}
MARKS = ("installation.key", "installation.jwk", "installation.journal", "new-books.story")


class Opener:
    """`rig-books`, which opens one folder after the other."""

    def __init__(self, binaries):
        self.lock = threading.Lock()
        self.program = subprocess.Popen([f"{binaries}/rig-books"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def opened(self, folder):
        with self.lock:
            print(folder, file=self.program.stdin)
            return self.program.stdout.readline().strip()

    def close(self):
        self.program.stdin.close()
        self.program.wait()


class Payment:
    """A row of the journal, and what the payment service has of it: `there` is its money, whether its answer came, and open operations."""

    def __init__(self, id, type, state, order, lane, key, account, due, confirmed, is_queued, is_open):
        self.id, self.type, self.state, self.order, self.lane, self.key = id, type, state, order, lane, key
        self.account = json.loads(account) if account else {}
        self.waits = None if due is None else "confirmed" if confirmed else "waits"
        self.is_queued, self.is_open, self.operations = is_queued, is_open, []

    @property
    def money(self):
        return self.account.get("captured", 0) - self.account.get("refunded", 0) if self.state == "approved" else 0


class Found:
    """What a journal has, before a start does anything."""

    def __init__(self, folder, is_new):
        self.payments, self.operations, self.days, self.closed, self.cursor = {}, {}, {}, set(), 0
        if is_new:
            return
        books = sqlite3.connect(f"file:{folder}/state/journal.sqlite?mode=ro", uri=True)
        try:
            for row in books.execute(
                    "SELECT id, type, state, order_reference, lane, idempotency_key, account, confirm_due, confirmed_at, EXISTS (SELECT 1 FROM "
                    "queue_record WHERE payment = payment.id), EXISTS (SELECT 1 FROM open_item WHERE payment = payment.id) FROM payment"):
                self.payments[row[0]] = Payment(*row)
            for id, payment, kind, state in books.execute("SELECT id, payment, kind, state FROM operation"):
                self.operations[id] = state
                self.payments[payment].operations.append((kind, state))
            for id, number, report in books.execute("SELECT id, number, report FROM business_day WHERE state != 'open'"):
                self.days[id] = json.loads(report or "{}").get("totals")
                self.closed.add(number)
            self.cursor, = books.execute("SELECT max(next_event) FROM installation").fetchone()
        finally:
            books.close()


def booked(folder):
    """By id, what the payment service has: money, whether anything of it is unseen, and the operations that it has carried out."""
    file = pathlib.Path(folder, "psp/book.sqlite")
    if not file.is_file() or not file.stat().st_size:
        return {}
    book = sqlite3.connect(file)
    try:
        if not book.execute("SELECT 1 FROM sqlite_schema WHERE name = 'payment'").fetchone():
            return {}
        found = {}
        for content, in book.execute("SELECT content FROM payment"):
            entry = json.loads(content).get("entry")
            if entry:
                owed = entry["held"] + (-entry["money"] if entry["type"] == "refund" else entry["money"])
                unseen = owed > 0 and not entry["answered"] or any(
                    not each["answered"] and each["answer"].get("outcome") in ("approved", "partial") for each in entry["operations"])
                found[entry["id"]] = entry["money"], unseen, len(entry["operations"])
        return found
    finally:
        book.close()


def attempts(content):
    """Of a till's ledger: the phase of each payment by its key, and whether the last line is whole."""
    found, lines = {}, content.split(b"\n")
    for line in lines[:-1]:
        try:
            attempt = json.loads(line[17:]).get("attempt")
        except ValueError:
            return found, "damaged"
        if attempt:
            found[attempt["key"]] = attempt["phase"]
    return found, "cut" if lines[-1] else "whole" if found else "empty"


def contradictions(facts, found, there, sold):
    """What no start can put right: what was told, asked or booked, and is not in the books, or with another end."""
    faults, here = [], found.payments
    for id, told in facts.told.items():
        now = here[id].state if id in here else None
        is_kept = now == "approved" or now in BACK and id not in facts.confirmed
        if now is None and told in AFTER and told not in ("cancelled", "failed"):
            faults.append(f"{id} was told {told}, and is unknown to the books")
        elif told == "approved" and not is_kept or told == "stored" and now not in ("stored", "sent", "unknown", "approved") or \
                told == "declined" and now in ("approved", "stored"):
            faults.append(f"{id} was told {told}, and is {now} in the books")
    faults += [f"{id} was asked for, and is unknown to the books" for id in facts.asked - set(here)]
    faults += [f"operation {id} was told done, and is {found.operations.get(id, 'unknown to the books')}"
               for _, id in facts.operations if found.operations.get(id, "refused") == "refused"]
    faults += [f"day {day} was told closed, and is not, or has other figures" for day, totals in facts.days.items()
               if found.days.get(day, {}) != totals]
    faults += [f"day {number} was told closed by an event, and is not" for number in facts.closed - found.closed]
    if facts.cursor and facts.cursor >= (found.cursor or 0):
        faults.append(f"the cursor {facts.cursor} was given, and the next run begins with {found.cursor}")
    orders = [each.order for each in here.values() if each.state == "approved" and each.type == "purchase" and each.order]
    faults += [f"order {order} is charged twice" for order in set(orders) if orders.count(order) > 1]
    faults += [f"{id}: {money} are charged there, and nobody knows it here" for id, (money, _, _) in there.items() if money and id not in here]
    for till, count in sold.items():
        paid = [each for each in here.values() if each.lane == TILLS[till][1] and each.waits and each.state == "approved"]
        if len(paid) < count:
            faults.append(f"the till {till} has {count} as paid, and the books {len(paid)}")
    return faults


def kinds(facts, found, there, ledgers, marks, away):
    """Of what there is to be found: each needs one start with the programs. What has its end everywhere needs no clock."""
    result = set()
    for id in found.payments.keys() | facts.told.keys() | there.keys():
        it, money = found.payments.get(id), there.get(id)
        told = facts.told.get(id), id in facts.confirmed, id in facts.stored, id in facts.asked
        if it is None:
            result.add((told, money and money[1:], away))
            continue
        booked_as = money and ("none" if not money[0] else "same" if money[0] == it.money else "other", *money[1:])
        is_ended = it.state in ENDED and it.waits != "waits" and not (money and money[1]) and all(state == "done" for _, state in it.operations)
        result.add((it.type, it.state, it.waits, it.is_queued, it.is_open, tuple(sorted(it.operations)), told, booked_as,
                    None if is_ended else away))
    states = {it.key: it.state for it in found.payments.values()}
    for till, content in ledgers.items():
        phases, end = attempts(content or b"")
        result.add((till, content is not None, end, away, tuple(sorted({
            (phase, states.get(key)) for key, phase in phases.items() if phase not in ("confirmed", "notPaid", "takenBack", "reversed")}))))
    result.add((marks, not found.payments))
    return result
