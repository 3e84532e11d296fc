#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): aba 0.2 (Australian direct entry files, by which a shop pays out refunds and takes its own money)
#
# Guess: the last record's sums are those of the records above it, and an amount that is no number of cents is an error.
# What happens: of the two codes that it takes, 50 (a credit) and 53 (wages), only 53 is in the sums: a file of refunds ends with a
# total of 0.00 and the right count. An amount of "12.50" fills its ten places with a point among the digits, and nothing complains
# as long as the code is 50; with 53 the sum is an exception. Debits (13) are refused, so that the balancing record cannot be written.
#
# Seen:
# > two refunds by code 50: credits 0000000000, debits 0000000000, count 000002
# > the same by code 53: credits 0000002500, debits 0000000000, count 000002
# > one of each: credits 0000001250, debits 0000000000, count 000002
# > "12.50" by code 50: amount 0000012.50, credits 0000000000
# > "12.50" by code 53: ValueError
# > a debit: ValidationError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check aba==0.2

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import datetime

from aba.exceptions import ValidationError
from aba.generator import AbaFile
from aba.records import DescriptiveRecord, DetailRecord


def lines(*entries):
    file = AbaFile(DescriptiveRecord("WBC", "SHOP PTY LTD", 1, "REFUNDS", datetime.date(2026, 11, 29)))
    for code, amount in entries:
        file.add_record(DetailRecord("062-000", "12345678", code, amount, "A CUSTOMER", "REFUND A-17", "062-001", "87654321", "SHOP"))
    return file.render_to_string().split("\r\n")


def sums(*entries):
    end = lines(*entries)[-1]
    return f"credits {end[30:40]}, debits {end[40:50]}, count {end[74:80]}"


print("two refunds by code 50:", sums(("50", 1250), ("50", 1250)))
print("the same by code 53:", sums(("53", 1250), ("53", 1250)))
print("one of each:", sums(("50", 1250), ("53", 1250)))
made = lines(("50", "12.50"))
print(f'"12.50" by code 50: amount {made[1][20:30]}, credits {made[-1][30:40]}')
for name, entry in (('"12.50" by code 53', ("53", "12.50")), ("a debit", ("13", 1250))):
    try:
        print(f"{name}:", sums(entry))
    except (ValueError, ValidationError) as error:
        print(f"{name}: {type(error).__name__}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
