#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): stockholm 0.5.7 (monetary amounts)
#
# Guess: two sums that are equal are the same number of minor units, whichever way their currency was named, and a library that knows
# decimals has ISO 4217's for each currency.
# What happens: a currency named by its code has two decimals, whatever it is: 1250 JPY is 125,000 minor units, and 1250 of them are 12.50 JPY.
# Named by the library's own class it has the right ones, and the two sums compare as equal. A terminal told `sub_units`
# charges a hundred times the price in Tokyo and a tenth of it in Kuwait. The class of the Bahraini dinar has two decimals, not three.
#
# Seen:
# > EUR: by code 125000 minor units, by class 125000, equal True
# > JPY: by code 125000 minor units, by class 1250, equal True
# > XPF: by code 125000 minor units, by class 1250, equal True
# > KWD: by code 125000 minor units, by class 1250000, equal True
# > BHD: by code 125000 minor units, by class 125000, equal True
# > 1250 minor units: JPY by code 12.50 JPY, by class 1250 JPY
# > 1250 minor units: KWD by code 12.50 KWD, by class 1.250 KWD
# > 1250 minor units: BHD by code 12.50 BHD, by class 12.50 BHD
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check stockholm==0.5.7

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from stockholm import Money, currency

for code in ("EUR", "JPY", "XPF", "KWD", "BHD"):
    by_code, by_class = Money("1250", currency=code), Money("1250", currency=getattr(currency, code))
    print(f"{code}: by code {by_code.sub_units:f} minor units, by class {by_class.sub_units:f}, equal {by_code == by_class}")
for code in ("JPY", "KWD", "BHD"):
    by_code, by_class = (Money.from_sub_units(1250, currency=name) for name in (code, getattr(currency, code)))
    print(f"1250 minor units: {code} by code {by_code}, by class {by_class}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
