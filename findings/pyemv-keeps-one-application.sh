#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): pyemv 1.5.0, ber-tlv 0.0.6
#
# Guess: an EMV library reads a directory with two applications as two, and skips bytes 00 between objects (EMV Book 3, Annex B1).
# What happens: pyemv answers with a dictionary: of two entries 61 the last is left, and the terminal never hears of the card's
# first choice. A byte 00 is a tag to it, and what follows is cut at the wrong places; here that is an error, with a
# lone 00 at the end it is an object of its own. ber-tlv beside it reads both as they are meant.
#
# Seen:
# > the directory by pyemv: 1 entry, A0000000041010
# > the directory by ber-tlv: 2 entries, A0000000031010 A0000000041010
# > 00 between two objects by pyemv: DecodeError
# > 00 between two objects by ber-tlv: 82 2000, 94 08010100
# > 00 at the end by pyemv: 5F2A 0978, 00 (empty)
# > 00 at the end by ber-tlv: 5F2A 0978
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyemv==1.5.0 ber-tlv==0.0.6

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import pyemv.tlv
from ber_tlv.tlv import Tlv


def entry(aid, priority):
    inner = bytes.fromhex(f"4F07{aid}8701{priority:02}")
    return bytes([0x61, len(inner)]) + inner


def show(title, call):
    try:
        print(f"{title}:", ", ".join(f"{tag} {value.hex().upper() or '(empty)'}" for tag, value in call()))
    except Exception as error:
        print(f"{title}: {type(error).__name__}")


def by_pyemv(data):
    return pyemv.tlv.decode(data).items()


def by_ber_tlv(data):
    return [(f"{tag:X}", value) for tag, value in Tlv.parse(data)]


directory = entry("A0000000031010", 1) + entry("A0000000041010", 2)
found = pyemv.tlv.decode(directory)
print(f"the directory by pyemv: {len(found)} entry, {found['61']['4F'].hex().upper()}")
found = Tlv.parse(directory)
print(f"the directory by ber-tlv: {len(found)} entries,", " ".join(dict(value)[0x4F].hex().upper() for _, value in found))

between, end = bytes.fromhex("8202200000940408010100"), bytes.fromhex("5F2A02097800")
show("00 between two objects by pyemv", lambda: by_pyemv(between))
show("00 between two objects by ber-tlv", lambda: by_ber_tlv(between))
show("00 at the end by pyemv", lambda: list(by_pyemv(end + b"\x00")))
show("00 at the end by ber-tlv", lambda: by_ber_tlv(end + b"\x00"))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
