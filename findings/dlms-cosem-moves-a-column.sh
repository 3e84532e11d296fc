#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): dlms-cosem 25.1.0 (electricity meters by DLMS, which a charger's price is reckoned from)
#
# Guess: a value that is sent as null-data, which says "as in the row before" (Blue Book, profile generic), has its place in the row; a meter whose clock runs in
# UTC says so by a deviation of 0; each type of data in the Green Book is read.
# What happens: a null that is no clock leaves no trace, so that the row is shorter and the exported energy stands where the imported one belongs. A deviation
# of 0 is "no time zone", and is written back as "not specified" (8000): only meters in UTC lose theirs. floats, UTF-8, bit strings and BCD are not read.
# A text of 128 bytes or more gets its length as one byte, which says how many bytes of length follow.
#
# Seen:
# > row 1: 2026-11-29 17:00:00+01:00, 1.8.0 is 1000, 2.8.0 is 20
# > row 2, clock null: 2026-11-29 17:15:00+01:00, 1.8.0 is 1010, 2.8.0 is 21
# > row 3, clock and 1.8.0 null: 2026-11-29 17:30:00+01:00, 2.8.0 is 22; by place: 1.8.0 is 22
# > deviation -60 min: 2026-11-29T17:00:00+01:00, written as ffc4
# > deviation 0 min: 2026-11-29T17:00:00, written as 8000
# > deviation 60 min: 2026-11-29T17:00:00-01:00, written as 003c
# > 12.5 as float32: NotImplementedError, as float64: NotImplementedError, a UTF-8 string: NotImplementedError, a bit string: NotImplementedError
# > an octet string of 127 bytes begins 097f, of 128 bytes 0980
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check dlms-cosem==25.1.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import struct

from dlms_cosem import cosem, dlms_data, time, utils
from dlms_cosem.enumerations import CosemInterface
from dlms_cosem.parsers import ProfileGenericBufferParser


def stamp(deviation):
    """29 November 2026, 17:00:00.00, and the minutes from local time to UTC (Blue Book, 4.1.6.1)."""
    return bytes.fromhex("07EA0B1D07 11000000") + deviation.to_bytes(2, "big", signed=True) + b"\x00"


def row(*values):
    return b"\x02" + bytes([len(values)]) + b"".join(values)


def count(value):
    return b"\x06" + value.to_bytes(4, "big")


def attempt(data):
    try:
        return str(utils.parse_as_dlms_data(data))
    except Exception as error:
        return type(error).__name__


columns = [
    cosem.CosemAttribute(CosemInterface.CLOCK, cosem.Obis(0, 0, 1, 0, 0), 2),
    cosem.CosemAttribute(CosemInterface.REGISTER, cosem.Obis(1, 0, 1, 8, 0), 2),
    cosem.CosemAttribute(CosemInterface.REGISTER, cosem.Obis(1, 0, 2, 8, 0), 2),
]
null = b"\x00"
rows = [row(b"\x09\x0c" + stamp(-60), count(1000), count(20)), row(null, count(1010), count(21)), row(null, null, count(22))]
buffer = b"\x01" + bytes([len(rows)]) + b"".join(rows)
titles = ("row 1", "row 2, clock null", "row 3, clock and 1.8.0 null")
for title, found in zip(titles, ProfileGenericBufferParser(columns, 15).parse_bytes(buffer)):
    said = [f"{cell.attribute.instance.c}.{cell.attribute.instance.d}.0 is {cell.value}" for cell in found[1:]]
    place = "" if len(found) == len(columns) else f"; by place: 1.8.0 is {found[1].value}"
    print(f"{title}: {found[0].value}, {', '.join(said)}{place}")
for deviation in (-60, 0, 60):
    read, _ = time.datetime_from_bytes(stamp(deviation))
    print(f"deviation {deviation} min: {read.isoformat()}, written as {time.datetime_to_bytes(read)[9:11].hex()}")
kinds = (
    ("12.5 as float32", b"\x17" + struct.pack(">f", 12.5)),
    ("as float64", b"\x18" + struct.pack(">d", 12.5)),
    ("a UTF-8 string", b"\x0c\x02kW"),
    ("a bit string", b"\x04\x08\x80"),
)
print(*(f"{name}: {attempt(data)}" for name, data in kinds), sep=", ")
begins = {size: dlms_data.OctetStringData(b"x" * size).to_bytes()[:2].hex() for size in (127, 128)}
print(f"an octet string of 127 bytes begins {begins[127]}, of 128 bytes {begins[128]}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
