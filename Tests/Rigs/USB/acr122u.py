# SPDX-License-Identifier: Apache-2.0
"""An ACR122U as a USB device: descriptors, CCID messages and card events, spoken over usbredir to QEMU's usb-redir.

The card is a client of a loopback port and speaks the frames of vpcd (2 bytes length, big endian, then the bytes), so
that the same cards serve here and behind pcscd's virtual driver. Other ids may be given, to show udev another reader;
such a device answers its descriptors and nothing else.
"""

import socket
import struct
import threading

# usbredir message types, little endian. The hello has a short header, everything after it one with a 64-bit id.
DEVICE_CONNECT, INTERFACE_INFO, EP_INFO = 1, 4, 5
SET_CONFIGURATION, GET_CONFIGURATION, CONFIGURATION_STATUS = 6, 7, 8
SET_ALT_SETTING, GET_ALT_SETTING, ALT_SETTING_STATUS = 9, 10, 11
START_INTERRUPT, STOP_INTERRUPT, INTERRUPT_STATUS, CANCEL = 15, 16, 17, 21
CONTROL, BULK, INTERRUPT = 100, 101, 103
CAPABILITIES = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6
CANCELLED, STALL = 1, 4

CCID_DESCRIPTOR = struct.pack(
    "<BBHBBIIIBIIBIIIIIBBHBB",
    54, 0x21, 0x0100, 0, 7, 2, 4000, 4000, 0, 10752, 250000, 0, 256, 0, 0, 0x00020040, 271, 0, 0, 0, 0, 1,
)


def text(number):
    words = {1: "ACS", 2: "ACR122U PICC Interface"}
    if number == 0:
        return struct.pack("<BBH", 4, 3, 0x0409)
    encoded = words.get(number, "").encode("utf-16-le")
    return bytes([2 + len(encoded), 3]) + encoded


class Card:
    """The stream to whoever plays the card; none while no card is on the reader."""

    def __init__(self, changed):
        self.changed = changed
        self.stream = None
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            stream, _ = self.listener.accept()
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.stream = stream
            self.changed(True)
            # A card that leaves closes; nothing else can be read outside an exchange.
            while self.stream is stream:
                with self.lock:
                    try:
                        gone = stream.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
                    except BlockingIOError:
                        gone = False
                    except OSError:
                        gone = True
                    if gone:
                        self.stream = None
                threading.Event().wait(0.01)
            stream.close()
            self.changed(False)

    def exchange(self, payload, answered=True):
        """The card's answer; None where there is no card or it left."""
        with self.lock:
            if self.stream is None:
                return None
            try:
                self.stream.sendall(struct.pack(">H", len(payload)) + payload)
                if not answered:
                    return b""
                return receive(self.stream, struct.unpack(">H", receive(self.stream, 2))[0])
            except (OSError, EOFError):
                return None


def receive(stream, count):
    data = b""
    while len(data) < count:
        part = stream.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


