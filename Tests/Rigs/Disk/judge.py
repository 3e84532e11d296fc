# SPDX-License-Identifier: Apache-2.0
"""What was said before a power cut, and what has to be true of the books after it."""
import json

from shop import ENDED, TILLS, until
from tills import TOLD

BACK = {"reversing", "reversed", "declined"}
NOT_CHARGED = BACK | {"cancelled", "failed"}
# What may have become of what was told, since nobody has asked for anything else.
AFTER = {"approved": {"approved"}, "declined": {"declined", "reversing", "reversed"}, "stored": {"stored", "approved"},
         "reversing": BACK, "reversed": BACK, "unknown": BACK | {"unknown"}, "cancelled": NOT_CHARGED, "failed": NOT_CHARGED}


class Facts:
    """What had been said before a cut, or before several."""

    def __init__(self):
        self.told, self.confirmed, self.asked, self.operations, self.days = {}, set(), set(), set(), {}
        # Numbers of days that an event has called closed, and the last cursor of an event.
        self.closed, self.cursor = set(), 0
        # What may have been erased since.
        self.gone = set()
        # What was stored: on its way it may be unknown for a while, and is never taken back for that.
        self.stored = set()
        # By till, the numbers of the records with which it was told that it is paid; the page of a till asks more than once.
        self.sold, self.pages = {}, set()

    def watch(self, records):
        """What tills without HTTP are told, and whoever listens to events."""
        for it in records:
            if it.kind == "S" and it.program == "tap" and it.data.startswith(b"id: "):
                for line in it.data.split(b"\n"):
                    if line.startswith(b"data: "):
                        self.follow(json.loads(line[6:]))
            if it.kind == "S" and it.program == "ecr":
                for till, told in TOLD.items():
                    if told.match(it.data):
                        self.sold.setdefault(till, []).append(it.number)

    def listen(self, said):
        for message in said:
            if message.program == "tap" and message.line.startswith("POST /v1/authorizations HTTP"):
                self.asked.add(message.fields["idempotency-key"])
            if message.program == "tap" and message.line.startswith("HTTP/1.1 20") and message.body:
                self.hear(message.body)
            if message.program == "ecr" and message.body and message.line.startswith("HTTP/1.1 200"):
                result = message.body.get("result")
                told = result.get("nfc_tap", {}).get("transactions", {}) if isinstance(result, dict) else {}
                paid = {id for id, each in told.items() if each["success"]} - self.pages
                if paid:
                    self.sold.setdefault("web", []).append(message.number)
                    self.pages |= paid

    def follow(self, event):
        self.cursor = max(self.cursor, event["id"])
        kind, _, state = event["name"].partition(".")
        if kind == "payment" and state in AFTER:
            # An event does not say whether its payment waits to be confirmed.
            self.hear({"type": kind, "id": event["transaction"], "state": state, "confirmation": {}})
        elif event["name"] == "operation.done":
            self.operations.add((event["transaction"], event["operation"]))
        elif event["name"] == "day.closed":
            self.closed.add(event["day"])

    def hear(self, body):
        for it in body.get("transactions", []) + [body.get("transaction", body)]:
            if not isinstance(it, dict) or "state" not in it:
                continue
            if "kind" in it:
                self.operations |= {(it["transaction"], it["id"])} if it["state"] == "done" else set()
            elif "type" in it:
                self.told[it["id"]] = it["state"]
                if it["state"] == "stored":
                    self.stored.add(it["id"])
                if it["state"] == "approved" and "confirmedAt" in it.get("confirmation", {"confirmedAt": 0}):
                    self.confirmed.add(it["id"])
        if "totals" in body and "closedAt" in body.get("day", {}):
            self.days[body["day"]["id"]] = body["totals"]


