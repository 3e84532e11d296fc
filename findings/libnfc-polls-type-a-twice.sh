#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): libnfc6 1.8.0-2, libnfc-examples 1.8.0-2; the PN532 is a small emulator on a pseudo-terminal
#
# Guess: nfc_initiator_poll_target looks for one modulation in number × period × 150 ms, as its documentation and nfc-poll reckon.
# What happens: ISO14443A is written into the chip's list twice, as target types 20 and 10, and each type has its turn: a poll for type A
# takes twice as long as its caller reckons, types A and B half as long again. nfc-poll promises 36 s for 6 modulations and asks for 7.
#
# Seen:
# > asked for type A: 60 14 02 20 10, target types 2
# > asked for type B: 60 14 02 03, target types 1
# > asked for types A and B: 60 14 02 20 10 03, target types 3
# > nfc-poll says: NFC device will poll during 36000 ms (20 pollings of 300 ms for 6 modulations)
# > nfc-poll asks the chip: 60 14 02 20 10 03 11 12 04 03, target types 7
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3 libnfc6=1.8.0-2 libnfc-examples=1.8.0-2 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

LIBNFC_LOG_LEVEL=0 timeout -s KILL 120 python3 - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import ctypes
import os
import pty
import subprocess
import sys
import threading
import tty

PREAMBLE, ACK = b"\x00\x00\xff", bytes.fromhex("0000FF00FF00")
CARD = bytes.fromhex("01010004200408A1B2C30A788080022063CBA3A0")


class PN532(threading.Thread):
    """A PN532 on a serial line: acknowledges each command and answers it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.port, line = pty.openpty()
        tty.setraw(line)
        self.path, self.status, self.commands = os.ttyname(line), 0, []
        self.start()

    def run(self):
        data = b""
        while True:
            data += os.read(self.port, 4096)
            while (start := data.find(PREAMBLE[1:])) >= 0 and len(data) > start + 3:
                size = data[start + 2]
                end = start + 4 + (size + 2 if size else 0)
                if len(data) < end:
                    break
                command, data = data[start + 5 : start + 4 + size], data[end:]
                if command:
                    self.commands.append(command)
                    body = b"\xd5" + bytes([command[0] + 1]) + self.answer(command)
                    sums = bytes([len(body), -len(body) & 0xFF]), bytes([-sum(body) & 0xFF, 0])
                    os.write(self.port, ACK + PREAMBLE + sums[0] + body + sums[1])

    def answer(self, command):
        match command[0]:
            case 0x00:  # Diagnose
                return command[1:]
            case 0x02:  # GetFirmwareVersion
                return bytes.fromhex("32010607")
            case 0x06:  # ReadRegister
                return bytes(len(command) // 2)
            case 0x4A:  # InListPassiveTarget
                return CARD
            case 0x40:  # InDataExchange
                return bytes([self.status]) + (b"" if self.status else b"\x90\x00")
            case 0x60 | 0x52 | 0x16:  # InAutoPoll finds nothing; InRelease, PowerDown
                return b"\x00"
        return b""


class Modulation(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("rate", ctypes.c_int)]


nfc = ctypes.CDLL("libnfc.so.6")
nfc.nfc_open.restype = nfc.nfc_strerror.restype = ctypes.c_void_p
chip = PN532()
context = ctypes.c_void_p()
nfc.nfc_init(ctypes.byref(context))
device = ctypes.c_void_p(nfc.nfc_open(context, f"pn532_uart:{chip.path}".encode()))
if not device.value or nfc.nfc_initiator_init(device) != 0:
    sys.exit("libnfc did not open the emulated reader")
TYPE_A, TYPE_B = Modulation(1, 1), Modulation(3, 1)
target = ctypes.create_string_buffer(1024)


def poll(title, *modulations):
    chip.commands.clear()
    types = (Modulation * len(modulations))(*modulations)
    nfc.nfc_initiator_poll_target(device, types, ctypes.c_size_t(len(types)), ctypes.c_uint8(20), ctypes.c_uint8(2), target)
    show(title)


def show(title):
    sent = next(command for command in chip.commands if command[0] == 0x60)
    print(f"{title}: {sent.hex(' ').upper()}, target types {len(sent) - 3}")


poll("asked for type A", TYPE_A)
poll("asked for type B", TYPE_B)
poll("asked for types A and B", TYPE_A, TYPE_B)
nfc.nfc_close(device)
chip.commands.clear()
said = subprocess.run(["nfc-poll"], env=os.environ | {"LIBNFC_DEVICE": f"pn532_uart:{chip.path}"}, capture_output=True, text=True)
print("nfc-poll says:", next(line for line in said.stdout.splitlines() if "will poll" in line))
show("nfc-poll asks the chip")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
