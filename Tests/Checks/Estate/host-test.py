#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of a host certificate test, one after the other, through nfc-tapd, nfc-tap-switch and a host: what the till was told, and for
each message the fields by which the host's engineer finds it. docs/service/payment-service.md says how to use it.

    Tests/Checks/Estate/host-test.py FOLDER-WITH-THE-PROGRAMS                                   # against nfc-tap-acquirer-sim, with virtual cards
    Tests/Checks/Estate/host-test.py FOLDER --second-host                                       # against Tests/Rigs/Host, by the amounts of its manual
    Tests/Checks/Estate/host-test.py FOLDER --acquirer 10.0.0.7:8583 --packager our-host.json --acquirer-number 12345678901 \\
        --acceptor M-4711 --terminal TERM0001 --cases our-cases.jsonl --reader pcsc:Identiv

Ends with 1 where a case was not as the file of cases has it. Keys come from the published test file: test cards only.
"""
import argparse
import json
import os
import pathlib
import sys
import time
import uuid

from centre import Estate
from parts import free_port, run, until

HERE = pathlib.Path(__file__).resolve().parents[3]
RIG = HERE / "Tests/Rigs/Host"
MESSAGES = """
select type, stage, coalesce(detail, ''), trace, coalesce(transmitted, ''), coalesce(reference, ''), kind, attempts
from exchange where created >= to_timestamp(%f) order by created
"""
OPEN = "select count(*) from exchange where stage in ('awaiting', 'reversing', 'advising', 'reconciling') or wanted is not null"


class Bench:
    def __init__(self, estate, arguments):
        self.estate, self.arguments = estate, arguments
        self.is_virtual = arguments.reader.startswith("virtual:")

    def start_till(self):
        estate = self.estate
        estate.start_daemon(self.arguments.reader.format(folder=estate.folder))
        if self.is_virtual:
            # It stays there: another one of the same account would begin its counter anew, which an issuer refuses.
            run(estate.programs / "nfc-tap", "virtual", "--control", estate.path("reader.sock"), "present", self.arguments.card)

    def post(self, target, body, keyed=True):
        words = ["curl", "-s", "--max-time", "150", "--unix-socket", self.estate.path("pos.sock"), f"http://localhost{target}", "-H",
                 "Content-Type: application/json", "-H", "Prefer: wait=120", "-d", json.dumps(body)]
        return json.loads(run(*words, *(["-H", f"Idempotency-Key: {uuid.uuid4()}"] if keyed else []), limit=160))

    def tap(self, case):
        if not self.is_virtual:
            print(f"{case['case']} {case['title']}: present the card.", file=sys.stderr)
        body = {"type": "purchase", "amount": {"value": case["amount"], "currency": self.arguments.currency}}
        if case["do"] == "hold":
            body["amountStatus"] = "preauthorized"
        answer = self.post("/v1/transactions", body)
        if "id" not in answer:
            raise SystemExit(f"{case['case']}: {answer}")
        return answer

    def follow(self, step, payment):
        word, *amount = step.split()
        money = {"amount": {"value": int(amount[0]), "currency": self.arguments.currency}} if amount else {}
        target = f"/v1/transactions/{payment}"
        if word == "reverse":
            self.post(f"{target}/reversal", {"reason": "customerCancel"}, keyed=False)
        elif word == "refund":
            self.post("/v1/transactions", {"type": "refund", "of": payment, **money})
        elif word in ("capture", "release"):
            self.post(f"{target}/{word}s", {**money, **({"final": True} if word == "capture" else {})})
        else:
            raise SystemExit(f"“{step}” is no step: write reverse, refund N, capture N or release")

    def settled(self):
        until("an end of every message", lambda: self.estate.primary.sql(OPEN) == "0", limit=self.arguments.patience)

    def carry_out(self, case):
        """- the faults of one case."""
        # Of the database's clock, which the rows have.
        begin = float(self.estate.primary.sql("select extract(epoch from clock_timestamp())"))
        told = "–"
        if case["do"] == "close-day":
            self.estate.close_day()
            time.sleep(1)
        else:
            answer = self.tap(case)
            told = answer["state"]
            for step in case.get("then", []):
                self.follow(step, answer["id"])
        time.sleep(0.3)
        try:
            self.settled()
        except Exception as error:  # noqa: BLE001: the rows below show what is open
            print(f"{case['case']}: {error}", file=sys.stderr)
        rows = [line.split("|") for line in self.estate.primary.sql(MESSAGES % begin).splitlines()]
        found = [f"{row[0]} {row[1]} {row[2]}".strip() for row in rows]
        wanted = case.get("messages", [])
        is_so = told == case.get("till", "–") and len(found) == len(wanted) and all(
            have.startswith(want) for have, want in zip(found, wanted))
        for index, row in enumerate(rows or [[""] * 8]):
            first = index == 0
            print(f"| {case['case'] if first else ''} | {case['title'] if first else ''} | {told if first else ''} | {row[0]} | {row[3]} | "
                  f"{row[4]} | {row[5]} | {row[1]} {row[2]} | {('as expected' if is_so else 'NOT as expected') if first else ''} |", flush=True)
        if not is_so:
            print(f"{case['case']}: wanted {case.get('till', '–')} and {wanted}, got {told} and {found}", file=sys.stderr)
        return not is_so


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--acquirer", help="host:port; without it nfc-tap-acquirer-sim is started")
    parser.add_argument("--second-host", action="store_true", help="Tests/Rigs/Host is started, with its packager and its cases")
    parser.add_argument("--packager", default="1987-bcd", help="file, or name of a built-in one")
    parser.add_argument("--acquirer-number", default="12345678901", help="field 32")
    parser.add_argument("--acceptor", default="M-1", help="field 42")
    parser.add_argument("--terminal", default="T0000000", help="field 41")
    parser.add_argument("--location", default="A shop", help="field 43")
    parser.add_argument("--category", default="5411", help="field 18")
    parser.add_argument("--currency", default="EUR")
    parser.add_argument("--cases", default=HERE / "docs/examples/host-test.jsonl")
    parser.add_argument("--only", help="case that is run alone, by the start of its name")
    parser.add_argument("--reader", default="virtual:{folder}/reader.sock", help="as in nfc-tapd.toml: pcsc:NAME")
    parser.add_argument("--card", default="visa", help="virtual card, see nfc-tap virtual --help")
    parser.add_argument("--answer-seconds", default=3, help="for the host")
    parser.add_argument("--patience", type=float, default=60, help="seconds until every reversal and advice has to be acknowledged")
    parser.add_argument("--keep", action="store_true", help="keep the folder of logs and books")
    arguments = parser.parse_args()
    if arguments.second_host:
        port = free_port()
        arguments.acquirer, arguments.packager, arguments.cases = f"127.0.0.1:{port}", str(RIG / "second-host.json"), RIG / "cases.jsonl"
    lines = pathlib.Path(arguments.cases).read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["case"].startswith(arguments.only or "")]
    packager = str(pathlib.Path(arguments.packager).resolve()) if "/" in arguments.packager else arguments.packager
    faults = 0
    estate = Estate(arguments.programs, replicas=1, shops=1, tills=1, standby=False, token=False, proxies=False, acquirer=arguments.acquirer,
                    number=arguments.acquirer_number, packager=packager, answer_seconds=arguments.answer_seconds)
    if arguments.second_host:
        estate.part("host", sys.executable, RIG / "host.py", port, estate.path("host.book"), "--answer-seconds", arguments.answer_seconds, "--faults", 0, "--test-amounts")
    with estate:
        estate.primary.sql("update merchant set acceptor = '%s', location = '%s', category = '%s'; update terminal set acceptor_terminal = '%s'" % tuple(
            text.replace("'", "''") for text in (arguments.acceptor, arguments.location, arguments.category, arguments.terminal)))
        bench = Bench(estate, arguments)
        bench.start_till()
        print("| case | | till | type | 11 | 7 | 37 | stage, 39 | |\n|---|---|---|---|---|---|---|---|---|")
        for case in cases:
            faults += bench.carry_out(case)
    if arguments.keep:
        print(f"host-test: logs and books are in {estate.folder}", file=sys.stderr)
    else:
        estate.remove()
    print(f"host-test: {len(cases)} cases, {faults} not as expected", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
