#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): ach 0.2, carta-ach 0.4.5 (both write NACHA files, by which US acquirers pay their merchants)
#
# Guess: whatever transaction code a library takes is in the batch's sums, and a sum that leaves something out is an error.
# What happens: both know the codes of checking and savings accounts. Credits and debits to a general ledger (42, 47) or of a loan (52)
# are written, are in the count and in the hash, and are not in the two sums: the file says 12.50 and moves 25.00. The addenda of an
# entry, which NACHA counts from 1, begin at 0000 with ach.
#
# Seen:
# > ach, 12.50 by 22 and 12.50 by 42: entries 000002, debits 000000000000, credits 000000001250
# > ach, 12.50 by 27 and 12.50 by 47: entries 000002, debits 000000001250, credits 000000000000
# > ach, 12.50 by 22 and 12.50 by 52: entries 000002, debits 000000000000, credits 000000001250
# > ach, two addenda: numbers 0000 0001
# > carta-ach, 12.50 by 22 and 12.50 by 42: entries 000002, debits 000000000000, credits 000000001250
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
for package in ach==0.2 carta-ach==0.4.5; do
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --target "$folder/${package%==*}" "$package"
done

for name in ach carta-ach; do
    PYTHONPATH="$folder/$name" "$folder/venv/bin/python" - "$name" 2>>"$folder/errors" <<'PYTHON' | tee -a "$folder/now" || true
import sys

from ach.builder import AchFile

NAME = sys.argv[1]
SETTINGS = {
    "immediate_dest": "123456780",
    "immediate_org": "123456780",
    "immediate_dest_name": "BANK",
    "immediate_org_name": "SHOP",
    "company_id": "1234567890",
}


def lines(*codes, addenda=()):
    file = AchFile("A", SETTINGS)
    entry = {"routing_number": "123456780", "account_number": "11232132", "amount": "12.50", "name": "Shop"}
    notes = [{"payment_related_info": text} for text in addenda]
    file.add_batch("CCD", [{"type": code, "addenda": notes, **entry} for code in codes], credits=True, debits=True)
    return file.render_to_string().split("\n")


def sums(*codes):
    end = next(line for line in lines(*codes) if line.startswith("8"))
    return f"entries {end[4:10]}, debits {end[20:32]}, credits {end[32:44]}"


for codes in (("22", "42"), ("27", "47"), ("22", "52"))[: 3 if NAME == "ach" else 1]:
    print(f"{NAME}, 12.50 by {codes[0]} and 12.50 by {codes[1]}:", sums(*codes))
if NAME == "ach":
    print(f"{NAME}, two addenda: numbers", " ".join(line[83:87] for line in lines("22", addenda=("ONE", "TWO")) if line.startswith("7")))
PYTHON
done

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
