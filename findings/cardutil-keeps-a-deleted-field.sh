#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): cardutil 0.7.3 (reads and writes clearing files, ISO 8583 with private data subfields in fields 48 and 62)
#
# Guess: a record that is read, changed and written has the change; what does not fit into a field, or is no whole number of cents, is an
# error.
# What happens: the chip's tags are read into names of their own and written from the bytes they came from, so that a changed tag is
# written as it was. Private subfields are written from their names, but a field whose subfields have all been deleted is written as it
# was read. Decimal("12.50") is 12 cents. A terminal's number of 13 characters is cut to 8, which all terminals of a shop share.
#
# Seen:
# > 9F02 changed to 000000000999: written 000000001250
# > 9F36 deleted: written 002A
# > PDS0158, alone in its field, changed: written new
# > PDS0158, alone in its field, deleted: written old
# > Decimal('12.50'): written 000000000012
# > terminals KASSE-01-0001 and KASSE-01-0002: written KASSE-01 and KASSE-01
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check cardutil==0.7.3

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from decimal import Decimal

from cardutil import iso8583

CHIP = bytes.fromhex("9F02060000000012509F3602002A")
RECORD = {"MTI": "1240", "DE2": "4761739001010119", "DE4": 1250, "DE41": "TERM0001", "DE49": "978"}


def written(record):
    return iso8583.dumps(dict(record))


def again(change, record):
    """The record read, changed, written and read again."""
    read = iso8583.loads(written(record))
    change(read)
    return iso8583.loads(written(read))


chip = RECORD | {"DE55": CHIP}
print("9F02 changed to 000000000999: written", again(lambda read: read.update(TAG9F02="000000000999"), chip)["TAG9F02"])
print("9F36 deleted: written", again(lambda read: read.pop("TAG9F36"), chip).get("TAG9F36", "nothing").upper())
private = RECORD | {"PDS0158": "old"}
print("PDS0158, alone in its field, changed: written", again(lambda read: read.update(PDS0158="new"), private)["PDS0158"])
print("PDS0158, alone in its field, deleted: written", again(lambda read: read.pop("PDS0158"), private).get("PDS0158", "nothing"))
amount = Decimal("12.50")
print(f"{amount!r}: written {iso8583.loads(written(RECORD | {'DE4': amount}))['DE4']:012d}")
terminals = ("KASSE-01-0001", "KASSE-01-0002")
print(f"terminals {' and '.join(terminals)}: written", " and ".join(iso8583.loads(written(RECORD | {"DE41": name}))["DE41"] for name in terminals))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
