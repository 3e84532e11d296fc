# SPDX-License-Identifier: Apache-2.0
"""An acquirer for tests, made with pyiso8583 and no code of ours: it signs links on, decides by the amount, keeps a book, and fails as
it is told to.

argv: port (0 for any), file of the packager's rules as pyiso8583 has them ("bcd"), book file, faults. The book has one JSON object a line:
each message that came and what was answered. Faults are seconds of lateness ("late=…"), or words that say how often, in a
thousand, something happens to an answer: lost, twice, late, closed. The port stands on standard output."""

import asyncio
import json
import random
import sys

import iso8583
from iso8583.specs import default_ascii

port, book_path, seed = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
faults = dict((word.split("=")[0], float(word.split("=")[1])) for word in sys.argv[4:])
source = random.Random(seed)


def rule(length_digits, most, kind, pad=None):
    made = {"data_enc": "ascii" if kind == "text" else "b", "len_enc": "bcd", "len_type": (length_digits + 1) // 2,
            "max_len": most, "desc": ""}
    if kind == "digits":
        made["len_count"] = "nibbles"
        side, character = (pad or "left-0").split("-")
        made[f"{side}_pad"] = character
    return made


# ISO 8583:1987 with packed digits, written here from the standard's table.
spec = {"h": {"data_enc": "b", "len_enc": "b", "len_type": 0, "max_len": 0, "desc": ""},
        "t": {"data_enc": "b", "len_enc": "b", "len_type": 0, "max_len": 2, "desc": ""},
        "p": {"data_enc": "b", "len_enc": "b", "len_type": 0, "max_len": 8, "desc": ""},
        "1": {"data_enc": "b", "len_enc": "b", "len_type": 0, "max_len": 8, "desc": ""}}
for number, digits in {3: 6, 4: 12, 7: 10, 11: 6, 12: 6, 13: 4, 14: 4, 15: 4, 18: 4, 22: 3, 23: 3, 25: 2, 49: 3, 50: 3, 66: 1, 70: 3,
                       74: 10, 75: 10, 76: 10, 77: 10, 86: 16, 87: 16, 88: 16, 89: 16, 90: 42}.items():
    spec[str(number)] = rule(0, digits, "digits")
for number, count in {37: 12, 38: 6, 39: 2, 41: 8, 42: 15, 43: 40, 95: 42}.items():
    spec[str(number)] = rule(0, count, "text")
spec["2"] = rule(2, 19, "digits", "right-F")
spec["32"] = rule(2, 11, "digits", "right-0")
spec["35"] = rule(2, 37, "digits", "right-F")
spec["55"] = {"data_enc": "b", "len_enc": "bcd", "len_type": 2, "max_len": 999, "desc": ""}
spec["97"] = {"data_enc": "b", "len_enc": "b", "len_type": 0, "max_len": 9, "desc": ""}

book = open(book_path, "a", buffering=1)
# By trace number, transmission time and reference: what a payment is worth, and whether it was taken back.
payments = {}
approvals = 0


def key(fields):
    return fields["11"], fields["7"]


def original(fields):
    """Of field 90: type 4, trace number 6, transmission time 10."""
    return fields["90"][4:10], fields["90"][10:20]


def totals():
    """Credits, their reversals, debits, their reversals: numbers and then amounts, as this side has counted them."""
    numbers, amounts = [0, 0, 0, 0], [0, 0, 0, 0]
    for payment in payments.values():
        if not payment["approved"] or payment.get("hold"):
            continue
        place = 0 if payment.get("credit") else 2
        for index in [place] + ([place + 1] if payment["reversed"] else []):
            # A payment that was taken back without having been answered was none for the shop.
            numbers[index] += 1
            amounts[index] += payment["amount"]
    return numbers + amounts


