#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): python-cfonb 2.13 (reads and writes CFONB 120, in which banks of France and of the Pacific territories give a statement)
#
# Guess: a sum is the same sum whichever type of number holds it, what the library writes it reads, and the digit that says how many
# decimals a currency has may be 0: XPF, the franc of Nouméa and Papeete, has none.
# What happens: with 0 decimals the point goes before the first digit: 12,500 francs are read as 0.00000000012500. The writer takes the digits
# as they happen to be written: 12.5 is 1.25, and the whole number 12 is 0.12, while Decimal("12.50") is right. `write_amount` beside the
# reader forgets a zero behind the point (12.05 is 1.25) and cuts a float's digits; of the 99,999 sums below 1,000.00 it loses half.
#
# Seen:
# > Decimal('12.50'): the statement says 12.50
# > Decimal('12.5'): the statement says 1.25
# > 12.5: the statement says 1.25
# > 12: the statement says 0.12
# > EUR, 2 decimals, 0000000001250{: 125.00
# > XPF, 0 decimals, 0000000001250{: 0.00000000012500
# > write_amount(12.5): read as 12.50
# > write_amount(12.05): read as 1.25
# > write_amount(0.29): read as 0.28
# > 0.01 to 999.99, written and read: 51484 other sums
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-cfonb==2.13

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import io
from datetime import date
from decimal import Decimal

from cfonb import StatementReader
from cfonb.parser.common import parse_amount, write_amount
from cfonb.writer.statement import Statement

day = date(2026, 11, 28)
where = ("12345", "00001", "EUR", "00012345678", day)


def written(amount):
    made = Statement().header(*where, Decimal("0.00"))
    made.add("12345", "0000", *where[1:], "CARTES", amount, "REF")
    return made.footer(*where, Decimal("0.00")).render()


def read(text):
    return StatementReader().parse(io.StringIO(text))[0].lines[0].amount


for amount in (Decimal("12.50"), Decimal("12.5"), 12.5, 12):
    print(f"{amount!r}: the statement says {read(written(amount))}")
text = written(Decimal("125.00"))
digits = text.splitlines()[1][90:104]
for currency, decimals in (("EUR", 2), ("XPF", 0)):
    print(f"{currency}, {decimals} decimals, {digits}: {read(text.replace('EUR2', f'{currency}{decimals}')):f}")
for amount in (12.5, 12.05, 0.29):
    print(f"write_amount({amount}): read as {parse_amount(write_amount(amount, 2), 2)}")
others = sum(parse_amount(write_amount(cents / 100, 2), 2) != Decimal(cents) / 100 for cents in range(1, 100_000))
print(f"0.01 to 999.99, written and read: {others} other sums")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
