#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): pytlv 0.71 ("especially useful for EMV tags parsing")
#
# Guess: a library for EMV reads lengths of two bytes, as each certificate of a card has one; one that cannot says so.
# What happens: 81 is read as a length of 129. For a key of 1,024 bits, whose certificate has 128 bytes, that is the second length byte
# and the certificate: 129 bytes that begin with 80, without an error, and all tags behind it are right. For every
# other size a tag is not found, or is found in the middle of the certificate. Its own writer writes 80 for 128, "indefinite", and reads it back.
#
# Seen:
# > issuer certificate of 127 bytes: read as 127 bytes
# > issuer certificate of 128 bytes: read as 129 bytes that begin with 80, and 9F3602000A behind it
# > issuer certificate of 144 bytes: ValueError
# > issuer certificate of 176 bytes: ValueError
# > issuer certificate of 248 bytes: ValueError
# > 128 bytes written by pytlv begin with 9080, 144 bytes with 9090
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# Its setup.py needs nothing but a setuptools that still reads such files.
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pytlv==0.71

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from pytlv.TLV import TLV

tlv = TLV(["90", "9F36"])
for size in (127, 128, 144, 176, 248):
    length = f"{size:02X}" if size < 128 else f"81{size:02X}"
    record = "90" + length + "AB" * size + "9F3602000A"
    try:
        read = tlv.parse(record)
        value, rest = read["90"], "9F3602" + read["9F36"]
        print(f"issuer certificate of {size} bytes: read as {len(value) // 2} bytes", end="")
        print("" if len(value) // 2 == size else f" that begin with {value[:2]}, and {rest} behind it")
    except ValueError as error:
        print(f"issuer certificate of {size} bytes: {type(error).__name__}")
first, second = (tlv.build({"90": "AB" * size})[:4] for size in (128, 144))
print(f"128 bytes written by pytlv begin with {first}, 144 bytes with {second}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
