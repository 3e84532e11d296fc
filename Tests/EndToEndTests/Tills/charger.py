#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second hand for the ZVT client of a charger: charger.py HOST:PORT CONTROL COUNT [CARD]

Written from a description of what the payment terminal module of EVerest sends and reads (EVerest/everest-core 23c9dac,
EVerest/zvt 05e973c), and from no line of the terminal. It runs COUNT sessions: read a card, hold 25.00 under a token of its
own, give back 12.95 or forget the session. In each session the line is cut once, after the next packet of the terminal in
turn; the client comes back after a moment and says the same again. CONTROL is a command that takes the card from the reader
and puts it back. Then it ends its day: whatever is still open is cancelled. It prints one line of JSON: what it was told
of each token, how many cuts there were, and what is pending after the end of the day."""
import json, os, shlex, socket, struct, subprocess, sys, threading, time

PASSWORD, TIMEOUT, RETRIES, PAUSE = b"\x12\x34\x56", 2, 20, float(os.environ.get("CHARGER_PAUSE", "0.05"))
# Bitmaps that the client knows, with their lengths: -2 and -3 are LLVAR and LLLVAR, 0 a container.
BITMAPS = {0x04: 6, 0x0B: 3, 0x0C: 3, 0x0D: 2, 0x0E: 2, 0x17: 2, 0x19: 1, 0x22: -2, 0x23: -2, 0x27: 1, 0x29: 4, 0x2A: 15,
           0x3B: 8, 0x3C: -3, 0x60: -3, 0x87: 2, 0x49: 2, 0x8A: 1, 0x8B: -2, 0x8C: 1, 0x06: 0}
TAGS = {b"\x4c", b"\x1f\x0b", b"\x1f\x14", b"\x1f\x45", b"\x1f\x4c", b"\x1f\x4d", b"\x1f\x4f", b"\x1f\x50", b"\x60", b"\x62"}
DENIED = ("A00000083", "A00000066")


class Lost(Exception):
    """The line is gone, or was cut on purpose."""


class Refused(Exception):
    def __init__(self, code, receipt=None):
        super().__init__(code)
        self.code, self.receipt = code, receipt


def bcd(number, size):
    return bytes.fromhex(f"{number:0{2 * size}d}")


def bitmaps(data):
    """What the client sees of a packet: it stops at a bitmap that it does not know, and at one that comes twice."""
    found, at = {}, 0
    while at < len(data) and data[at] in BITMAPS and data[at] not in found:
        number, size, at = data[at], BITMAPS[data[at]], at + 1
        if size < 0:
            size, at = int("".join(str(digit & 0x0F) for digit in data[at:at - size])), at - size
        elif size == 0:
            size, at = data[at], at + 1
        found[number] = data[at:at + size]
        if len(found[number]) < size:
            raise Refused("a value that is not whole")
        at += size
    return found


def objects(data):
    """Tags of a container; the first unknown one ends it."""
    found, at = [], 0
    while at < len(data):
        tag, at = data[at:at + 1], at + 1
        if tag[0] & 0x1F == 0x1F:
            tag, at = tag + data[at:at + 1], at + 1
        if tag not in TAGS:
            break
        size, at = data[at], at + 1
        found.append((tag, data[at:at + size]))
        at += size
    return found


class Client:
    def __init__(self, host, port):
        self.place, self.line, self.buffer, self.cut, self.cuts = (host, port), None, b"", None, 0

    def drop(self):
        if self.line:
            # A close is a reset.
            self.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.line.close()
        self.line, self.buffer = None, b""

    def send(self, packet):
        try:
            self.line.sendall(packet)
        except OSError as error:
            raise Lost from error

    def receive(self):
        """The next packet. Where the cut is due it was sent, and is not read."""
        while len(self.buffer) < 3 or len(self.buffer) < 3 + self.buffer[2]:
            try:
                data = self.line.recv(4096)
            except OSError as error:
                raise Lost from error
            if not data:
                raise Lost
            self.buffer += data
        assert self.buffer[2] != 0xFF, "a long packet"
        size = 3 + self.buffer[2]
        packet, self.buffer = self.buffer[:size], self.buffer[size:]
        if self.cut is not None:
            self.cut -= 1
            if self.cut <= 0:
                self.cut, self.cuts = None, self.cuts + 1
                raise Lost
        return packet

    def exchange(self, command, ends):
        """The packets that answer a command, each acknowledged, up to one of those that end it."""
        self.send(command)
        first = self.receive()
        if first[0] == 0x84:
            raise Refused(f"84{first[1]:02X}")
        assert first == b"\x80\x00\x00", first.hex()
        got = []
        while True:
            packet = self.receive()
            self.send(b"\x80\x00\x00")
            got.append(packet)
            if packet[:2] == b"\x06\x1e":
                receipt = packet[5:7] if packet[4:5] == b"\x87" else None
                raise Refused(f"{packet[3]:02X}", receipt)
            if packet[:2] in ends:
                return got

    def connect(self):
        self.line = socket.create_connection(self.place, timeout=60)
        done = (b"\x06\x0f",)
        self.exchange(b"\x06\x00\x06" + PASSWORD + b"\xde\x09\x78", done)
        identity = self.exchange(b"\x0f\xa1\x02\x00\x01", done)[-1][3:]
        assert identity[:8] == b"17FD0001" and len(identity) in (36, 37, 40, 41), identity
        status = self.exchange(b"\x05\x01\x03" + PASSWORD, done)[-1][3:]
        length = int("".join(str(digit & 0x0F) for digit in status[:3]))
        assert len(status) == length + 4, status.hex()

    def call(self, command, ends=(b"\x06\x0f",)):
        """Again over a new line, as often as the client does."""
        for _ in range(RETRIES + 1):
            try:
                if not self.line:
                    self.connect()
                return self.exchange(command, ends)
            except (Lost, OSError):
                self.drop()
                time.sleep(PAUSE)
        raise Refused("no line")

    def read_card(self):
        """The kind of the card, or nothing."""
        body = bytes([TIMEOUT]) + bytes.fromhex("1910fc0206081f1501d01f600107")
        try:
            # A card ends the sequence: a completion would answer the next command.
            packet = self.call(b"\x06\xc0" + bytes([len(body)]) + body, (b"\x04\x0f",))[-1]
        except Refused as refusal:
            if refusal.code == "6C":
                return None
            raise
        container = objects(bitmaps(packet[3:]).get(0x06, b""))
        applications = [value[2:].hex().upper() for tag, value in container if tag == b"\x60" and value[:1] == b"\x43"]
        if any(not aid.startswith(DENIED) for aid in applications):
            return "bank card"
        uid = [value.hex().upper()[-14:] for tag, value in container if tag == b"\x4c"]
        return ("member card " + uid[0].removeprefix("000000")) if uid else "error"

    def token(self, token):
        inner = b"\x1f\x62\x02AC\x1f\x63" + bytes([len(token)]) + token.encode()
        return b"\x06" + bytes([len(inner) + 2]) + b"\xe9" + bytes([len(inner)]) + inner

    def begin(self, token):
        body = b"\x04" + bcd(2500, 6) + b"\x49\x09\x78\x19\x40" + self.token(token)
        packets = self.call(b"\x06\x22" + bytes([len(body)]) + body)
        result = bitmaps([packet for packet in packets if packet[:2] == b"\x04\x0f"][-1][3:])
        assert result[0x27] == b"\x00" and result[0x04] == bcd(2500, 6), result
        return result[0x87]

    def commit(self, receipt, back, token):
        body = b"\x87" + receipt + b"\x04" + bcd(back, 6) + b"\x19\x40\x49\x09\x78" + self.token(token)
        packets = self.call(b"\x06\x23" + bytes([len(body)]) + body)
        result = bitmaps([packet for packet in packets if packet[:2] == b"\x04\x0f"][-1][3:])
        return int(result[0x04].hex())

    def pending(self):
        try:
            self.call(b"\x06\x23\x03\x87\xff\xff")
        except Refused as refusal:
            assert refusal.code == "B8", refusal.code
            return None if refusal.receipt == b"\xff\xff" else refusal.receipt
        raise Refused("a completion to the question what is open")

    def end_of_day(self):
        while receipt := self.pending():
            self.call(b"\x06\x25\x08\x19\x40\x49\x09\x78\x87" + receipt)
        self.call(b"\x06\x50\x03" + PASSWORD)
        return self.pending()


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    control, count = shlex.split(sys.argv[2]), int(sys.argv[3])
    card = sys.argv[4] if len(sys.argv) > 4 else "visa"
    client, sessions, others = Client(host, int(port)), [], []

    def reader(words):
        subprocess.run(control + words, check=True, stdout=subprocess.DEVNULL)

    reader(["remove"])
    for number in range(count):
        session = {"token": f"TOK{number:05d}"}
        # After each packet in turn, and now and then not at all.
        client.cut = number % 18 + 1
        # The card is held out while somebody waits for it, and stays until the session has ended.
        tap = threading.Timer(0.2, reader, (["present", card],))
        tap.start()
        for _ in range(40):
            try:
                session["card"] = client.read_card()
            except Refused as refusal:
                others.append(refusal.code)
                session["card"] = None
            if session["card"]:
                break
        try:
            session["receipt"] = client.begin(session["token"]).hex()
            if number % 10 != 9:
                session["told"] = client.commit(bytes.fromhex(session["receipt"]), 1295, session["token"])
        except Refused as refusal:
            session["refused"] = refusal.code
        sessions.append(session)
        client.cut = None
        tap.join()
        reader(["remove"])
    print(json.dumps({"sessions": sessions, "cuts": client.cuts, "others": others,
                      "pending": (client.end_of_day() or b"").hex()}))


main()
