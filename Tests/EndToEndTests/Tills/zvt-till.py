#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A ZVT till (the ECR side) that tests a payment terminal: zvt-till.py TARGET [options] COMMAND [ARG...] [-- ...]
TARGET is host:port or the path of a serial device. Each command prints one line of JSON: register, logoff, sale AMOUNT,
refund AMOUNT, reversal RECEIPT [AMOUNT], preauth AMOUNT, partial RECEIPT RELEASED (books a reservation but for what it
gives back), booktotal RECEIPT [AMOUNT] (books it), release RECEIPT (gives all of it back), open (asks for the receipt
of one: aborted with B8, see completion), totals, endofday, repeat, status, diagnosis, abort, abort-during-sale AMOUNT
SECONDS, raw HEX. Amounts are minor units. Options come before the first `--`. The till knows just what it sent itself:
before `register` the log-off default 86 is in force. Exit codes: 0 all went by the rules (also lost and timeout, which
end the run), 1 no connection or a bad command, 2 bad options, 3 the terminal broke the rules."""
import argparse, contextlib, io, json, os, re, select, socket, struct, subprocess, sys, time

T1, T2, T3, T4 = 0.2, 5.0, 5.0, 180.0  # between bytes, for 06/15, for the answer, for the completion
ACK, NAK, NEVER = b"\x06", b"\x15", float("inf")
FRAME = re.compile(rb"[\x06\x15]*\x10\x02((?:[^\x10]|\x10\x10)*)\x10\x03(..)", re.DOTALL)
SIZES = {1: "01 02 03 05 19 27 72 73 74 75 8A 8C A0 D0 D2 D3 E0 E9 EA F0 F9 FA FB FC FD", 2: "0D 0E 17 3A 49 87",
         3: "0B 0C 37 3D 88 AA", 4: "29 70 71", 5: "BA", 6: "04", 8: "3B EB", 15: "2A", 0: "06",  # 0: TLV
         -2: "22 23 2D 4C 8B A7 D1 E1 E2 E3 E4 E5 E6 E7 E8 F1 F2 F3 F4 F5 F6 F7 F8", -3: "24 2E 3C 60 9A AF"}  # LL, LLL
FORMATS = {bitmap: size for size, bitmaps in SIZES.items() for bitmap in bytes.fromhex(bitmaps)}
SCHEMES = {"girocard": 4, "jcb": 11, "mastercard": 18, "amex": 25, "visa": 32, "diners": 39, "others": 46}  # in BMP 60
EVENTS = {"04FF": "intermediate", "040F": "status", "06D1": "print", "06D3": "print",
          "060F": "completion", "061E": "completion"}
COMMANDS = {"register": "0600 {password}{config:02X}{registration}", "logoff": "0602", "status": "0501 {password}",
            "sale": "0601 04{0:012.0f}{issue}{currency}{container}", "totals": "0610 {password}", "abort": "06B0",
            "abort-during-sale": "0601 04{0:012.0f}{issue}{currency}{container} {1}", "endofday": "0650 {password}",
            "preauth": "0622 04{0:012.0f}{issue}{currency}{container}", "diagnosis": "0670 {password}",
            "refund": "0631 {password}04{0:012.0f}{issue}{currency}{container}", "repeat": "0620 {password}0301",
            "reversal": "0630 {password}87{0:04.0f}{optional}", "open": "0623 87FFFF",
            "partial": "0623 87{0:04.0f}04{1:012.0f}{currency}", "booktotal": "0624 87{0:04.0f}{optional}{currency}",
            "release": "0625 87{0:04.0f}{currency}"}
PAYMENTS = ("sale", "abort-during-sale", "preauth", "refund", "reversal", "partial", "booktotal", "release")
EXTRAS = ("container", "currency")  # only for a till that sent one itself
LOGGED_OFF = (0x86, False, False)  # config byte, containers and currencies allowed, text blocks allowed

def demand(condition, message):
    """End the program with code 3 unless the terminal has kept this rule."""
    if not condition:
        print(f"zvt-till: the terminal broke the rules: {message}", file=sys.stderr)
        sys.exit(3)

def build(head, data=b""):
    """The bytes of an APDU; from 255 bytes of data on with the extended length."""
    size = bytes([len(data)]) if len(data) < 0xFF else b"\xff" + struct.pack("<H", len(data))
    return bytes.fromhex(head) + size + data

def take_apdu(buffer):
    """Remove the first APDU, (head in hex, data), from the buffer; None if it is not complete yet."""
    start = 5 if buffer[2:3] == b"\xff" else 3
    end = start + int.from_bytes(buffer[3:5] if start == 5 else buffer[2:3], "little")
    if len(buffer) < end:
        return None
    apdu = hexed(buffer[:2]), bytes(buffer[start:end])
    del buffer[:end]
    return apdu

def take(stream, size):
    """The next bytes of a packet; if there are fewer, some length is wrong."""
    value = stream.read(size)
    demand(len(value) == size, f"LL wrong in {hexed(stream.getvalue())}")
    return value

def length(stream, count):
    """A length of LLVAR (2) or LLLVAR (3 bytes F0 to F9, a decimal number), or of TLV (0): 00-7F, 81 nn, 82 hi lo."""
    first = take(stream, count or 1)
    good = re.fullmatch(b"[\xf0-\xf9]+" if count else b"[\0-\x7f\x81\x82]", first)
    demand(good, f"bad length {hexed(first)} in {hexed(stream.getvalue())}")
    value = int(first.hex()[1::2]) if count else first[0]
    return value if count or value < 0x80 else int.from_bytes(take(stream, first[0] - 0x80), "big")

def parse_tlv(data, path="", found=None):
    """The values in a container: {path of tags such as 24/07: [bytes, ...]}."""
    found, stream = {} if found is None else found, io.BytesIO(data)
    while tag := stream.read(1):
        while tag[0] & 0x1F == 0x1F and (len(tag) == 1 or tag[-1] & 0x80):
            tag += take(stream, 1)
        demand(tag != b"\x1f\x73", "message sequence ids 1F73 that the till did not ask for")
        value = take(stream, length(stream, 0))
        if tag[0] & 0x20:
            parse_tlv(value, f"{path}{hexed(tag)}/", found)
        else:
            found.setdefault(path + hexed(tag), []).append(value)
    return found

def parse_bitmaps(data, extras):
    """The fields of a packet by name; extras: which of container and currency the till has allowed."""
    fields, stream = {}, io.BytesIO(data)
    while key := stream.read(1):
        name, decode = FIELDS.get(key[0], (hexed(key), hexed))
        size = FORMATS.get(key[0])
        demand(size is not None, f"unknown bitmap {name} in {hexed(data)}")
        demand(name not in fields, f"{name} twice in {hexed(data)}")
        demand(name in extras or name not in EXTRAS, f"a {name}, but the till sent none")
        demand(name not in ("23", "24", "2D", "3A"), f"card data in the clear, bitmap {name}")
        fields[name] = decode(take(stream, size if size > 0 else length(stream, -size)))
    return fields

def hexed(value): return value.hex().upper()
def number(value): return None if value == b"\xff\xff" else int(digits(value))  # FFFF: no receipt
def text(value): return value.decode("cp437").rstrip("\0 ")  # without its padding

def digits(value):
    """BCD as text, leading zeros kept."""
    demand(value.hex().isdigit(), f"{hexed(value)} is not BCD")
    return value.hex()

def masked(value):
    """A card number with E for each hidden digit; at most the first 6 and last 4 may be seen."""
    card = hexed(value).rstrip("F")
    demand(re.fullmatch("[0-9]{0,6}E+[0-9]{0,4}|", card), "a card number with unmasked middle digits")
    return card

def totals(value):
    """Single totals (BMP 60): first and last receipt, then count (binary) and amount of each scheme."""
    demand(len(value) == 53, f"LL wrong: single totals of {len(value)} bytes instead of 53")
    schemes = {name: {"count": value[at], "amount": number(value[at + 1:at + 7])} for name, at in SCHEMES.items()}
    return {"first": number(value[:2]), "last": number(value[2:4])} | schemes

FIELDS = {0x06: ("container", parse_tlv), 0x04: ("amount", number), 0x0B: ("trace", number), 0x0C: ("time", digits),
          0x0D: ("date", digits), 0x19: ("status_byte", hexed), 0x22: ("card", masked),
          0x29: ("terminal_id", digits), 0x2A: ("merchant", text), 0x37: ("original_trace", number),
          0x3B: ("authorisation", text), 0x3C: ("text", text), 0x60: ("totals", totals), 0x87: ("receipt", number),
          0x88: ("turnover", number), 0x8A: ("card_type", hexed), 0x8B: ("card_name", text),
          0x27: ("result", lambda value: value[0]), 0x49: ("currency", lambda value: digits(value)[1:])}

class Link:
    """A TCP connection: APDUs one after the other, in any cut. TimeoutError: silence; other OSError: it is lost."""
    def __init__(self, descriptor):
        self.descriptor, self.buffer, self.queue = descriptor, bytearray(), []

    def fill(self, until):
        """Wait for bytes and add them to the buffer; false if none came."""
        if not select.select([self.descriptor], [], [], max(0, until - time.monotonic()))[0]:
            return False
        data = os.read(self.descriptor, 65536)
        if not data:
            raise ConnectionResetError
        self.buffer += data
        return True

    def gather(self, taker, until, pause):
        """What the taker finds in the buffer once it is whole; None if its bytes stop for longer than the pause."""
        while not (found := taker(self.buffer)):
            if not self.fill(time.monotonic() + pause if self.buffer else until):
                if self.buffer:
                    return None
                raise TimeoutError
        return found

    def send(self, packet):
        os.write(self.descriptor, packet)

    def receive(self, until):
        """The next APDU. One that has begun must be whole within T3, or its LL is wrong."""
        apdu = self.gather(take_apdu, until, T3)
        demand(apdu, f"LL wrong: only {hexed(self.buffer)} came")
        return apdu

    def expect_silence(self):
        """While the till is master the terminal has nothing to say."""
        with contextlib.suppress(OSError):
            self.fill(time.monotonic() + 0.05)
        demand(not self.buffer and not self.queue, f"out of turn: {hexed(self.buffer)} {self.queue}")

def crc16(data):
    """CRC-16/KERMIT, low byte first."""
    crc = 0
    for bit in range(8 * len(data)):
        crc ^= data[bit // 8] if bit % 8 == 0 else 0
        crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
    return struct.pack("<H", crc)

def take_frame(buffer):
    """Remove the first good frame and give its content; None if there is none (yet)."""
    frame = FRAME.match(bytes(buffer))
    content = frame[1].replace(b"\x10\x10", b"\x10") if frame else b""
    if not frame or crc16(content + b"\x03") != frame[2]:
        return None
    del buffer[:frame.end()]
    return content

class SerialLink(Link):
    """A serial line: a frame is sent until its 06 comes, three times at most; one that crosses it is kept for later."""
    def send(self, packet):
        for _ in range(3):
            super().send(b"\x10\x02" + packet.replace(b"\x10", b"\x10\x10") + b"\x10\x03" + crc16(packet + b"\x03"))
            until = time.monotonic() + T2
            with contextlib.suppress(TimeoutError):
                while self.gather(lambda buffer: buffer[:1], until, T2) not in (ACK, NAK):
                    self.queue.append(self.read_apdu(until))
                if self.buffer.pop(0) == ACK[0]:
                    return
        raise TimeoutError

    def receive(self, until):
        return self.queue.pop(0) if self.queue else self.read_apdu(until)

    def read_apdu(self, until):
        """The APDU of the next frame, which is answered with 06 or 15 before it is looked into."""
        for _ in range(3):
            if content := self.gather(take_frame, until, T1):
                super().send(ACK)
                apdu = take_apdu(rest := bytearray(content))
                demand(apdu and not rest, f"LL wrong in {hexed(content)}")
                return apdu
            self.buffer.clear()
            super().send(NAK)
            until = time.monotonic() + T2
        demand(False, "a frame was damaged three times")

def open_link(target, reset):
    if "/" in target:
        subprocess.run(["stty", "-F", target, *"raw -echo 9600 cs8 cstopb -parenb clocal".split()], check=True)
        return SerialLink(os.open(target, os.O_RDWR | os.O_NOCTTY))
    host, port = target.rsplit(":", 1)
    connection = socket.create_connection((host.strip("[]"), int(port)))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", reset, 0))
    return Link(connection.detach())

def request(options, name, *arguments):
    """The bytes of a command; ValueError, IndexError or KeyError if it is wrong."""
    if name == "raw":
        return bytes.fromhex(arguments[0])
    sent = "" if options.plain else "0978060626040A0206D3" if options.blocks else "09780600"
    fields = {"issue": "" if options.status_infos is None else f"02{options.status_infos:02X}",
              "optional": f"04{float(arguments[1]):012.0f}" if arguments[1:] else "", "registration": sent,
              "currency": "490978" if sent else "", "container": "0600" if sent else ""}
    head, data, *_ = COMMANDS[name].format(*map(float, arguments), password=options.password, config=options.config,
                                           **fields).split(" ") + [""]
    return build(head, bytes.fromhex(data))

class Till:
    """Carries out commands one after the other and checks what the terminal sends meanwhile."""
    def __init__(self, link, options):
        self.link, self.options = link, options
        self.answers = {"040F": options.answer_status, "06D1": options.print_answer, "06D3": options.print_answer}
        self.config, self.extras, self.blocks = LOGGED_OFF

    def carry_out(self, words, packet, cut):
        """One command from its first byte to its end, as a report."""
        started, self.name, self.cut, self.told = time.monotonic(), words[0], cut, False
        self.abort_in = float(words[2]) if self.name == "abort-during-sale" else NEVER
        self.report = {"command": self.name, "outcome": None, "code": None, "result": None, "fields": {},
                       "results": [], "statuses": [], "status_texts": [], "prints": [], "completion": {}}
        try:
            self.report["outcome"] = self.raw(packet) if self.name == "raw" else self.converse(packet)
        except OSError as error:
            self.report["outcome"] = "timeout" if isinstance(error, TimeoutError) else "lost"
        if self.name == "raw":
            self.report["received"], self.link.buffer = hexed(self.link.buffer), bytearray()
        return self.report | {"seconds": round(time.monotonic() - started, 3)}

    def raw(self, packet):
        """Send bytes as they are and keep what comes until 2 s of silence; nothing is answered."""
        Link.send(self.link, packet)
        while self.link.fill(time.monotonic() + 2):
            pass
        return "completed"

    def converse(self, packet):
        """Send a command, take its answer, then serve the terminal until it gives mastership back."""
        self.link.expect_silence()
        self.link.send(packet)
        head, _ = self.link.receive(time.monotonic() + T3)
        demand(head[:2] in ("80", "84"), f"out of turn: {head} before the answer 80 00 00")
        if head not in ("8000", "8400"):
            self.report["code"] = head
            return "refused"
        self.cut_after("command-acknowledged")
        change = {"register": (self.options.config, not self.options.plain, self.options.blocks), "logoff": LOGGED_OFF}
        self.config, self.extras, self.blocks = change.get(self.name, (self.config, self.extras, self.blocks))
        sent = "" if self.options.plain else COMMANDS[self.name]
        self.may = [name for name in EXTRAS if self.extras or f"{{{name}}}" in sent]
        return "acknowledged" if self.name in ("logoff", "abort") else self.serve()

    def cut_after(self, event):
        if self.cut == event:
            os.close(self.link.descriptor)
            raise ConnectionAbortedError

    def serve(self):
        """Answer the terminal's packets until it completes or aborts; send 06 B0 when its moment comes."""
        self.until, abort_at, abort_open, outcome = time.monotonic() + T4, time.monotonic() + self.abort_in, False, None
        while not outcome or abort_open:  # an 06 B0 that crossed the completion is still answered
            try:
                head, data = self.link.receive(min(self.until, abort_at))
            except TimeoutError:
                if time.monotonic() < abort_at:
                    raise
                abort_at, abort_open = NEVER, True
                self.link.send(build("06B0"))
                continue
            if abort_open and head[:2] in ("80", "84"):
                self.report["abort_answer"], abort_open = head, False
                continue
            demand(head in EVENTS and not outcome, f"out of turn or unknown: {head} {hexed(data)}")
            outcome = getattr(self, f"take_{EVENTS[head]}")(head, io.BytesIO(data))
            self.cut_after(EVENTS[head])
            self.answer(head)
        return outcome

    def answer(self, head):
        """80 00 00, or the next of the answers asked for on the command line."""
        answer = self.answers[head].pop(0) if self.answers.get(head) else build("8000")
        self.told = (head == "040F" or self.told) and answer[:2] in (b"\x80\x00", b"\x84\x00")  # or print refused
        if answer:
            self.link.send(answer)

    def take_intermediate(self, _, stream):
        """04 FF: status [T4 minutes [container with lines]]."""
        demand(self.config & 0x08, "04 FF, but the till did not ask for it (config bit 08)")
        self.report["statuses"].append(hexed(take(stream, 1)))
        self.until = time.monotonic() + (60 * number(stream.read(1) or b"\0") or T4)
        lines = parse_bitmaps(stream.read(), self.may).get("container", {}).get("24/07", [])
        self.report["status_texts"].append("\n".join(map(text, lines)))

    def take_status(self, _, stream):
        """04 0F: the result of a transaction, or totals."""
        demand(self.name not in PAYMENTS or not self.told, "a second 04 0F after the till had taken the first")
        self.until = time.monotonic() + T4
        fields = parse_bitmaps(stream.read(), self.may)
        self.report |= {"fields": fields, "result": fields.pop("result", None)}
        self.report["results"].append(self.report["result"])

    def take_print(self, head, stream):
        """06 D1: attribute and text, or FF and a number of feeds. 06 D3: container with kind 1F07 and lines 25."""
        if head == "06D1":
            kind, marks = None, [take(stream, 1)]
            lines = [b""] * take(stream, 1)[0] if marks == [b"\xff"] else [stream.read()]
        else:
            demand(self.blocks, "06 D3, but the till did not list it in tag 26")
            box = parse_bitmaps(stream.read(), self.may).get("container", {})
            kind = int.from_bytes(b"".join(box.get("1F07", [])), "big")
            demand(kind in (1, 2, 3), f"06 D3 of kind {kind}")
            marks, lines = box.get("25/09", []), box.get("25/07", [])
        demand(self.config & 0x80 and self.config & (6, 2, 2, 4)[kind or 0], f"config {self.config:02X} forbids prints")
        demand(self.name not in PAYMENTS or self.report["results"], "out of turn: a receipt before 04 0F")
        demand(min(b"".join(lines), default=0x20) >= 0x20, f"control characters or a container in a print: {lines}")
        self.report["prints"].append({"type": head, "lines": [line.decode("cp437") for line in lines], "kind": kind,
                                      "last": any(b"\x80" <= mark < b"\xff" for mark in marks)})

    def take_completion(self, head, stream):
        """06 0F, or 06 1E with a code. A status enquiry: [version] status, where a 06 is no container."""
        done, report, self.until = head == "060F", self.report, time.monotonic() + T3
        if not done:
            report["code"] = hexed(take(stream, 1))
        elif self.name == "status":
            if re.match(rb"[\xf0-\xf9]{3}.", stream.getvalue(), re.DOTALL):
                report["version"] = text(take(stream, length(stream, 3)))
            report["terminal_status"] = hexed(take(stream, 1))
        report["completion"] = parse_bitmaps(stream.read(), self.may)
        paid = self.told and report["result"] == 0
        demand(self.name not in PAYMENTS or paid == done, f"{head}, but the till has {'' if paid else 'not '}been paid")
        return "completed" if done else "aborted"

