# SPDX-License-Identifier: Apache-2.0
"""Three sides of the same day held against each other: what tills believe, what the switch's books say, and what the acquirer's host
has in a book of its own."""
import collections
import json

OPEN = """
select p.id, p.state, coalesce(x.stage, ''), coalesce(x.wanted, ''), coalesce(x.given_up, false)
from payment p left join exchange x on x.payment = p.id
where p.state in ('running', 'reversing') or x.wanted is not null or x.given_up
    or x.stage in ('awaiting', 'reversing', 'advising', 'reconciling')
"""
# Sums first: a look for each payment takes minutes where there are a hundred thousand.
PAYMENTS = """
select p.id, p.state, p.kind, p.authorised, coalesce(e.shop, 0), coalesce(e.hold, 0), coalesce(e.total, 0), coalesce(x.references_of, '')
from payment p
left join (
    select payment, sum(amount) filter (where account = 'shop') shop, sum(amount) filter (where account = 'hold') hold, sum(amount) total
    from entry group by payment) e on e.payment = p.id
left join (select payment, string_agg(%s, ' ') references_of from exchange group by payment) x on x.payment = p.id
"""


def rows(database, statement):
    return [line.split("|") for line in database.sql(statement).splitlines()]


class Judgement:
    # What both books call a message by.
    NAME = "reference"

    def __init__(self, estate, beliefs):
        self.faults, self.open_items = [], rows(estate.primary, OPEN)
        self.counts = collections.Counter()
        self.beliefs = [json.loads(line) for line in open(beliefs, encoding="utf-8")]
        self.payments = {row[0]: row for row in rows(estate.primary, PAYMENTS % self.NAME)}
        self.judge(estate.holder_book())

    def fault(self, text):
        self.faults.append(text)

    def judge(self, lines):
        host = collections.defaultdict(lambda: [0, 0, 0])
        for line in lines:
            held = host[line["reference"]]
            held[0] += line["held"]
            held[1] += -line["taken"] if line["isCredit"] else line["taken"]
            held[2] += line["type"] in ("0100", "0200") and not line["isCredit"]
        is_open = {row[0] for row in self.open_items}
        known = set()
        for id, state, kind, _, shop, hold, total, references in self.payments.values():
            self.counts[state] += 1
            known.update(references.split())
            sides = [host[reference] for reference in set(references.split())]
            taken, held, asked = sum(side[1] for side in sides), sum(side[0] for side in sides), sum(side[2] for side in sides)
            if int(total):
                self.fault(f"{id}: entries do not add up")
            if asked > 1:
                self.fault(f"{id}: the acquirer was asked {asked} times")
            # This host gives up the rest of a hold with the first capture; a till whose second one never came still has it.
            if taken:
                held = int(hold)
            if id not in is_open and (taken, held) != (int(shop), int(hold)):
                self.fault(f"{id} ({kind}, {state}): {shop} and {hold} held here, {taken} and {held} held there, {references}")
        for reference, (held, taken, _) in host.items():
            if reference not in known and (held or taken):
                self.fault(f"{reference}: the acquirer has {taken} and {held} held, and the books nothing")
        self.judge_tills(is_open)
        self.sums = {
            "switch": sum(int(row[4]) for row in self.payments.values()), "acquirer": sum(side[1] for side in host.values())}

    def judge_tills(self, is_open):
        believed = collections.Counter()
        for told in self.beliefs:
            believed[told["belief"]] += 1
            row = self.payments.get(told["id"])
            state, shop = (row[1], int(row[4])) if row else (None, 0)
            if told["belief"] == "open" or told["hasOpenOperation"] or told["id"] in is_open:
                self.counts["open to the till"] += 1
                continue
            wanted = told["taken"] - told["refunded"]
            if (told["belief"] == "approved") != (state == "approved"):
                self.fault(f"{told['id']}: {told['belief']} to the till, {state} in the books")
            elif state == "approved" and wanted != shop:
                self.fault(f"{told['id']} ({told['kind']}): {wanted} to the till, {shop} in the books")
        charged = {id for id, row in self.payments.items() if row[1] == "approved"}
        for id in charged - {told["id"] for told in self.beliefs}:
            self.fault(f"{id} is approved, and no till knows it")
        self.believed = believed
