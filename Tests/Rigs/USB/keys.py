# SPDX-License-Identifier: Apache-2.0
"""What a desktop makes of keys, by another hand than the hub's table, and texts that wait in the hub's outbox."""

import hashlib
import json
import struct

# The rows of a keyboard from the key beside them on, by code (linux/input-event-codes.h): plain and with Shift.
ROWS = {
    "us": [(2, "1234567890-", "!@#$%^&*()_"), (16, "qwertyuiop", "QWERTYUIOP"), (30, "asdfghjkl", "ASDFGHJKL"),
           (44, "zxcvbnm,./", "ZXCVBNM<>?")],
    "de": [(2, "1234567890ß", '!"§$%&/()=?'), (16, "qwertzuiop", "QWERTZUIOP"), (30, "asdfghjkl", "ASDFGHJKL"),
           (44, "yxcvbnm,.-", "YXCVBNM;:_")],
}
ENTER, SHIFT = 28, 42
EVENT = struct.Struct("@llHHi")
EV_SYN, EV_KEY, SYN_DROPPED = 0, 1, 3


def characters(events, layout):
    """The text of struct input_event, one after the other."""
    letters = {ENTER: ("\n", "\n")}
    for first, plain, shifted in ROWS[layout]:
        letters |= {first + place: pair for place, pair in enumerate(zip(plain, shifted))}
    down, text = set(), ""
    for _, _, kind, code, value in EVENT.iter_unpack(events):
        if kind == EV_SYN and code == SYN_DROPPED:
            raise ValueError("the kernel has dropped keys")
        if kind != EV_KEY:
            continue
        if value == 0:
            down.remove(code)
            continue
        if code != SHIFT:
            text += letters[code][SHIFT in down]
        down.add(code)
    if down:
        raise ValueError(f"keys stay down: {down}")
    return text


def outbox(texts):
    """A file of nfc-tap-hub in which these texts wait."""
    lines = []
    for number, text in enumerate(texts, 1):
        item = {"number": number, "id": f"tap-{number}", "body": text, "writtenAt": 0, "attempts": 0}
        said = json.dumps({"added": {"_0": item}}, separators=(",", ":"))
        lines.append(f"{hashlib.sha256(said.encode()).hexdigest()[:16]} {said}\n")
    return "".join(lines)