class Reader:
    """One plug into one socket of QEMU. `unplug` closes it."""

    def __init__(self, path, vendor=0x072F, product=0x2200):
        self.path, self.vendor, self.product = path, vendor, product
        self.card = Card(self.show_card)
        self.stream = None
        self.configuration = 0
        self.listens = False
        self.output, self.waiting = b"", []
        self.lock = threading.RLock()

    # --- plug and unplug

    def plug(self):
        self.configuration, self.listens, self.output, self.waiting = 0, False, b"", []
        self.stream = socket.socket(socket.AF_UNIX)
        self.stream.connect(self.path)
        self.stream.sendall(struct.pack("<III", 0, 68, 0) + b"nfc-tap rig".ljust(64, b"\0") + struct.pack("<I", CAPABILITIES))
        kind, length, _ = struct.unpack("<III", receive(self.stream, 12))
        receive(self.stream, length)
        assert kind == 0, "QEMU did not say hello"
        self.describe()
        threading.Thread(target=self.serve, args=(self.stream,), daemon=True).start()

    def unplug(self):
        with self.lock:
            stream, self.stream = self.stream, None
            if stream:
                stream.shutdown(socket.SHUT_RDWR)
                stream.close()

    def describe(self):
        kinds, intervals, interfaces, sizes = [0xFF] * 32, [0] * 32, [0] * 32, [0] * 32
        # Endpoint 0 both ways, 81 interrupt, 02 and 82 bulk; the index is bit 7 as bit 4, then the number.
        for index, kind, interval, size in [(0, 0, 0, 8), (16, 0, 0, 8), (17, 3, 16, 8), (2, 2, 0, 64), (18, 2, 0, 64)]:
            kinds[index], intervals[index], sizes[index] = kind, interval, size
        self.send(EP_INFO, 0, bytes(kinds + intervals + interfaces) + struct.pack("<32H", *sizes))
        classes = [0x0B] + [0] * 31
        self.send(INTERFACE_INFO, 0, struct.pack("<I", 1) + bytes(32) + bytes(classes) + bytes(64))
        full_speed = 1
        self.send(DEVICE_CONNECT, 0, struct.pack("<BBBBHHH", full_speed, 0, 0, 0, self.vendor, self.product, 0x0207))

    def send(self, kind, number, body):
        with self.lock:
            if self.stream:
                try:
                    self.stream.sendall(struct.pack("<IIQ", kind, len(body), number) + body)
                except OSError:
                    self.stream = None

    def serve(self, stream):
        try:
            while True:
                kind, length, number = struct.unpack("<IIQ", receive(stream, 16))
                self.take(kind, number, receive(stream, length))
        except (OSError, EOFError):
            return

    # --- messages of the bus

    def take(self, kind, number, body):
        if kind == SET_CONFIGURATION:
            self.configuration = body[0]
            self.send(CONFIGURATION_STATUS, number, bytes([0, body[0]]))
        elif kind == GET_CONFIGURATION:
            self.send(CONFIGURATION_STATUS, number, bytes([0, self.configuration]))
        elif kind == SET_ALT_SETTING:
            self.send(ALT_SETTING_STATUS, number, bytes([0, body[0], body[1]]))
        elif kind == GET_ALT_SETTING:
            self.send(ALT_SETTING_STATUS, number, bytes([0, body[0], 0]))
        elif kind in (START_INTERRUPT, STOP_INTERRUPT):
            self.listens = kind == START_INTERRUPT
            self.send(INTERRUPT_STATUS, number, bytes([0, body[0]]))
            if self.listens and self.card.stream:
                self.show_card(True)
        elif kind == CONTROL:
            self.control(number, body)
        elif kind == BULK:
            self.bulk(number, body)
        elif kind == CANCEL:
            with self.lock:
                held = [w for w in self.waiting if w[0] == number]
                self.waiting = [w for w in self.waiting if w[0] != number]
            for held_number, _, _ in held:
                self.send(BULK, held_number, struct.pack("<BBHIH", 0x82, CANCELLED, 0, 0, 0))

    def show_card(self, is_there):
        if self.listens:
            body = struct.pack("<BBH", 0x81, 0, 2) + bytes([0x50, 3 if is_there else 2])
            self.send(INTERRUPT, 0, body)

    def control(self, number, body):
        endpoint, request, kind, _, value, index, length = struct.unpack("<BBBBHHH", body[:10])
        data = None
        if kind == 0x80 and request == 6:
            data = self.descriptor(value >> 8, value & 0xFF)
        elif kind & 0x7F <= 2 and request == 0:
            data = b"\0\0"
        elif kind in (0x00, 0x01, 0x02):
            data = b""
        status = STALL if data is None else 0
        data = (data or b"")[:length]
        size = len(data) if kind & 0x80 else length
        head = struct.pack("<BBBBHHH", endpoint, request, kind, status, value, index, size)
        self.send(CONTROL, number, head + data)

    def descriptor(self, kind, number):
        if kind == 1:
            return struct.pack(
                "<BBHBBBBHHHBBBB", 18, 1, 0x0200, 0, 0, 0, 8, self.vendor, self.product, 0x0207, 1, 2, 0, 1)
        if kind == 2:
            interface = struct.pack("<BBBBBBBBB", 9, 4, 0, 0, 3, 0x0B, 0, 0, 0) + CCID_DESCRIPTOR
            for address, attributes, size, interval in [(0x81, 3, 8, 16), (0x02, 2, 64, 0), (0x82, 2, 64, 0)]:
                interface += struct.pack("<BBBBHB", 7, 5, address, attributes, size, interval)
            return struct.pack("<BBHBBBBB", 9, 2, 9 + len(interface), 1, 1, 0, 0x80, 100) + interface
        return text(number) if kind == 3 else None

    # --- CCID

    def bulk(self, number, body):
        endpoint, _, low, stream, high = struct.unpack("<BBHIH", body[:10])
        length = high << 16 | low
        with self.lock:
            if endpoint == 0x82:
                self.waiting.append((number, length, stream))
            else:
                self.send(BULK, number, struct.pack("<BBHIH", endpoint, 0, low, stream, high))
                self.output += self.answer(body[10:])
            while self.waiting and self.output:
                asker, room, stream = self.waiting.pop(0)
                part, self.output = self.output[:room], self.output[room:]
                self.send(BULK, asker, struct.pack("<BBHIH", 0x82, 0, len(part), stream, 0) + part)

    def answer(self, message):
        kind, length, slot, sequence = struct.unpack("<BIBB", message[:7])
        data = message[10:10 + length]
        present = self.card.stream is not None

        def reply(kind, data=b"", status=0, error=0, extra=0):
            return struct.pack("<BIBBBBB", kind, len(data), slot, sequence, status, error, extra) + data

        if kind == 0x62:
            self.card.exchange(b"\x01", answered=False)
            atr = self.card.exchange(b"\x04")
            return reply(0x80, atr) if atr else reply(0x80, status=0x42, error=0xFE)
        if kind == 0x63:
            self.card.exchange(b"\x00", answered=False)
            return reply(0x81, status=1 if present else 2)
        if kind == 0x65:
            return reply(0x81, status=0 if present else 2)
        if kind in (0x61, 0x6C):
            return reply(0x82, bytes.fromhex("1110004D002000"), extra=1)
        if kind in (0x6B, 0x6F):
            result = self.transmit(data)
            if kind == 0x6B:
                return reply(0x83, result or b"\x63\x00", status=2, error=0x81)
            return reply(0x80, result) if result else reply(0x80, status=0x42, error=0xFE)
        return reply(0x81, status=0x40, error=0)

    def transmit(self, command):
        if command[:3] == b"\xff\x00\x48":
            return b"ACR122U207"
        if command[:3] == b"\xff\x00\x51":
            return b"\x90\xff"
        if command[:4] == b"\xff\x00\x00\x00" and command[5:6] == b"\xd4":
            # The PN532 behind it. The kernel's driver asks for its version and sets parameters; nothing uses its radio.
            version = bytes.fromhex("32010607") if command[6] == 0x02 else b""
            return bytes([0xD5, command[6] + 1]) + version + b"\x90\x00"
        if command[:2] == b"\xff\x00":
            return b"\x90\x00"
        return self.card.exchange(command)
