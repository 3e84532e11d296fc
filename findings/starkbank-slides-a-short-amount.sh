#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): starkbank-iso8583 0.7.1, pyiso8583 4.0.1
#
# Guess: a field of fixed length (4, n 12) is filled with zeros by the library, or a value of another length is an error, as pyiso8583 says.
# What happens: the value is written as it is, and all fields behind it slide to the left: a host reads the amount 1250 together with the trace
# number and the hour as 125000012310. Field 55 is taken as base64: the hexadecimal text that other libraries take is an error,
# or, where its length allows, goes out as other bytes.
#
# Seen:
# > amount 000000001250, trace 000123, time 101500: 000000001250000123101500T1, field 4 is 000000001250
# > amount 1250, trace 000123, time 101500: 1250000123101500T1, field 4 is 125000012310
# > pyiso8583, amount 1250: EncodeError, Field data is 4 bytes, expecting 12
# > field 55 9F3602000A: Incorrect padding
# > field 55 9F36020A: 006 then F45DFAD36D00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check starkbank-iso8583==0.7.1 pyiso8583==4.0.1

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import copy

import iso8583
from iso8583.specs import default_ascii
from starkbank.iso8583 import mastercard, unparse


def written(fields):
    return unparse({"MTI": "0100", **fields}, template=mastercard, encoding="ascii")


for amount in ("000000001250", "1250"):
    text = written({"DE004": amount, "DE011": "000123", "DE012": "101500", "DE041": "T1"})[12:].decode()
    print(f"amount {amount}, trace 000123, time 101500: {text}, field 4 is {text[:12]}")
specification = copy.deepcopy(default_ascii)
try:
    iso8583.encode({"t": "0100", "4": "1250"}, specification)
    said = "written"
except iso8583.EncodeError as error:
    said = f"EncodeError, {str(error).split(':')[0]}"
print(f"pyiso8583, amount 1250: {said}")
for text in ("9F3602000A", "9F36020A"):
    try:
        field = written({"DE055": text})[12:]
        said = f"{field[:3].decode()} then {field[3:].hex().upper()}"
    except ValueError as error:
        said = str(error)
    print(f"field 55 {text}: {said}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
