#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A drill: the database is lost under load and restored to a moment before many payments, by the steps of docs/service/payment-service.md, "After a restore".
The acquirer's host is the second one (Tests/Rigs/Host). While nobody has compared the books no till is served and the host hears nothing; what the host
has and the books lack is listed; after the comparison no card is charged twice, also where a till repeats what was lost.

    Tests/Checks/Estate/drill-restore.py FOLDER-WITH-THE-PROGRAMS --tills 32 --seed 7"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
RIG = HERE.parents[1] / "Rigs/Host"
sys.path[:0] = [str(HERE), str(RIG)]
from book import Book  # noqa: E402
from books import rows  # noqa: E402
from centre import Estate  # noqa: E402
from parts import Failed, free_port, run, until  # noqa: E402

POINT = "an_hour_ago"
ARCHIVE = "archive_mode = on\narchive_command = 'cp %p {folder}/archive/%f'\n"
# What the host contradicts is an open item for good.
OPEN = "(stage in ('awaiting', 'reversing', 'advising') or wanted is not null) and not given_up"


class Drill:
    def __init__(self, estate, host, arguments):
        self.estate, self.host, self.arguments, self.faults, self.figures = estate, host, arguments, [], {}
        self.path = estate.path("host.book")

    def check(self, holds, text):
        if not holds:
            self.faults.append(text)

    def known(self):
        return {row[0]: row[1:] for row in rows(
            self.estate.primary, "select trace || '/' || transmitted, payment, stage, id from exchange where kind <> 'day'")}

    def behind(self, number):
        text = self.estate.get(self.estate.path(f"desk-{number}.sock"), "/metrics")
        return "nfc_tap_switch_books_behind 1" in text

    def status(self, socket, target, *more):
        return run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "10", "--unix-socket", socket, f"http://localhost{target}", *more)

    def count(self):
        """Payments, reversals and advices that the host was asked for."""
        with open(self.path, encoding="utf-8") as lines:
            words = [json.loads(line)["do"] for line in lines if line.endswith("\n")]
        return sum(word in ("answered", "reverse", "void", "capture", "release", "refuse") for word in words)

    def approved(self):
        return int(self.estate.primary.sql("select count(*) from payment where state = 'approved'"))

    def run(self):
        estate, database = self.estate, self.estate.primary
        begin, beliefs = time.monotonic(), estate.path("beliefs")
        words = [str(estate.programs / "rig-tills"), "pay", "--tills", str(self.arguments.tills), "--taps", "1000000", "--seed",
                 str(self.arguments.seed), "--seconds", "3600", "--pause", "300", "--beliefs", beliefs]
        for socket in estate.sockets:
            words += ["--socket", socket]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as tills:
            # Payments before the moment, payments after it, and the loss of all of these.
            until("payments before", lambda: self.approved() >= self.arguments.payments, limit=300)
            database.back_up()
            until("payments after the backup", lambda: self.approved() >= 2 * self.arguments.payments, limit=300)
            database.sql(f"select pg_create_restore_point('{POINT}')")
            kept = self.approved()
            self.reverse_before_loss()
            until("payments that will be lost", lambda: self.approved() >= 3 * self.arguments.payments, limit=300)
            name = database.sql("select pg_walfile_name(pg_switch_wal())")
            until("the archive", lambda: (database.folder / "archive" / name).exists())
            lost = self.approved() - kept
            database.crash()
            database.restore(POINT)
            self.wait_until_behind()
            self.compare()
            run(estate.programs / "nfc-tap-switch", "compared", "--database", estate.address)
            for number in range(estate.count):
                until("health", lambda number=number: estate.health(estate.path(f"{number + 1}.sock")) == "ok", limit=120)
            self.take_back()
            served = self.approved()
            until("payments after the comparison", lambda: self.approved() >= served + self.arguments.payments, limit=300)
            self.check(tills.poll() is None, "the tills have ended")
            tills.terminate()
            tills.communicate(timeout=60)
        try:
            until("an end of everything open", lambda: database.sql(f"select count(*) from exchange where {OPEN}") == "0", limit=180)
        except Failed:
            self.check(False, "something stays open: " + database.sql(f"select string_agg(id::text, ' ') from exchange where {OPEN}"))
        self.figures["payments approved and then lost"] = f"at least {lost}"
        self.judge([json.loads(line) for line in open(beliefs, encoding="utf-8") if line.endswith("\n")])
        for name, value in self.figures.items():
            print(f"| {name} | {value} |")
        for text, count in collections.Counter(self.faults).items():
            print(f"fault, {count} times:", text)
        print(f"drill-restore: SEED={self.arguments.seed}, {len(self.faults)} faults, {time.monotonic() - begin:.0f} s")

    def wait_until_behind(self):
        """Step 1: the books are restored, and every replica says by itself that they are older than what it was told."""
        for number in range(self.estate.count):
            until("a replica that knows the books to be behind", lambda number=number: self.behind(number), limit=120)
            self.check(self.status(self.estate.path(f"{number + 1}.sock"), "/v1/health") == "503", "a replica with books that are behind is well")
        before = self.count()
        for _ in range(30):
            for number in range(self.estate.count):
                socket, target = self.estate.path(f"{number + 1}.sock"), "/v1/authorizations"
                status = self.status(socket, target, "-X", "POST", "-d", "{}")
                self.check(status == "421", f"a till that pays hears {status} of books that are behind")
                status = self.status(socket, target + "/01990000-0000-7000-8000-000000000001")
                self.check(status == "503", f"a till that asks hears {status} of books that are behind")
            time.sleep(0.1)
        self.check(self.count() == before, "the host was asked by books that are behind")

    def compare(self):
        """Steps 2 and 3: the host's list against the books. What only the host has is taken back there; what the books call open is listed."""
        # Nothing is booked while its list is made.
        self.host.end()
        book, known = Book(self.path), self.known()
        # With holds that were captured whole: their captures are gone, too.
        missing = [entry for entry in book.entries.values()
                   if (entry.taken or entry.held or entry.kind == "hold") and not entry.is_forgotten and entry.key.split("/", 1)[1] not in known]
        open_here = [entry for entry in book.entries.values()
                     if (entry.taken or entry.held) and known.get(entry.key.split("/", 1)[1], ("", ""))[1] in ("awaiting", "reversing")]
        self.listed = {entry.key for entry in missing}
        self.figures["the host has and the books lack, listed"] = len(missing)
        self.figures["open in the books and approved by the host, listed"] = len(open_here)
        with open(self.estate.path("missing"), "w", encoding="utf-8") as file:
            for entry in missing:
                file.write(f"{entry.reference} {entry.key} {entry.kind} {entry.amount}\n")
        # Taken back after the moment: the books have forgotten it, and the till has not.
        self.taken_back = [known[key][0] for key in (entry.key.split("/", 1)[1] for entry in book.entries.values() if entry.is_reversed)
                           if known.get(key, ("", ""))[1] == "answered"]
        self.figures["taken back at the host and approved in the books, taken back again"] = len(self.taken_back)
        self.check(missing, "nothing was lost: this proves nothing")
        # The acquirer does it, for its books are its own.
        for entry in missing:
            book.write(do="forget", key=entry.key)
        book.file.close()
        self.host.start()

    def take_back(self):
        """Step 5: what the host has taken back is taken back here as its till did it."""
        self.check(self.taken_back, "no reversal was lost: this proves nothing")
        merchants = dict(rows(self.estate.primary, "select id, merchant from payment where state = 'approved'"))
        for payment in self.taken_back:
            if payment in merchants:
                self.reverse(payment, merchants[payment])

    def reverse(self, payment, merchant):
        status = self.status(
            self.estate.path("1.sock"), f"/v1/authorizations/{payment}/reversals", "-H", f"X-Till: {merchant}",
            "-H", f"Idempotency-Key: {payment}", "-H", "Content-Type: application/json", "-d", '{"reason":"customerCancel"}')
        self.check(status in ("200", "202"), f"the reversal of {payment} hears {status}")

    def reverse_before_loss(self):
        """Payments that the restored books will have, taken back in the time that is lost: their tills have long gone on."""
        old = rows(self.estate.primary, "select p.id, p.merchant from payment p join exchange x on x.id = p.id where p.state = 'approved'"
                   " and p.kind = 'sale' and not p.offline and p.refunded = 0 and x.stage = 'answered' order by p.created limit 4")
        for payment, merchant in old:
            self.reverse(payment, merchant)
        names = ", ".join(f"'{payment}'" for payment, _ in old)
        until("the ends of reversals", lambda: self.estate.primary.sql(
            f"select count(*) from exchange where id in ({names}) and stage in ('answered', 'reversing') and not given_up") == "0", limit=120)

    def judge(self, beliefs):
        book, known = Book(self.path), self.known()
        for what, count in collections.Counter(book.violations).items():
            self.check(False, f"the host's manual is broken {count} times: {what}")
        for first, second in book.doubles():
            self.check(False, f"one cryptogram has paid twice: {first} and {second}")
        states = dict(rows(self.estate.primary, "select id, state from payment"))
        sums = dict(rows(self.estate.primary, "select payment, sum(amount) filter (where account = 'shop') from entry group by payment"))
        held = collections.Counter()
        for entry in book.entries.values():
            payment = known.get(entry.key.split("/", 1)[1], ("",))[0]
            held[payment] += entry.taken
            self.check(payment or not (entry.taken or entry.held), f"{entry.key}: the host has what the books lack and the list did not have")
        contradicted = {row[0] for row in rows(self.estate.primary, "select payment from exchange where given_up")}
        self.figures["open items by a contradiction of the host"] = len(contradicted)
        for payment in {*sums, *held} - {""} - contradicted:
            self.check(int(sums.get(payment) or 0) == held[payment], f"{payment}: {sums.get(payment)} here, {held[payment]} there")
        lost = [told for told in beliefs if told["belief"] == "approved" and states.get(told["id"]) != "approved"]
        self.figures["tills were told approved, and the payment is gone"] = len(lost)
        # Each is on the list, by its sum at least, or was open in the books.
        self.figures["charged twice"] = len(book.doubles())
        repeated = sum(entry.card in {other.card for other in book.entries.values() if other.key in self.listed}
                       for entry in book.entries.values() if entry.key not in self.listed and entry.card)
        self.figures["cards that were charged anew after the reversal of what was lost"] = repeated


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--tills", type=int, default=32)
    parser.add_argument("--payments", type=int, default=60, help="approved in each part of the drill")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the folders")
    arguments = parser.parse_args()
    port = free_port()
    estate = Estate(
        arguments.programs, replicas=2, shops=2, tills=arguments.tills, standby=False, token=False, acquirer=f"127.0.0.1:{port}",
        packager=str(RIG / "second-host.json"), answer_seconds=2, marks=True, database=ARCHIVE)
    host = estate.part(
        "host", sys.executable, RIG / "host.py", port, estate.path("host.book"), "--seed", arguments.seed, "--answer-seconds", 2, "--faults", 20)
    drill = Drill(estate, host, arguments)
    with estate:
        drill.run()
    if drill.faults or arguments.keep:
        print(f"drill-restore: logs and books are in {estate.folder}, {estate.primary.folder}")
    else:
        estate.remove()
    sys.exit(1 if drill.faults else 0)


if __name__ == "__main__":
    main()
