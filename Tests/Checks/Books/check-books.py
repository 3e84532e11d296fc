#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shops with real daemons, whose payment services lie, whose tills forget and whose daemons are killed: in the end, after a
time in which everybody is honest, the books say what the payment services have booked, or an open item names the difference.

    Tests/Checks/Books/check-books.py FOLDER-WITH-THE-PROGRAMS --count 1000 --seed 7

The seed decides what everybody does; which of two things comes first, the machine decides. Ends with 1 where the books do
not balance, and prints the story of each such sale.
"""
import argparse
import asyncio
import collections
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from operations import OperationShop
from shop import ENDED, Shop


class Judgement:
    """Books against ledger."""

    def __init__(self, shop, listed):
        self.shop, self.listed = shop, listed
        self.states, self.open, self.differences, self.stored = collections.Counter(), 0, 0, 0

    def judge(self):
        service = self.shop.adapter.service
        known = set()
        for sale in self.shop.orders.values():
            for id, transaction in sale.books.items():
                known.add(id)
                self.judge_transaction(sale, id, transaction, service.charged(id))
            self.judge_till(sale)
        for id in service.bookings:
            if id not in known and service.charged(id):
                self.shop.fault(service.orders[id], f"{id} is charged, and not in the books")
        for what in self.shop.adapter.faults:
            self.shop.fault(what.split(":")[0], what)
        for id in self.listed or ():
            if id not in known:
                self.shop.fault("daemon", f"open item of {id}, which nobody has asked for")

    def judge_transaction(self, sale, id, transaction, charged):
        state = transaction["state"]
        self.states[state] += 1
        self.stored += any(step["state"] == "stored" for step in transaction["history"])
        wanted = []
        if state == "approved":
            amount = transaction.get("result", {}).get("amountApproved") or transaction["amount"]
            wanted = [(amount["value"], amount["currency"])]
        if state not in ENDED:
            self.open += 1
            # The amount is in the item; whether it is charged a person has to find out.
            if charged:
                self.differences += 1
            if self.listed is not None and id not in self.listed:
                self.shop.fault(sale.order, f"{id} is {state}, {charged} charged, and no open item")
            elif self.listed is not None and self.listed[id]["amount"] != transaction["amount"]:
                self.shop.fault(sale.order, f"{id}: the open item is over {self.listed[id]['amount']}")
        elif self.listed is not None and id in self.listed:
            self.shop.fault(sale.order, f"{id} is {state}, and still an open item")
        elif charged != wanted:
            self.shop.fault(sale.order, f"{id} is {state} here, {charged} charged there")

    def judge_till(self, sale):
        states = {transaction["state"] for transaction in sale.books.values()}
        if sale.id and sale.id not in sale.books:
            self.shop.fault(sale.order, f"{sale.id} was told to the till, and is not in the books")
        taken_back = sale.wishes & {"cancel", "reversal"}
        if "confirmed" in sale.told and states & {"reversing", "reversed", "declined"} and not taken_back:
            self.shop.fault(sale.order, f"confirmed, and now {states}")
        if "approved" in sale.told and "confirmWithin" not in sale.request and not taken_back and states != {"approved"}:
            self.shop.fault(sale.order, f"approved to the till, and now {states}")
        if "declined" in sale.told and states != {"declined"}:
            self.shop.fault(sale.order, f"declined to the till, and now {states}")
        if sale.told & {"cancelled", "failed"} and states & {"approved", "stored"}:
            self.shop.fault(sale.order, f"{sale.told} to the till, and now {states}")


def preloaded(folder):
    """The library that moves a daemon's wall clock, and kills it at one of its writes."""
    library = f"{folder}/librig.so"
    sources = ["Tests/Rigs/Clock/clock.c", "Tests/Rigs/Death/death.c"]
    subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", library, *sources], check=True)
    return library


