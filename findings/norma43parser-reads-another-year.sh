#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): norma43parser 1.1.2, norma43 0.1.4 (Norma 43, the Spanish banks' account statement)
#
# The files: Cuaderno 43 of AEB, 80 characters a record. Dates are AAMMDD, year, month, day, in records 11 and 22. Record 24 may follow a movement and has the
# currency and the amount that it had before it was exchanged.
# Guess: two parsers of one fixed format read the same dates, and a foreign card's payment with its record 24.
# What happens: norma43parser takes the dates for day, month, year unless DateFormat.ENGLISH is asked for, and no day of 2026 is an error: 27 November 2026
# is 26 November 2027, 5 December is in 2005, and 12 days of the year, those on a 26th, are right. A record 24 stops the file. norma43 reads both.
#
# Seen:
# > paid on 2026-11-27: norma43parser 2027-11-26, norma43 2026-11-27
# > paid on 2026-12-05: norma43parser 2005-12-26, norma43 2026-12-05
# > days of 2026: norma43parser 365 read, 12 right; norma43 365 read, 365 right
# > paid on 2026-11-27, DateFormat.ENGLISH: norma43parser 2026-11-27
# > a card in dollars, with record 24: norma43parser ValueError: 24 is not a valid LineType, norma43 2026-11-27
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check norma43parser==1.1.2 norma43==0.1.4

"$folder/venv/bin/python" - "$folder/file" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import datetime
import pathlib
import sys

import norma43.parser
from norma43parser import DateFormat, Norma43Parser

path = pathlib.Path(sys.argv[1])
ACCOUNT = "0049" + "1500" + "1234567890"


def statement(day, foreign=False):
    """One account and one card payment of 98.00 EUR, of 110.00 USD where it is foreign; its sums are right."""
    date = day.strftime("%y%m%d")
    records = ["11" + ACCOUNT + date * 2 + "2" + f"{10000:014}" + "978" + "3" + "TIENDA".ljust(26)]
    records += ["22" + " " * 4 + "1500" + date * 2 + "12" + "000" + "2" + f"{9800:014}" + "0" * 22 + "TERMINAL 001"]
    records += ["2401" + "840" + f"{11000:014}"] * foreign
    records += ["33" + ACCOUNT + f"{0:05}{0:014}{1:05}{9800:014}" + "2" + f"{19800:014}" + "978"]
    records += ["88" + "9" * 18 + f"{len(records):06}"]
    return "".join(record.ljust(80) + "\r\n" for record in records)


def first(text, *choice):
    account, = Norma43Parser(*choice).parse(text).accounts
    return account.movement_lines[0].transaction_date


def second(text):
    path.write_text(text, "latin-1", newline="")
    account, = norma43.parser.Norma43Parser(str(path)).parse()
    return account.transactions[0].date


def show(read, text):
    try:
        return read(text)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


day = datetime.date(2026, 11, 27)
for paid in (day, datetime.date(2026, 12, 5)):
    text = statement(paid)
    print(f"paid on {paid}: norma43parser {show(first, text)}, norma43 {show(second, text)}")
year = [datetime.date(2026, 1, 1) + datetime.timedelta(days=number) for number in range(365)]
counts = []
for name, read in (("norma43parser", first), ("norma43", second)):
    dates = [show(read, statement(paid)) for paid in year]
    right = sum(map(datetime.date.__eq__, dates, year))
    counts.append(f"{name} {sum(isinstance(date, datetime.date) for date in dates)} read, {right} right")
print("days of 2026:", "; ".join(counts))
print(f"paid on {day}, DateFormat.ENGLISH: norma43parser {first(statement(day), DateFormat.ENGLISH)}")
text = statement(day, foreign=True)
print(f"a card in dollars, with record 24: norma43parser {show(first, text)}, norma43 {show(second, text)}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