def parse_arguments():  # gives the options, and the commands, each a list of words
    answers = lambda value: [bytes.fromhex(item.replace("none", "")) for item in value.split(",")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("command", nargs="+")
    parser.add_argument("--password", default="123456", help="six digits")
    parser.add_argument("--config", type=lambda value: int(value, 16), default=0x8E, help="hex byte of register")
    parser.add_argument("--blocks", action="store_true", help="register for receipts in blocks (06 D3)")
    parser.add_argument("--plain", action="store_true", help="an old till: send no currency and no container")
    parser.add_argument("--status-infos", type=int, help="BMP 02 of a sale: how often 04 0F may come again after 84 9C")
    parser.add_argument("--answer-status", type=answers, help="answers to 04 0F, e.g. 849C00,846600,none")
    parser.add_argument("--print-answer", type=answers, help="answers to 06 D1 and 06 D3")
    parser.add_argument("--cut", choices=["command-acknowledged", *dict.fromkeys(EVENTS.values())], help="close at it")
    parser.add_argument("--reset", action="store_true", help="close with a reset")
    groups = [part.split("\0") for part in "\0".join(sys.argv[1:]).split("\0--\0")]
    options = parser.parse_args(groups[0])
    return options, [options.command, *groups[1:]]

def main():
    options, commands = parse_arguments()
    try:
        packets = [request(options, *words) for words in commands]
        till = Till(open_link(options.target, options.reset), options)
    except (OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
        sys.exit(f"zvt-till: {error!r} for {options.target} {commands}")
    for words, packet in zip(commands, packets):
        report = till.carry_out(words, packet, options.cut if words is commands[-1] else None)
        print(json.dumps(report, ensure_ascii=False, default=hexed), flush=True)
        if report["outcome"] in ("lost", "timeout"):
            return
    till.link.expect_silence()

if __name__ == "__main__":
    main()
