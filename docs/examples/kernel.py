#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An outside kernel for `nfc-tap kernel-diff`: just enough of EMV Contactless Book C-3 to be compared.

Reads one script on standard input and prints a trace. It tells commands and the outcome's status and
verification; what it does not know it leaves out, or writes as `?`, and nothing of that is compared.
Written from public descriptions of the book, not from nfc-tap's kernel; that is what makes a difference tell.
"""
import json
import sys

PPSE = "325041592E5359532E4444463031"


def tlv(data):
    """Primitive objects of BER-TLV, at any depth."""
    found, i = {}, 0
    while i < len(data):
        if data[i] in (0x00, 0xFF):
            i += 1
            continue
        start, constructed = i, data[i] & 0x20
        if data[i] & 0x1F == 0x1F:
            i += 1
            while data[i] & 0x80:
                i += 1
        i += 1
        tag = data[start:i].hex().upper()
        length = data[i]
        i += 1
        if length > 0x80:
            count = length & 0x7F
            length = int.from_bytes(data[i:i + count], "big")
            i += count
        value = data[i:i + length]
        if len(value) < length:
            raise ValueError("cut off")
        i += length
        if constructed:
            for name, inner in tlv(value).items():
                if name in found:
                    raise ValueError("twice")
                found[name] = inner
        else:
            if tag in found:
                raise ValueError("twice")
            found[tag] = value
    return found


def matches(pattern, command):
    pattern = pattern.upper()
    for text in (command, command[:-2]):
        if pattern.endswith("*"):
            if len(text) >= len(pattern) - 1 and all(p in ("?", t) for p, t in zip(pattern[:-1], text)):
                return True
        elif len(text) == len(pattern) and all(p in ("?", t) for p, t in zip(pattern, text)):
            return True
    return False


class Card:
    def __init__(self, rules):
        self.rules = rules

    def send(self, command):
        print("C", command)
        for rule in self.rules:
            if matches(rule["match"], command):
                if "lose" in rule:
                    return None, "0000"
                print("R", rule["respond"])
                answer = bytes.fromhex(rule["respond"])
                return answer[:-2], answer[-2:].hex().upper()
        return b"", "6A82"


def end(status, cvm="F0"):
    """Status and verification: the first and the fourth byte of the Outcome Parameter Set."""
    print("S", status, cvm)


def fill(dol, values):
    out, i = b"", 0
    while i < len(dol):
        start = i
        if dol[i] & 0x1F == 0x1F:
            i += 1
            while dol[i] & 0x80:
                i += 1
        i += 1
        tag, length = dol[start:i].hex().upper(), dol[i]
        i += 1
        value = values.get(tag, b"")
        numeric = tag in ("9F02", "9F03", "9F1A", "5F2A", "9A", "9C", "9F21")
        out += value[-length:].rjust(length, b"\0") if numeric else value[:length].ljust(length, b"\0")
    return out


def verification(ttq, ctq, data):
    """5.7: the cardholder verification, or None where the transaction is declined."""
    required = bool(ttq[1] & 0x40)
    if ctq is None:
        if not required:
            return "00"
        if ttq[0] & 0x02:
            return "10"
        # PIN without qualifiers only where the reader has consumer device verification as well.
        return "20" if ttq[0] & 0x04 and ttq[2] & 0x40 else None
    if ctq[0] & 0x80 and ttq[0] & 0x04:
        return "20"
    if ctq[1] & 0x80:
        related = data.get("9F69")
        if related is not None:
            return "30" if related[5:7] == ctq else None
        return "30" if data.get("9F27", b"\x80")[:1] == b"\x80" else None
    if ctq[0] & 0x40 and ttq[0] & 0x02:
        return "10"
    return None if required else "00"


def run(script):
    terminal = dict(script["terminal"])
    combination = terminal.pop("combinations")[0]
    values = {tag: bytes.fromhex(value) for tag, value in terminal.items()}
    day = script["clock"]
    values["9A"] = bytes.fromhex(day[2:4] + day[5:7] + day[8:10])
    values["9F37"] = bytes.fromhex(script["un"][0])
    limits = combination["limits"]
    ttq = bytearray(bytes.fromhex(limits["ttq"]))
    ttq[1] &= 0x3F
    amount = int(terminal["9F02"])
    if "floor" in limits and amount > limits["floor"]:
        ttq[1] |= 0x80
    if "cvmRequired" in limits and amount >= limits["cvmRequired"]:
        ttq[1] |= 0x40
    values["9F66"] = bytes(ttq)

    card = Card(script["card"])
    _, status = card.send("00A404000E" + PPSE + "00")
    if status != "9000":
        return end("40")
    aid = combination["aid"]
    fci, status = card.send("00A40400%02X%s00" % (len(aid) // 2, aid))
    if status != "9000":
        return end("40")
    pdol = fill(tlv(fci).get("9F38", b""), values)
    field = bytes([0x83, len(pdol)]) + pdol
    data, status = card.send("80A80000%02X%s00" % (len(field), field.hex().upper()))
    if data is None:
        return end("70")
    if status != "9000":
        # Select Next: there is no other application, so that Entry Point ends.
        return end({"6986": "70", "6984": "60"}.get(status, "40"))
    try:
        found = tlv(data)
    except (ValueError, IndexError):
        return end("40")
    if not all(found.get(tag) for tag in ("82", "9F10", "9F26", "9F36", "57")):
        return end("40")
    information = found.get("9F27")
    kind = information[0] & 0xC0 if information else (found["9F10"][4] & 0x30) << 2
    if found["57"].hex().upper().split("D")[0] != found.get("5A", found["57"]).hex().upper().split("D")[0].rstrip("F"):
        return end("40")
    if len(found.get("94", b"")) % 4:
        return end("40")
    if values["9C"] in (b"\x01", b"\x17"):
        # Cash needs 9F07 and 5F28, which this example does not read.
        return end("?", "?")
    if kind == 0x00:
        # Also for a refund: the difference that docs/internals/kernel-diff.md follows from start to end.
        return end("20", "00")
    cvm = verification(bytes(ttq), found.get("9F6C"), found)
    if cvm is None:
        return end("20", "00")
    # A cryptogram for offline use goes online where the reader asked for that.
    end("30" if kind == 0x80 or ttq[1] & 0x80 else "10", cvm)


if __name__ == "__main__":
    run(json.loads(sys.stdin.readline()))
