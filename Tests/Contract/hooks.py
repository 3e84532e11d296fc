# SPDX-License-Identifier: Apache-2.0
"""What schemathesis has to know beyond docs/openapi.yaml to reach a daemon's depths without waiting for minutes.

Only what is right is replaced: a wrong value has to stay wrong, or the test takes our answer for a mistake.

The environment says where the daemon is: NFC_TAP_POS and NFC_TAP_READERS (sockets of three virtual readers, the third for the
till), NFC_TAP_CARD (the card that customers hold), NFC_TAP_RECEIPTS (a payment service that takes batches), and NFC_TAP_REACHED
(a file that is told what was answered, for reached.py).
"""
import atexit
import itertools
import json
import os
import re

import schemathesis
from till import Machine, Till, ask, customers

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
LANE = re.compile(r"[!-~]{1,64}")
TOPICS = ["taps", "holding", "queue", "terms", "whatever"]
NONE = "00000000-0000-7000-8000-000000000000"

POS = os.environ["NFC_TAP_POS"]
*OPEN_READERS, TILL_READER = os.environ["NFC_TAP_READERS"].split()
till = Till(POS, TILL_READER, os.environ["NFC_TAP_CARD"])
machine = Machine(POS, "main")
customers(OPEN_READERS, os.environ["NFC_TAP_CARD"])

PENDING = {"value": 98, "currency": "EUR"}
OPERATIONS = {
    "capturePayment": [{}, {"amount": PENDING, "final": False}, {"dryRun": True}],
    "adjustPayment": [
        {"total": {"value": 700, "currency": "EUR"}}, {"total": {"value": 798, "currency": "EUR"}}, {"extend": True, "dryRun": True}],
    "releasePayment": [{}, {"amount": PENDING}, {"dryRun": True}],
}
# What a machine may say of a session of its lane, which has asked for 25.00 and may ask for 50.00.
SESSIONS = {
    "getSession": [None], "claimSession": [None], "releaseSession": [None], "keepSession": [{"seconds": 60}],
    "commitSession": [{"amount": 1210}, {"amount": 6000, "upTo": True}, {"amount": 0}], "increaseSession": [{"total": 4000}],
}

# What the daemon has made in this run, and what it answered: (operation, status, error code).
transactions, batches = [], []
reached = set()
turns = {}


def turn(*of, count=3):
    """0, 1, 2, 0 …: each call in its turn gets something fresh, something that was there, and what was made up."""
    return next(turns.setdefault(of, itertools.cycle(range(count))))


def is_right(case):
    """Whether the request is meant to be one that the contract allows."""
    return case.meta is not None and case.meta.generation.mode.is_positive


def some(things, of):
    return things[next(turns.setdefault(f"one of {of}", itertools.count())) % len(things)]


def delivered(batch):
    """A payment service's receipt for a batch."""
    return ask(os.environ["NFC_TAP_RECEIPTS"], "POST", "/debug/batches", batch)[1]["token"]


def transaction(name, case):
    parameters = case.path_parameters
    which = turn(name, is_right(case))
    if which == 0 and name == "confirmTransaction":
        parameters["id"] = till.sale(confirmWithin=60)["id"]
    elif which == 0 and name in ("reverseTransaction", "declineStoredTransaction", "getReceipt"):
        parameters["id"] = till.sale()["id"]
    elif which == 0 and name == "settleOpenItem" and (item := till.open_item()):
        parameters["id"] = item
        if is_right(case):
            case.body["note"] = "by telephone"
            # Hardly an amount that is made up is one that can have been charged.
            if turn(name, "amount", count=2) == 0:
                case.body.pop("amount", None)
    elif which == 0 and name in OPERATIONS:
        parameters["id"] = till.sale(amountStatus="preauthorized")["id"]
        if is_right(case):
            # At once, then one that the payment service has not decided about, then one that is only tried.
            case.body = OPERATIONS[name][turn(name, "body")]
            case.headers["Prefer"] = "wait=1"
            # Not one that another body was sent with.
            case.headers["Idempotency-Key"] = parameters["id"]
    elif which == 0 and name in SESSIONS and machine.is_there:
        parameters["id"] = machine.session(is_claimed=name != "claimSession")
        content = SESSIONS[name][turn(name, "body", count=len(SESSIONS[name]))]
        if content is not None and is_right(case):
            case.body = dict(content)
    elif which == 0 and name in ("getOperation", "withdrawOperation", "resolveOperation"):
        parameters["id"] = till.capture()["id"]
    elif which == 1 and transactions:
        parameters["id"] = some(transactions, name)
    elif parameters["id"] in transactions:
        parameters["id"] = NONE


def batch(name, case):
    which = turn(name, is_right(case), count=4)
    if which < 2 and "NFC_TAP_RECEIPTS" in os.environ:
        opened = till.open_batch()
        case.path_parameters["id"] = opened["id"]
        # In the second of these turns the token is none.
        if which == 0 and name == "resolveBatch" and is_right(case):
            case.body["token"] = delivered(opened)
    elif which == 2 and batches:
        case.path_parameters["id"] = some(batches, name)
    elif case.path_parameters["id"] in batches:
        case.path_parameters["id"] = NONE


