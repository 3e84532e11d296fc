#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): en16931 0.2 (makes and reads invoices by EN 16931, which shops in Europe give to other firms)
#
# Guess: a discount on the whole invoice is taken off once, the bases of the taxes add up to the invoice's net sum (BR-CO-13, BR-S-08), a
# discount of 12.5 % is 12.5 %, and a unit's price may have more decimals than money has, as a kilowatt hour's does (BT-146).
# What happens: each rate of tax takes the whole discount off its own base: of 190.00 net the bases are 180.00, and the tax is 1.55 short. A
# discount in percent is rounded to whole ones, 12.5 to 12. A unit's price is rounded to cents before it is multiplied. A rate of 1 % and
# less is taken for a fraction: 1 is 100 %, and 0.5, Spain's surcharge for retailers, is 50 %.
#
# Seen:
# > 100.00 at 21 % and 100.00 at 10 %, 10.00 off: net 190.00, bases 90.00 + 90.00, tax 27.90
# > 100.00 at 21 %, 12.5 % off: 12.00 off, net 88.00
# > 1000 kWh at 0.0125: net 10.00
# > 37.5 kWh at 0.345: net 12.75
# > 100.00 at 5.2 %: tax 5.20
# > 100.00 at 1 %: tax 100.00
# > 100.00 at 0.5 %: tax 50.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check en16931==0.2 py-money==0.5.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from en16931.invoice import Invoice
from en16931.invoice_line import InvoiceLine


def invoice(*lines):
    made = Invoice(invoice_id="1", currency="EUR")
    for quantity, price, rate in lines:
        made.add_line(InvoiceLine(quantity=quantity, price=price, item_name="goods", currency="EUR", tax_percent=rate, tax_category="S"))
    return made


made = invoice((1, 100, 21), (1, 100, 10))
made.discount_amount = 10
bases = " + ".join(str(made.taxable_base(tax)) for tax in made.unique_taxes)
print(f"100.00 at 21 % and 100.00 at 10 %, 10.00 off: net {made.subtotal()}, bases {bases}, tax {made.tax_amount()}")
made = invoice((1, 100, 21))
made.discount_percent = 12.5
print(f"100.00 at 21 %, 12.5 % off: {made.discount_amount} off, net {made.subtotal()}")
for quantity, price in ((1000, 0.0125), (37.5, 0.345)):
    print(f"{quantity} kWh at {price}: net {invoice((quantity, price, 21)).subtotal()}")
for rate in (5.2, 1, 0.5):
    print(f"100.00 at {rate} %: tax {invoice((1, 100, rate)).tax_amount()}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
