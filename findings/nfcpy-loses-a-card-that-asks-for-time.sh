#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): nfcpy 1.0.4
#
# Guess: the library reads from a card's ATS how long the card may take, and waits for a card that asks for more time, wherever it
# asks: ISO 14443-4 lets it do so between two blocks of an answer.
# What happens: the waiting time is read at the place where TB(1) stands if there is a TA(1). Of a card without TA(1), one that knows
# 106 kbit/s only, TC(1) is read: 0.3 ms instead of 38.7. An ATS of one byte, whose defaults the standard gives, is an IndexError.
# A request for time is known for the first block of an answer only. Before a later one it is an error for each other command, and
# between them it is taken for a block: its 01 lies in the middle of a certificate, without an error.
#
# Seen:
# > ATS 0578807002: FWT 38.7 ms
# > ATS 04687002: FWT 0.3 ms
# > ATS 01: IndexError
# > 302 bytes, time asked for before the first block, first command: the record
# > 302 bytes, time asked for before the first block, second command: the record
# > 302 bytes, time asked for before the second block, first command: Type4TagCommandError
# > 302 bytes, time asked for before the second block, second command: 303 bytes, f8f9015555 for f8f95555
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nfcpy==1.0.4 ndeflib==0.3.3

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import nfc.clf
import nfc.tag

PART = 250


class Frontend:
    """What nfcpy knows of a reader, and a type A card behind it that follows the block rules of ISO 14443-4 7.5.4."""

    max_recv_data_size = max_send_data_size = 265

    def __init__(self, ats, answer=b"\x90\x00", waits=()):
        self.ats, self.answer, self.waits = bytes.fromhex(ats), answer, waits
        self.number, self.part, self.waiting, self.last = 1, 0, False, None

    def block(self):
        parts = [self.answer[at : at + PART] for at in range(0, len(self.answer), PART)]
        chained = 0x10 if self.part + 1 < len(parts) else 0
        return bytes([0x02 | chained | self.number]) + parts[self.part]

    def reply(self, data):
        head = data[0]
        if head & 0xFE == 0xF2:
            self.waiting = False
            return self.block()
        if head & 0xE2 == 0x02:
            self.number, self.part = self.number ^ 1, 0
        elif head & 1 == self.number:
            return self.last
        else:
            self.number ^= 1
            if self.waiting:
                self.waiting = False
                return self.block()
            self.part += 1
        self.waiting = self.part in self.waits
        return b"\xf2\x01" if self.waiting else self.block()

    def exchange(self, data, timeout):
        self.last = self.ats if data[0] == 0xE0 else self.reply(bytes(data))
        return bytearray(self.last)


def card(frontend):
    target = nfc.clf.RemoteTarget("106A", sens_res=bytearray.fromhex("4400"), sel_res=bytearray(b"\x20"), sdd_res=bytearray.fromhex("08010203"))
    return nfc.tag.activate(frontend, target)


for ats in ("0578807002", "04687002", "01"):
    try:
        print(f"ATS {ats}: FWT {card(Frontend(ats))._dep.fwt * 1000:.1f} ms")
    except Exception as error:
        print(f"ATS {ats}: {type(error).__name__}")
record = bytes(range(PART)) + b"\x55" * 50 + b"\x90\x00"
for title, waits in (("before the first block", (0,)), ("before the second block", (1,))):
    for number in ("first", "second"):
        frontend = Frontend("0578807002")
        tag = card(frontend)
        if number == "second":
            tag.transceive(bytes.fromhex("00A4040000"))
        frontend.answer, frontend.waits = record, waits
        try:
            got = tag.transceive(bytes.fromhex("00B2010C00"))
            right = record[PART - 2 : PART + 2].hex()
            what = "the record" if got == record else f"{len(got)} bytes, {got[PART - 2 : PART + 3].hex()} for {right}"
        except Exception as error:
            what = type(error).__name__
        print(f"{len(record)} bytes, time asked for {title}, {number} command: {what}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