def body(name, case):
    content = case.body
    if name == "createTransaction" and is_right(case) and turn("dry run", count=5) == 0:
        case.body = {"type": "purchase", "amount": {"value": 500, "currency": "EUR"}, "lane": "lane-3", "dryRun": True}
        return
    if LANE.fullmatch(str(content.get("lane", ""))) and turn("lane") != 0:
        content["lane"] = some(["main", "lane-2"], "lanes")
    if isinstance(content.get("deadline"), int) and 1 <= content["deadline"] <= 600:
        # Cards are not waited for.
        content["deadline"] = 1
    if name == "setStandingLane" and is_right(case):
        # Customers go on tapping, for what the machine's calls expect.
        content.update({member: value for member, value in (("armed", True), ("amount", 2500)) if member in content})
    if "notAfter" in content and is_right(case) and turn("notAfter") != 0:
        # What the contract makes up lies in any century.
        content["notAfter"] = "2199-01-01T01:00:00+01:00"
    if name == "reportRefusals" and is_right(case):
        # Codes have names that no schema lists.
        for refusal in content["refusals"]:
            refusal["code"] = "origin.refused"
    if name == "sendCardCommands" and is_right(case) and turn(name) != 2:
        # Bytes that are a command, for the customers' card.
        content["commands"] = ["00A404000E325041592E5359532E444446303100", "80CA9F3600"]
    if name == "acceptTerms" and list(content) == ["hash"] and isinstance(content["hash"], str) and turn("hash") == 0:
        content["hash"] = ask(POS, "GET", "/v1/terms")[1].get("hash", content["hash"])
    if name == "openBatch" and isinstance(content.get("size"), int) and 1 <= content["size"] <= 100:
        content["size"] = min(content["size"], 2)


def room_for_batch():
    """A payment in the queue, and no batch open."""
    _, queue = ask(POS, "GET", "/v1/queue")
    if "openBatch" in queue:
        ask(POS, "POST", f"/v1/queue/batches/{queue['openBatch']}/reset")
    till.sale()


@schemathesis.hook
def before_call(context, case, kwargs):
    name = case.operation.definition.raw["operationId"]
    parameters = case.path_parameters
    # What a link has set leads from one call to the next.
    is_linked = case.meta is not None and case.meta.phase.name.value == "stateful"
    is_ours = parameters.get("id") in transactions + batches
    if ID.fullmatch(str(parameters.get("id", ""))) and not (is_linked and is_ours):
        if name in ("getBatch", "resetBatch", "resolveBatch"):
            batch(name, case)
        else:
            transaction(name, case)
    if LANE.fullmatch(str(parameters.get("lane", ""))) and is_right(case):
        parameters["lane"] = some(["main", "nowhere", "lane-2"], name)
    if name in ("getEndOfDay", "getEndOfDayReport") and is_right(case) and turn(name) == 0:
        parameters["day"] = str(till.day_end()["day"]["number"])
    if name == "resolveDay" and is_right(case) and turn(name) == 0:
        parameters["day"] = str(till.differing_day()["day"]["number"])
        case.body["note"] = "by telephone"
    if name in ("getStoredCard", "deleteStoredCard", "agree", "endAgreement") and is_right(case) and turn(name) == 0:
        card = till.stored_card()
        parameters["id"] = card["agreements"][0]["id"] if name == "endAgreement" else card["id"]
        if name == "agree":
            case.body = {"kind": "instalment", "text": "I agree to three instalments.", "language": "en"}
    if name == "getHelp" and is_right(case):
        parameters["topic"] = some(TOPICS, name)
    if isinstance(case.body, dict):
        body(name, case)
    if name == "openBatch" and "NFC_TAP_RECEIPTS" in os.environ and turn(name) == 0:
        room_for_batch()
    # A wait is real: ten minutes of it would be a hang for a test.
    if re.fullmatch("wait=[0-9]{1,3}", str(case.headers.get("Prefer", ""))):
        case.headers["Prefer"] = "wait=1"
    wait = str(case.query.get("wait", "")) if case.query else ""
    if re.fullmatch("[0-9]{1,3}", wait) and int(wait) <= 600:
        case.query["wait"] = "1"


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code == 201:
        name = case.operation.definition.raw["operationId"]
        made = {"createTransaction": transactions, "openBatch": batches}.get(name)
        if made is not None:
            made.append(response.json()["id"])


def told(message):
    """The codes of errors that are told inside an answer."""
    if isinstance(message, dict):
        if {"code", "resolution", "who"} <= message.keys():
            yield message["code"]
        for member in message.values():
            yield from told(member)
    elif isinstance(message, list):
        for member in message:
            yield from told(member)


@schemathesis.check
def error_codes(ctx, response, case):
    """Every error is one that the contract lists for its call."""
    operation = case.operation.definition.raw
    components = case.operation.schema.raw_schema["components"]
    is_json = "application/json" in (response.headers.get("content-type") or [""])[0]
    code = None
    if response.status_code >= 400:
        code = response.json()["error"]["code"]
        listed = operation["x-error-codes"] + components["responses"]["Other"]["x-error-codes"]
        assert code in listed, f"{code} is not in the x-error-codes of {operation['operationId']}"
    elif is_json:
        for inner in told(response.json()):
            listed = components["schemas"]["Error"]["x-error-codes"]
            assert inner in listed, f"{inner} is not in the x-error-codes of the schema Error"
    if case.method.lower() == case.operation.method.lower():
        reached.add((operation["operationId"], response.status_code, code))


@atexit.register
def note_reached():
    with open(os.environ["NFC_TAP_REACHED"], "a", encoding="utf-8") as file:
        for answer in sorted(reached, key=str):
            file.write(json.dumps(answer) + "\n")