async def run(arguments, folder):
    dice = random.Random(arguments.seed)
    library = preloaded(folder)
    shops, sales = [], arguments.count
    for number in range(arguments.shops):
        path = folder / f"shop-{number}"
        path.mkdir()
        shops.append((OperationShop if arguments.operations else Shop)(f"S{arguments.seed}-{number}", path, arguments, random.Random(dice.random()), library))
    share = -(-sales // arguments.shops)
    judgements = []

    async def day(shop, sales):
        try:
            await shop.open(sales)
            listed = await shop.settle() if arguments.open_items else None
            judgement = Judgement(shop, listed)
            judgement.judge()
            if arguments.operations:
                await shop.judge_operations()
            judgements.append(judgement)
        finally:
            await shop.adapter.stop()
            if shop.process and shop.process.returncode is None:
                shop.process.kill()
                await shop.process.wait()

    await asyncio.gather(*(day(shop, min(share, sales - share * n)) for n, shop in enumerate(shops)))
    return shops, judgements


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--days", type=int, default=1, help="how often, each day with new shops and the next seed")
    parser.add_argument("--shops", type=int, default=4)
    parser.add_argument("--lanes", type=int, default=4)
    parser.add_argument("--kills", type=int, default=None, help="of the daemons; one in 40 sales by default")
    parser.add_argument("--operations", action="store_true",
                        help="reservations, captures, releases, refunds and day ends after each sale; deaths at single writes")
    parser.add_argument("--clocks", action="store_true", help="the wall clock jumps: before starts and while it runs")
    parser.add_argument("--away", type=float, default=1, help="how much longer the adapters are away")
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    arguments = parser.parse_args()
    if arguments.kills is None:
        arguments.kills = arguments.count // 40
    os.chdir(pathlib.Path(__file__).resolve().parents[3])
    arguments.open_items = "/v1/open-items" in pathlib.Path("docs/openapi.yaml").read_text()
    arguments.kills, arguments.count = arguments.kills // arguments.days, arguments.count // arguments.days
    failed = 0
    for _ in range(arguments.days):
        failed += bool(judge_day(arguments))
        arguments.seed += 1
    if arguments.days > 1:
        print(f"check-books: {arguments.days} days of {arguments.count} sales, {failed} with faults")
    sys.exit(1 if failed else 0)


def judge_day(arguments):
    """One day of all shops, told and judged: its faults."""
    folder, begin = pathlib.Path(tempfile.mkdtemp(prefix="books-", dir="/tmp")), time.monotonic()
    shops, judgements = asyncio.run(run(arguments, folder))
    faults = [(shop, *fault) for shop in shops for fault in shop.faults]
    for shop, order, what in faults[:10]:
        print(f"\n{what}\n  habits: {shop.adapter.habits}")
        for line in shop.stories.get(order, []) + (shop.stories.get("adapter", []) if order == "daemon" else []):
            print("  " + line)
    states = sum((judgement.states for judgement in judgements), collections.Counter())
    print(
        f"check-books: SEED={arguments.seed}, {sum(states.values())} transactions of {arguments.count} sales in "
        f"{len(shops)} shops, {sum(shop.kills for shop in shops)} kills, "
        f"{sum(shop.adapter.replaced for shop in shops)} restarts of adapters, "
        f"{sum(judgement.stored for judgement in judgements)} stored, "
        f"{sum(judgement.open for judgement in judgements)} open, {sum(judgement.differences for judgement in judgements)} "
        f"of them charged, {len(faults)} faults, {time.monotonic() - begin:.0f} s")
    print("check-books: " + ", ".join(f"{count} {state}" for state, count in states.most_common()))
    if arguments.operations:
        every = [each for shop in shops for life in shop.lives for each in life.books.operations + life.books.refunds]
        states = collections.Counter(each.state for each in every)
        print(f"check-books: {sum(len(shop.lives) for shop in shops)} sequences of {len(every)} operations, "
              + ", ".join(f"{count} {state}" for state, count in states.most_common())
              + f", {sum(shop.listed_operations for shop in shops)} of them settled by a person, "
              + f"{sum(len(shop.day_ends) for shop in shops)} day ends")
    if faults:
        kinds = collections.Counter(re.sub(r"[0-9a-f]{8}-[0-9a-f-]+|[0-9]+", "…", what) for _, _, what in faults)
        for what, count in kinds.most_common(12):
            print(f"check-books: {count} × {what}")
        print(f"check-books: journals and logs are in {folder}")
    elif not arguments.keep:
        shutil.rmtree(folder)
    sys.stdout.flush()
    return faults


if __name__ == "__main__":
    main()
