#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): iso-8583-toolbox 0.1.0; pyiso8583 4.0.1 on the other side
#
# Guess: two ISO 8583 libraries that pack numbers in BCD pack the length before a field so too; if not, the first message is refused.
# What happens: iso-8583-toolbox writes the length in binary, 16 digits as 10. It reads the other's 16 as 22, goes on and reports no error: the card's number
# gets six digits too many, and an amount of 12.50 is 12,502,441.11. A field that the message is too short for is cut, without an error too.
# Lengths below ten are the same in both, so that a test with short fields passes.
#
# Seen:
# > 4111111111111111: length 10 by the toolbox, 16 by pyiso8583
# >   the toolbox reads pyiso8583: {2: '4111111111111111000000', 3: '000000', 4: '001250244111', 35: '111111111D2612201'}
# >   pyiso8583 reads the toolbox: Extra data after last field: field 35 pos 26
# > 6304000000000000000: length 13 by the toolbox, 19 by pyiso8583
# >   the toolbox reads pyiso8583: {2: '6304000000000000000000000', 3: '000000', 4: '001250'}
# >   pyiso8583 reads the toolbox: Extra data after last field: field 4 pos 27
# > 41111111: length 08 by the toolbox, 08 by pyiso8583
# >   the toolbox reads pyiso8583: {2: '41111111', 3: '000000', 4: '000000001250'}
# >   pyiso8583 reads the toolbox: {'2': '41111111', '3': '000000', '4': '000000001250'}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check iso-8583-toolbox==0.1.0 pyiso8583==4.0.1

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import copy

import iso8583
from iso8583.specs import default_ascii
from iso_8583.extendable_formats import MTI, LengthType
from iso_8583.fixed_formats import FieldFormat
from iso_8583.iso_8583 import FieldSpec, Message

here = {
    2: FieldSpec(LengthType.LLVAR, FieldFormat.N, 19),
    3: FieldSpec(LengthType.FIXED, FieldFormat.N, 6),
    4: FieldSpec(LengthType.FIXED, FieldFormat.N, 12),
    35: FieldSpec(LengthType.LLVAR, FieldFormat.Z, 37),
}
there = copy.deepcopy(default_ascii)
for name in ("t", "p"):
    there[name]["data_enc"] = "b"
for name, kind, size in (("2", 1, 19), ("3", 0, 6), ("4", 0, 12), ("35", 1, 37)):
    there[name] = {"data_enc": "b", "len_enc": "bcd", "len_type": kind, "len_count": "nibbles", "left_pad": "0", "max_len": size, "desc": ""}

for number, track in (("4111111111111111", "4111111111111111D2612201"), ("6304000000000000000", None), ("41111111", None)):
    message = Message(here, MTI.AUTHORISATION_REQUEST)
    fields = {"2": number, "3": "000000", "4": "000000001250"} | ({"35": track} if track else {})
    for bit, value in fields.items():
        message[int(bit)] = value
    ours = message.pack()
    theirs = bytes(iso8583.encode({"t": "0100"} | fields, there)[0])
    print(f"{number}: length {ours[10]:02x} by the toolbox, {theirs[10]:02x} by pyiso8583")
    print("  the toolbox reads pyiso8583:", Message.unpack(here, theirs).fields())
    try:
        print("  pyiso8583 reads the toolbox:", {name: value for name, value in iso8583.decode(ours, there)[0].items() if name.isdigit()})
    except iso8583.DecodeError as error:
        print("  pyiso8583 reads the toolbox:", error)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
