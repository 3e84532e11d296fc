#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): py8583 1.3
#
# Guess: a specification belongs to the message that is made with it; what is read and built again is the same bytes.
# What happens: all specifications share one table, and the one that was made last rules. A program that talks ASCII to one host
# and BCD to another builds both messages in the layout of the second, and the ASCII host gets BCD. Numeric fields
# become Python integers: a variable one (32, the acquirer) comes out shorter than it went in, which no longer matches.
#
# Seen:
# > ASCII, made alone: 3032303031303230303030303030303030303030303030303030303031323530303030313233
# > ASCII, the same object after a BCD specification was made: 02001020000000000000000000001250000123
# > field 32 read: 12345 (int)
# > field 32 on the wire before and after: 1100000012345, 0512345
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check py8583==1.3

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from py8583.py8583 import Iso8583
from py8583.py8583spec import IsoSpec1987ASCII, IsoSpec1987BCD


def build(specification, fields):
    message = Iso8583(IsoSpec=specification)
    message.MTI("0200")
    for field, value in fields.items():
        message.FieldData(field, value)
        message.Field(field, 1)
    return message.BuildIso()


sale = {4: 1250, 11: 123}
ascii_host = IsoSpec1987ASCII()
print("ASCII, made alone:", build(ascii_host, sale).hex())
IsoSpec1987BCD()
print("ASCII, the same object after a BCD specification was made:", build(ascii_host, sale).hex())

ascii_host = IsoSpec1987ASCII()
sent = build(ascii_host, sale | {32: "00000012345"})
message = Iso8583(IsoMsg=sent, IsoSpec=ascii_host)
value = message.FieldData(32)
print(f"field 32 read: {value} ({type(value).__name__})")
print(f"field 32 on the wire before and after: {sent[-13:].decode()}, {message.BuildIso()[-7:].decode()}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
