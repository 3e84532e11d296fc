# SPDX-License-Identifier: Apache-2.0
"""How the second host packs messages: ISO 8583:1987 in characters, bitmaps in hexadecimal, a length of four digits before each message, chip data as
hexadecimal text. Written from the standard's list of data elements as acquirers' public manuals print it, and from nothing of this project."""

HEADER = 4
LONGEST = 9_999

# Kind, length: a number is fixed, "LL" and "LLL" have two or three digits of length in front.
FIELDS = {
    2: ("n", "LL", 19), 3: ("n", 6), 4: ("n", 12), 7: ("n", 10), 11: ("n", 6), 12: ("n", 6), 13: ("n", 4), 14: ("n", 4), 15: ("n", 4),
    18: ("n", 4), 22: ("n", 3), 23: ("n", 3), 24: ("n", 3), 25: ("n", 2), 32: ("n", "LL", 11), 33: ("n", "LL", 11), 35: ("z", "LL", 37),
    37: ("an", 12), 38: ("an", 6), 39: ("an", 2), 41: ("ans", 8), 42: ("ans", 15), 43: ("ans", 40), 44: ("ans", "LL", 25),
    48: ("ans", "LLL", 999), 49: ("n", 3), 50: ("n", 3), 53: ("n", 16), 54: ("ans", "LLL", 120), 55: ("hex", "LLL", 510), 60: ("ans", "LLL", 999),
    61: ("ans", "LLL", 999), 62: ("ans", "LLL", 999), 63: ("ans", "LLL", 999), 64: ("hex", 16), 66: ("n", 1), 70: ("n", 3),
    74: ("n", 10), 75: ("n", 10), 76: ("n", 10), 77: ("n", 10), 86: ("n", 16), 87: ("n", 16), 88: ("n", 16), 89: ("n", 16),
    90: ("n", 42), 95: ("an", 42), 97: ("ans", 17), 128: ("hex", 16),
}


class Unreadable(Exception):
    """Not a message of this host's manual."""


class Message(dict):
    """Fields by number; the type stands apart."""

    def __init__(self, kind, fields=()):
        super().__init__(fields)
        self.kind = kind

    def answer(self, *echoed, **_):
        """Its answer, with the fields that are given back as they came. A repeat is answered as its original."""
        kind = self.kind[:2] + str(int(self.kind[2]) + 1) + str(int(self.kind[3]) & ~1)
        return Message(kind, {number: self[number] for number in echoed if number in self})

    def pack(self):
        bits, body = 0, ""
        for number in sorted(self):
            bits |= 1 << (128 - number)
            kind, length, *_ = FIELDS[number]
            text = self[number]
            if length in ("LL", "LLL"):
                body += str(len(text)).zfill(len(length))
            elif len(text) != length:
                raise Unreadable(f"field {number} of {len(text)} characters")
            body += text
        if bits & ((1 << 64) - 1):
            bits |= 1 << 127
            return f"{self.kind}{bits:032X}{body}".encode("ascii")
        return f"{self.kind}{bits >> 64:016X}{body}".encode("ascii")

    def frame(self):
        return framed(self.pack())


def framed(packed):
    return str(len(packed)).zfill(HEADER).encode() + packed


def parse(data):
    try:
        text = data.decode("ascii")
        kind, place = text[:4], 4
        if not kind.isdigit():
            raise Unreadable("type")
        bits = int(text[place:place + 16], 16) << 64
        place += 16
        if bits >> 127:
            bits |= int(text[place:place + 16], 16)
            place += 16
        message = Message(kind)
        for number in range(2, 129):
            if not bits >> (128 - number) & 1:
                continue
            if number not in FIELDS:
                raise Unreadable(f"field {number} is not in the manual")
            form, length, *most = FIELDS[number]
            if length in ("LL", "LLL"):
                count = int(text[place:place + len(length)])
                place += len(length)
                if count > most[0]:
                    raise Unreadable(f"field {number} is too long")
            else:
                count = length
            value = text[place:place + count]
            if len(value) != count:
                raise Unreadable(f"field {number} is cut off")
            if form == "n" and not value.isdigit() or form == "hex" and count % 2:
                raise Unreadable(f"field {number} is no number")
            place += count
            message[number] = value
        if place != len(text):
            raise Unreadable("there is more than the bitmap says")
        return message
    except (UnicodeDecodeError, ValueError) as error:
        raise Unreadable(str(error)) from error


def tags(text):
    """Values of field 55 by tag, both in hexadecimal."""
    data, found, place = bytes.fromhex(text), {}, 0
    while place < len(data):
        size = 2 if data[place] & 0x1F == 0x1F else 1
        tag = data[place:place + size].hex().upper()
        place += size
        if place >= len(data):
            raise Unreadable(f"tag {tag} has no length")
        length = data[place]
        place += 1
        if length & 0x80:
            count = length & 0x7F
            length = int.from_bytes(data[place:place + count], "big")
            place += count
        if place + length > len(data):
            raise Unreadable(f"tag {tag} is cut off")
        found[tag] = data[place:place + length].hex().upper()
        place += length
    return found
