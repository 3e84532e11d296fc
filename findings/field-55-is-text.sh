#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): iso8583sim 1.6.0, py8583 1.3, pyiso8583 4.0.1
#
# Guess: field 55 holds BER-TLV as bytes and its length counts bytes, also in a message whose other fields are ASCII.
# What happens: left at their defaults, all three write the TLV as hexadecimal text, and its length counts characters: 018 for nine
# bytes. The three agree with one another, so a test between two of them finds nothing. An emulated host of such a
# kind answers the same way, and the first bytes of its field, "9F", read as the tag 39 with 70 bytes.
#
# Seen:
# > iso8583sim: 018 then 9F0206000000001250
# > py8583: 018 then 9F0206000000001250
# > pyiso8583: 018 then 9F0206000000001250
# > pyiso8583, told that the data is binary: 009 then the bytes
# > iso8583sim, told a wire format: 009 then the bytes
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check iso8583sim==1.6.0 py8583==1.3 pyiso8583==4.0.1

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import copy

import iso8583
from iso8583.specs import default_ascii
from iso8583sim.core.builder import ISO8583Builder
from iso8583sim.core.types import ISO8583Message
from iso8583sim.wire.codec import encode_message
from iso8583sim.wire.format import WireFormat
from py8583.py8583 import Iso8583
from py8583.py8583spec import IsoSpec1987ASCII

data = "9F0206000000001250"
raw = bytes.fromhex(data)


def show(name, message):
    message = message.encode() if isinstance(message, str) else bytes(message)
    size = 9 if message.endswith(raw) else 18
    content = "the bytes" if message.endswith(raw) else message[-size:].decode()
    print(f"{name}: {message[-size - 3:-size].decode()} then {content}")


sale = ISO8583Message(mti="0200", fields={0: "0200", 3: "000000", 4: "000000001250", 11: "000123", 55: data})
show("iso8583sim", ISO8583Builder().build(sale))

other = Iso8583(IsoSpec=IsoSpec1987ASCII())
other.MTI("0200")
for field, value in {4: 1250, 11: 123, 55: data}.items():
    other.FieldData(field, value)
    other.Field(field, 1)
show("py8583", other.BuildIso())

fields = {"t": "0200", "4": "000000001250", "11": "000123", "55": data}
show("pyiso8583", iso8583.encode(fields, default_ascii)[0])
binary = copy.deepcopy(default_ascii)
binary["55"]["data_enc"] = "b"
show("pyiso8583, told that the data is binary", iso8583.encode(fields, binary)[0])
show("iso8583sim, told a wire format", encode_message(sale, WireFormat.ascii_binary()))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
