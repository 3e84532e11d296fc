#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): uttlv 0.7.1, tlvdict 1.2.0 ("very useful for EMV Data")
#
# Guess: a library that writes a length of two or three bytes as BER asks (81 80, 82 01 05) reads what it wrote.
# What happens: both write the right bytes and read other ones, without an error. uttlv takes the byte 81 for a part of the number, so that an
# object of 128 bytes or more swallows all that stand behind it. tlvdict is right up to 255 bytes; from 256 on, the length of a
# certificate of 2,048 bits, it shifts each byte alike, so that 264 bytes are 2,304, and the value begins with its own length: 0108. The
# objects behind are gone as well; in a card's record the exponent stands behind the certificate. An object without a value is read,
# and left out when it is written.
#
# Seen (an object 90 of so many bytes, then 9F32 or, for uttlv, 92, of one byte):
# > uttlv, 127 bytes: writes 907F, reads 90 of 127 bytes, then 92
# > uttlv, 128 bytes: writes 908180, reads 90 of 131 bytes, then nothing
# > uttlv, 248 bytes: writes 9081F8, reads 90 of 251 bytes, then nothing
# > tlvdict, 128 bytes: writes 908180, reads 90 of 128 bytes, then 9F32
# > tlvdict, 248 bytes: writes 9081F8, reads 90 of 248 bytes, then 9F32
# > tlvdict, 264 bytes: writes 90820108, reads 90 of 270 bytes, then nothing
# > tlvdict, 9A032611298A00: written as 9A03261129
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check uttlv==0.7.1 tlvdict==1.2.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import contextlib
import io

from tlvdict import TLVDict
from uttlv import TLV


def told(name, size, written, read):
    first = read.pop("90")
    head = written[: written.index("AB")]
    print(f"{name}, {size} bytes: writes {head}, reads 90 of {first} bytes, then {' '.join(read) or 'nothing'}")


for size in (127, 128, 248):
    made = TLV(tag_size=1)
    made[0x90], made[0x92] = bytes([0xAB]) * size, b"\x03"
    written = made.to_byte_array()
    read = TLV(tag_size=1)
    read.parse_array(written)
    told("uttlv", size, written.hex().upper(), {f"{tag:X}": len(read[tag]) for tag in read})
for size in (128, 248, 264):
    made = TLVDict()
    made["90"], made["9F32"] = "AB" * size, "03"
    written = made.toHex()
    told("tlvdict", size, written, {tag: len(value) // 2 for tag, value in TLVDict.FromHex(written).items()})
with contextlib.redirect_stdout(io.StringIO()):
    written = TLVDict.FromHex("9A032611298A00").toHex()
print(f"tlvdict, 9A032611298A00: written as {written}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
