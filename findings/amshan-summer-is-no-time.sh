#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): amshan 2.1.1 (electricity meters of Norway and Sweden; imported as `han`)
#
# Guess: bit 0 of a clock's status, "invalid", is the lowest one, as in all of DLMS (Blue Book, 4.1.6.1), and bit 7 is summer time; a meter behind current
# transformers has its own scale, as the library's table says.
# What happens: the byte is read from its other end: from March to October each time is "invalid", and none says summer; a clock that really is invalid is
# one in summer, and one that is doubtful or runs from another source says nothing. The meter's type is looked for under an OBIS code that ends in .256, which
# no byte can be, so that a current of 12.345 A is 123.45.
#
# Seen:
# > status 00 (winter): nothing
# > status 80 (summer time): invalid_value
# > status 01 (invalid): daylight_saving_active
# > status 02 (doubtful): nothing
# > status 04 (another source): nothing
# > status 08 (part of the status is invalid): nothing
# > type 6841: 1234 of 10 mA is 12.34 A
# > type 6851, by current transformers: 12345 of 1 mA is 123.45 A
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check amshan==2.1.1 construct==2.10.70

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from han import cosem, kamstrup

FLAGS = ("invalid_value", "doubtful_value", "different_clock_base", "invalid_clock_status", "daylight_saving_active")


def status(byte):
    """29 July 2026, 17:00:00.00, 120 minutes before UTC, and the clock's status."""
    read = cosem.DateTimeField.parse(bytes.fromhex("090C 07EA071D03 11000000 FF88") + bytes([byte])).clock_status
    return " ".join(flag for flag in FLAGS if read[flag]) or "nothing"


def text(value):
    return b"\x0a" + bytes([len(value)]) + value.encode()


def obis(code):
    return b"\x09\x06" + bytes(int(part) for part in code.split("."))


def current(kind, value):
    body = text("Kamstrup_V0001") + obis("1.1.96.1.1.255") + text(kind) + obis("1.1.31.7.0.255") + b"\x06" + value.to_bytes(4, "big")
    return kamstrup.decode_notification_body(b"\x02\x05" + body)["current_l1"]


names = {0x00: "winter", 0x80: "summer time", 0x01: "invalid", 0x02: "doubtful", 0x04: "another source", 0x08: "part of the status is invalid"}
for byte, name in names.items():
    print(f"status {byte:02x} ({name}): {status(byte)}")
print(f"type 6841: 1234 of 10 mA is {current('6841121BN243101040', 1234):g} A")
print(f"type 6851, by current transformers: 12345 of 1 mA is {current('6851121BN243101040', 12345):g} A")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
