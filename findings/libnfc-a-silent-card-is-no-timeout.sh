#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (Debian 12): libnfc6 1.8.0-2; the PN532 is a small emulator on a pseudo-terminal
#
# Guess: a card that does not answer in time is NFC_ETIMEOUT, and NFC_EINVARG means that the caller's arguments are wrong.
# What happens: the chip's own word "the card did not answer in time" becomes NFC_ERFTRANS, as every fault of the field does; NFC_ETIMEOUT
# is kept for a chip that is silent. "Not acceptable in this state", said of a call that is well formed, becomes NFC_EINVARG.
#
# Seen:
# > chip status 00, no error: 2 bytes
# > chip status 01, the card did not answer in time: -20 RF Transmission Error
# > chip status 0A, the field was not switched on in time: -20 RF Transmission Error
# > chip status 13, wrong data format in the field: -20 RF Transmission Error
# > chip status 27, not acceptable in this state: -2 Invalid argument(s)
# > chip status 29, the card was released: -10 Target Released
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3 libnfc6=1.8.0-2 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

LIBNFC_LOG_LEVEL=0 timeout -s KILL 120 python3 - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import ctypes
import os
import pty
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


def exchange():
    answer = ctypes.create_string_buffer(300)
    code = nfc.nfc_initiator_transceive_bytes(device, b"\x00\xb2\x01\x0c\x00", ctypes.c_size_t(5), answer, ctypes.c_size_t(300), 2000)
    return f"{code} bytes" if code >= 0 else f"{code} {ctypes.string_at(nfc.nfc_strerror(device)).decode()}"


def select():
    return nfc.nfc_initiator_select_passive_target(device, TYPE_A, None, ctypes.c_size_t(0), target)


for status, meaning in (
    (0x00, "no error"),
    (0x01, "the card did not answer in time"),
    (0x0A, "the field was not switched on in time"),
    (0x13, "wrong data format in the field"),
    (0x27, "not acceptable in this state"),
    (0x29, "the card was released"),
):
    select()
    chip.status = status
    print(f"chip status {status:02X}, {meaning}: {exchange()}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
