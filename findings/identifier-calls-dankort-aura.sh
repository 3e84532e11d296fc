#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): creditcard-identifier 2.3.0 (numbers' beginnings from the data set bin-cc)
#
# Guess: a card's brand follows from its first digits, the more exact range wins, and a number of 12 digits has the brand of one of 16 with the
# same beginning.
# What happens: all that starts with 50 and has 16 digits or more is "aura", a Brazilian brand of that range: Denmark's Dankort (5019), India's
# RuPay (508500) and a Maestro, which is "maestro" as long as it has 12 to 15 digits. British Maestro is "switch", a name given up in
# 2002, and UnionPay's second range, 81, is "rupay". Fees or receipts by such a name are wrong without an error.
# The numbers are made here: the range, zeros and a check digit.
#
# Seen:
# > Maestro 5018, 12 digits: maestro
# > Maestro 5018, 16 digits: aura
# > Dankort 5019, 16 digits: aura
# > RuPay 508500, 16 digits: aura
# > RuPay 8200, 16 digits: rupay
# > UnionPay 8100, 16 digits: rupay
# > UnionPay 6212, 19 digits: unionpay
# > Maestro 6759, 16 digits: switch
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check creditcard-identifier==2.3.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from creditcard_identifier import find_brand


def number(start, size):
    body = start.ljust(size - 1, "0")
    doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(body))]
    return body + str(-sum(value // 10 + value % 10 for value in doubled) % 10)


for brand, start, size in (
    ("Maestro", "5018", 12),
    ("Maestro", "5018", 16),
    ("Dankort", "5019", 16),
    ("RuPay", "508500", 16),
    ("RuPay", "8200", 16),
    ("UnionPay", "8100", 16),
    ("UnionPay", "6212", 19),
    ("Maestro", "6759", 16),
):
    found = find_brand(number(start, size))
    print(f"{brand} {start}, {size} digits: {found['name'] if isinstance(found, dict) else found}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