def judge(shop, facts, sold):
    """After a cut: every fault of the books, held against what was said before it and what the payment service has booked. `sold` is how
    many payments each till has as paid."""
    faults = []

    def books():
        """Both at one moment: what nobody confirms is taken back while the next customer pays."""
        def seen():
            here = shop.transactions()
            there = {each["id"]: each for each in shop.booked()["transactions"]}
            return (here, there) if is_quiet() and shop.transactions() == here else None

        return until("books that stay as they are", seen, 180)

    def named():
        """What a person is told of: it waits for that person."""
        return {item["transaction"] for item in shop.get("/v1/open-items")["items"]}

    def of_till(till):
        return [each for each in shop.transactions().values() if "confirmation" in each and each["lane"] == TILLS[till][1] and (
            till != "web" or (each.get("order") or "").startswith("ecr-"))]

    def is_kept(till):
        """The bridge confirms after its start what its till has as paid."""
        return sum(each["state"] == "approved" and "confirmedAt" in each["confirmation"] for each in of_till(till)) >= sold[till]

    def is_quiet():
        if any(not is_kept(till) and any(each["state"] == "approved" for each in of_till(till)) for till in sold):
            return False
        open_ones = named()
        here = shop.transactions().values()
        return all(each["state"] in ENDED or each["id"] in open_ones for each in here) and not any(
            each.get("account", {}).get("pendingCapture") or each.get("account", {}).get("pendingRefund") for each in here)

    # What waits for a person, or for a customer's time to be over, is ended by hand.
    for batch in {entry["batch"] for entry in shop.get("/v1/queue")["entries"] if "batch" in entry}:
        shop.ask("POST", f"/v1/queue/batches/{batch}/reset", {})
    for each in shop.transactions().values():
        if each["type"] == "link" and each["state"] in ("created", "sent", "unknown"):
            shop.ask("DELETE", f"/v1/transactions/{each['id']}")
    try:
        # What an operation has become is asked after 1, 5, 30 and 120 s.
        until("quiet books", is_quiet, 180)
    except RuntimeError:
        faults.append(f"no end after three minutes: {[each['state'] for each in shop.transactions().values() if each['state'] not in ENDED]}")
    next_sale = shop.sell("next", 700)
    if next_sale.get("state") != "approved":
        faults.append(f"the next sale is {next_sale.get('state', next_sale)}")
    here, there = books()
    open_ones = named()
    erased = facts.gone - set(here)
    for id, state in facts.told.items():
        if id in erased:
            continue
        now = here.get(id, {}).get("state", "unknown to the daemon")
        wanted = AFTER["stored"] if state == "unknown" and id in facts.stored else AFTER.get(state, {now})
        if state == "approved" and id not in facts.confirmed:
            wanted = wanted | BACK
        if id not in open_ones and now not in wanted and not (now == "unknown to the daemon" and state in ("cancelled", "failed")):
            faults.append(f"{id} was told {state}, and is {now}")
    for id in facts.asked - set(here) - erased:
        faults.append(f"{id} was asked for, and is unknown to the daemon")
    for transaction, id in facts.operations:
        if transaction in erased:
            continue
        known = shop.get(f"/v1/operations/{id}")
        if known.get("state") != "done":
            faults.append(f"operation {id} was told done, and is {known.get('state', known)}")
    for day, totals in facts.days.items():
        if shop.get(f"/v1/days/{day}").get("totals") != totals:
            faults.append(f"day {day} was told closed, and is not, or has other figures")
    faults += [f"day {number} was told closed by an event, and is not" for number in facts.closed
               if "closedAt" not in shop.get(f"/v1/days/{number}").get("day", {})]
    orders = [each.get("order") for each in here.values() if each["state"] == "approved" and each["type"] == "purchase"]
    faults += [f"order {order} is charged twice" for order in set(orders) if order and orders.count(order) > 1]
    for id, each in there.items():
        account = here.get(id, {}).get("account", {}) if here.get(id, {}).get("state") == "approved" else {}
        wanted = account.get("captured", 0) - account.get("refunded", 0)
        if each["money"] != wanted and id not in open_ones and id not in erased:
            faults.append(f"{id}: {each['money']} are charged there, {wanted} here ({here.get(id, {}).get('state')})")
    booked = shop.booked()
    faults += [f"nobody has seen {each}" for each in booked["unseen"] + booked["unseenOperations"]]
    faults += [f"the till {till} has it as paid, and it is {[(each['state'], each['confirmation']) for each in of_till(till)]}"
               for till in sold if not is_kept(till)]
    return faults
