#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): num2words 0.5.14 (amounts in words, as some countries want them on receipts and cheques)
#
# Guess: 1250 euros are "one thousand two hundred and fifty euros" whether the number is an int or a Decimal, and a currency has its own
# parts: a Kuwaiti dinar 1,000 fils, a yen none.
# What happens: an int is hundredths, anything else is whole units, so that 1250 and Decimal("1250") are a hundred times apart.
# Every currency has hundredths: half a dinar is "fifty fils" (a twentieth of a dinar), and 1,250 yen are twelve and fifty sen.
#
# Seen:
# > 1250 EUR in en: twelve euro, fifty cents
# > Decimal('1250') EUR in en: one thousand, two hundred and fifty euro, zero cents
# > 1250 EUR in de: zwölf Euro und fünfzig Cent
# > Decimal('1250') EUR in de: eintausendzweihundertfünfzig Euro und null Cent
# > Decimal('12.500') KWD in es: doce dinares con cincuenta fils
# > Decimal('0.005') KWD in es: cero dinares con un fils
# > 1250 JPY in es: doce yenes con cincuenta sen
# > Decimal('1250') JPY in es: mil doscientos cincuenta yenes con cero sen
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check num2words==0.5.14

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from decimal import Decimal

from num2words import num2words

for language, currency, amount in (
    ("en", "EUR", 1250), ("en", "EUR", Decimal(1250)), ("de", "EUR", 1250), ("de", "EUR", Decimal(1250)),
    ("es", "KWD", Decimal("12.500")), ("es", "KWD", Decimal("0.005")), ("es", "JPY", 1250), ("es", "JPY", Decimal(1250)),
):
    print(f"{amount!r} {currency} in {language}: {num2words(amount, to='currency', lang=language, currency=currency)}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
