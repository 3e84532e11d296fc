#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): litex-novitus 1.0.0 (fiscal printers of Novitus, which tills in Poland must have)
#
# Guess: a weight from a scale, which has grams, goes to the fiscal printer as it is, and a line's sum is its quantity times its price.
# What happens: the quantity goes out with two decimals, and the sum is reckoned from the one with three: of 0.375 kg at 19.99 the line says 0.38, 19.99
# and 7.50, which are 7.60. 0.006 kg of saffron are 0.01, and 0.005 are none: it is rounded to the even digit, so that 0.125 kg are 0.12.
# A rate of 0 % is read as ".00%". Pieces are right, so that a test with pieces passes.
#
# Seen:
# > 3 at 2.50: sent 3.00 x 2.50 = 7.50
# > 0.375 at 19.99: sent 0.38 x 19.99 = 7.50, which is 7.60
# > 0.125 at 16.00: sent 0.12 x 16.00 = 2.00, which is 1.92
# > 0.006 at 5000.00: sent 0.01 x 5000.00 = 30.00, which is 50.00
# > 0.005 at 5000.00: sent 0.00 x 5000.00 = 25.00, which is 0.00
# > rates 23.00 00.00 100.00: 23.00% .00% free
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check litex-novitus==1.0.0 2>"$folder/pip"

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from decimal import ROUND_HALF_UP, Decimal

from litex.novitus import Printer
from litex.novitus.helpers import parse_ptu_percentages


class Line:
    """Keeps what is sent, and answers each question with "no error"."""

    def __init__(self):
        self.sent = b""

    def write(self, data):
        self.sent += data

    def read_until(self, *_):
        return b"\x1bP1#E0\x1b\\"


for quantity, price in (("3", "2.50"), ("0.375", "19.99"), ("0.125", "16.00"), ("0.006", "5000.00"), ("0.005", "5000.00")):
    printer = Printer("none")
    printer._conn = Line()
    printer.item(1, "GOODS", Decimal(quantity), "A", Decimal(price))
    # ESC P 1$l name CR quantity CR rate/price/sum/ and two digits of a sum check, ESC \
    _, amount, rest = printer._conn.sent.split(b"\x1b\\")[0].decode().split("\r")
    _, unit, total, _ = rest.split("/")
    product = (Decimal(amount) * Decimal(unit)).quantize(Decimal("0.01"), ROUND_HALF_UP)
    print(f"{quantity} at {price}: sent {amount} x {unit} = {total}" + ("" if product == Decimal(total) else f", which is {product}"))
rates = (b"23.00", b"00.00", b"100.00")
print("rates", *(rate.decode() for rate in rates), end=": ")
print(*(parse_ptu_percentages(rate) for rate in rates))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
