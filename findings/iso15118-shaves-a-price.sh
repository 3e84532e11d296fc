#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): iso15118 0.31.2 (plug-and-charge and vehicle-to-grid messages)
#
# Guess: a price with two decimals is carried exactly by ISO 15118-20's RationalNumber (a 16-bit integer and a power of ten), and what
# does not fit is rounded.
# What happens: it is cut, never rounded. Of the prices from 0.01 to 327.66, all of which fit, one in ten is a thousandth too little: 0.59 a kWh is
# 0.589. 327.67 fits as well and is 327.60, and a session of 1,250.55 is 1250.50. The vehicle shows less than the charger bills.
#
# Seen:
# > 0.29: 29 × 10^-2 = 0.29
# > 0.47: 469 × 10^-3 = 0.469
# > 0.59: 589 × 10^-3 = 0.589
# > 1.13: 1129 × 10^-3 = 1.129
# > 19.99: 19989 × 10^-3 = 19.989
# > 327.67: 3276 × 10^-1 = 327.6
# > 1250.55: 12505 × 10^-1 = 1250.5
# > 12.34: 1234 × 10^-2 = 12.34
# > of 32766 prices up to 327.66: 3110 too little, 0 too much
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check iso15118==0.31.2

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from decimal import Decimal

from iso15118.shared.messages.iso15118_20.common_types import RationalNumber


def carried(price):
    number = RationalNumber.get_rational_repr(float(price))
    return Decimal(number.value).scaleb(number.exponent)


for price in ("0.29", "0.47", "0.59", "1.13", "19.99", "327.67", "1250.55", "12.34"):
    number = RationalNumber.get_rational_repr(float(price))
    print(f"{price}: {number.value} × 10^{number.exponent} = {carried(price)}")
prices = [Decimal(cents) / 100 for cents in range(1, 32767)]
print(f"of {len(prices)} prices up to {prices[-1]}: {sum(carried(price) < price for price in prices)} too little,", end=" ")
print(f"{sum(carried(price) > price for price in prices)} too much")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