def decide(kind, fields):
    """The response code, and what else the answer says."""
    global approvals
    if kind in ("0420", "0421"):
        found = payments.get(original(fields))
        if "95" in fields:
            if not found or found["reversed"]:
                return {"39": "25"}
            found["remains"] = int(fields["95"][:12])
            return {"39": "00"}
        if not found or not found["approved"]:
            # An amount that ends in 90 came to a host that does not keep in mind what it was to take back.
            if fields["4"][-2:] == "90":
                return {"39": "25"}
            # It must not be taken if it still comes.
            payments.setdefault(original(fields), {"approved": False, "reversed": True, "remains": 0})
            payments[original(fields)]["reversed"] = True
            return {"39": "25"}
        found["reversed"] = True
        return {"39": "00"}
    if kind in ("0220", "0221"):
        known = payments.get(key(fields))
        if known:
            return {"39": "94" if kind == "0221" else "00"}
        code = "05" if fields["4"][-2:] == "05" else "00"
        payments[key(fields)] = {"approved": code == "00", "reversed": False, "remains": int(fields["4"]),
                                 "amount": int(fields["4"]), "advice": True}
        return {"39": code}
    if kind in ("0500", "0501"):
        said = [int(fields[str(number)]) for number in (74, 75, 76, 77, 86, 87, 88, 89)]
        return {"39": "00", "66": "1" if said == totals() else "2"}
    if key(fields) in payments:
        return {"39": "94"}
    cents = fields["4"][-2:]
    code = {"01": "01", "05": "05", "10": "10", "51": "51", "65": "65", "70": "70", "91": "91", "96": "96"}.get(cents, "00")
    approved = code in ("00", "10")
    value = int(fields["4"]) // (2 if code == "10" else 1)
    payments[key(fields)] = {"approved": approved, "reversed": False, "remains": value, "amount": value, "hold": kind == "0100", "credit": fields["3"][:2] == "20"}
    answer = {"39": code}
    if approved:
        approvals += 1
        answer["38"] = f"{approvals % 1000000:06d}"
        if code == "10":
            answer["4"] = f"{value:012d}"
    return answer


async def send(writer, message):
    writer.write(len(message).to_bytes(2, "big") + message)
    await writer.drain()


async def handle(writer, fields):
    kind = fields["t"]
    if kind == "0200" and fields["4"][-2:] == "90":
        # Decided late, and not only answered late.
        await asyncio.sleep(faults.get("seconds", 3))
    answer = {"t": f"{int(kind) // 2 * 2 + 10:04d}"} | {
        number: fields[number] for number in ("3", "4", "7", "11", "12", "13", "32", "37", "41", "42", "49", "70") if number in fields}
    if kind == "0800":
        answer["39"] = "00"
    else:
        said = decide(kind, fields)
        answer |= said
        book.write(json.dumps({"type": kind, "stan": fields["11"], "time": fields["7"], "rrn": fields.get("37"),
                               "amount": int(fields.get("4", "0")), "original": None if "95" in fields else fields.get("90"), "card": fields.get("2", "")[-4:],
                               "code": said["39"], "value": int(said.get("4", fields.get("4", "0")))}) + "\n")
    encoded, _ = iso8583.encode(answer, spec)
    throw = source.random() * 1000 if kind != "0800" else 1000.0
    cents = fields.get("4", "00")[-2:] if kind in ("0100", "0200") else "00"
    for word in ("lost", "twice", "late", "closed"):
        throw -= faults.get(word, 0)
        if throw < 0:
            break
    else:
        word = {"94": "twice", "95": "closed", "97": "slow", "98": "lost", "99": "late"}.get(cents, "")
    if word == "closed":
        writer.write((len(encoded)).to_bytes(2, "big") + bytes(encoded[: len(encoded) // 2]))
        writer.close()
    elif word == "lost":
        return
    else:
        if word == "late":
            await asyncio.sleep(faults.get("seconds", 3))
        elif word == "slow":
            await asyncio.sleep(faults.get("seconds", 3) / 4)
        await send(writer, encoded)
        if word == "twice":
            await send(writer, encoded)


async def serve(reader, writer):
    tasks = set()
    try:
        while True:
            count = int.from_bytes(await reader.readexactly(2), "big")
            message = await reader.readexactly(count)
            if not message:
                continue
            fields, _ = iso8583.decode(message, spec)
            task = asyncio.create_task(handle(writer, fields))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
