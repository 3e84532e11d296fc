#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): bankstatementparser 0.0.29 (reads CAMT, MT940, MT942, BAI2, OFX and CSV)
#
# Guess: what reads CSV files of German, French and Spanish banks reads 1,250 yen or dollars as 1,250, or asks which comma it is; what an
# interim report (MT942) calls its floor limit is no balance; a value date is no reference.
# What happens: a lone comma or point is the decimal one. A whole amount of four digits and more is a thousandth of itself: settlements of
# 1,250 and 12,345 yen make 13.595, while 1,250.00 is right and 1,250,000 is an error. Field 34F, the sum below which a bank lists
# nothing, becomes the opening balance, so that no closing balance ever fits. In BAI2 a payment with a value date (funds type V)
# has the date as its reference and ends its text at the first comma, and record 88, where the text goes on, is left out.
#
# Seen:
# > CSV, JPY 1,250 and 12,345: 1.250 + 12.345 = 13.595
# > CSV, EUR 1.250 and 12,50: 1.250 + 12.50 = 13.750
# > CSV, EUR 1,250.00 and 12.50: 1250.00 + 12.50 = 1262.50
# > CSV, JPY 1,250,000 and 500: Unparseable amount '1,250,000' in CSV column 'Amount'
# > MT942 with a floor limit of 50.00: opening balance 50
# > BAI2, funds type Z: reference CUSTREF, bank's BANKREF, text 'CARDS'
# > BAI2, funds type V: reference 261130, bank's 261130, text 'BANKREF'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check bankstatementparser==0.0.29

(cd "$folder" && venv/bin/python - 2>"$folder/errors") <<'PYTHON' | tee "$folder/now" || true
from pathlib import Path

from bankstatementparser.additional_parsers import create_parser
from bankstatementparser.exceptions import ValidationError


def read(name, text):
    Path(name).write_text(text)
    parser = create_parser(name)
    return parser.parse().to_dict("records"), parser.get_summary()


for currency, amounts in (("JPY", ("1,250", "12,345")), ("EUR", ("1.250", "12,50")), ("EUR", ("1,250.00", "12.50")), ("JPY", ("1,250,000", "500"))):
    rows = "".join(f'2026-11-28,CARDS,"{amount}",{currency}\n' for amount in amounts)
    try:
        records, summary = read("statement.csv", "Date,Description,Amount,Currency\n" + rows)
        said = f"{' + '.join(str(record['amount']) for record in records)} = {summary['total_amount']}"
    except ValidationError as error:
        said = str(error)
    print(f"CSV, {currency} {' and '.join(amounts)}: {said}")
report = (":20:R1", ":25:10020030/1234567", ":28C:1/1", ":34F:EUR50,", ":13D:2611281015+0100", ":61:2611281128C12,50NTRFREF//B1", ":86:CARDS", ":90C:1EUR12,50", "-")
print("MT942 with a floor limit of 50.00: opening balance", read("report.mt942", "\n".join(report) + "\n")[1]["opening_balance"])
for funds in ("Z", "V,261130,"):
    lines = (
        "01,BANK,SHOP,261128,1015,1,,,2/", "02,SHOP,BANK,1,261127,,EUR,2/", "03,123456,EUR,010,500000,,/", f"16,165,1250,{funds},BANKREF,CUSTREF,CARDS, LOT", "88,42/",
        "49,501250,4/", "98,501250,1,6/", "99,501250,1,8/",
    )
    record = read("statement.bai2", "\n".join(lines) + "\n")[0][0]
    print(f"BAI2, funds type {funds[0]}: reference {record['Reference']}, bank's {record['transaction_id']}, text {record['description']!r}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
