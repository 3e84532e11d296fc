#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (Debian 12): python3-febelfin-coda 0.2.0-3 (CODA, the Belgian banks' account statement)
#
# The files: CODA 2.6 of Febelfin, 128 characters a record. Record 1 has the old balance's sign in position 43 ("1" is debit) and 15 digits in 44 to 58.
# Record 9 counts the records 1, 2, 3 and 8, and ends in "1" where another statement follows. A card settlement that the bank has totalised is
# a movement of type 2, its payments are type 7, the parts of a payment, gross and fee, are type 9. Record 4 is a message of the bank.
# Guess: it reads them, and an error means that the bank's sums differ.
# What happens: only a file of one statement that begins above zero, without parts and without a message is read. An account that is overdrawn in the morning
# has a "Wrong balance", since the sign is not read. Of two statements in a file the second has a "Wrong number of records", since one record too many is
# counted. The parts of a payment and the bank's message end in an AttributeError. All sums in these files are right.
#
# Seen:
# > a settlement of 98.00: 1 statement, 100.00 -> 198.00
# > with its two payments: 1 statement, 100.00 -> 198.00
# > with their gross and fee: AttributeError: 'Move' object has no attribute 'append'
# > overdrawn by 100.00 before: ValueError: Wrong balance
# > overdrawn, and 8.00 more paid: ValueError: Wrong balance
# > two days in one file: ValueError: Wrong number of records
# > with a message of the bank: AttributeError: 'CODA' object has no attribute 'free_communications'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-febelfin-coda=0.2.0-3 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

/usr/bin/python3 - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import io

from coda import CODA

ACCOUNT = "BE68539007547034".ljust(34) + "EUR"


def signed(cents):
    """A sign, "1" for debit, and 15 digits, three of them behind the point."""
    return f"{int(cents < 0)}{abs(cents) * 10:015}"


def line(text, end=" "):
    return text.ljust(127) + end + "\n"


def movement(number, detail, cents, code):
    start = f"21{number:04}{detail:04}" + "REF".ljust(21) + signed(cents) + f"271126{code}0"
    return line(start.ljust(115) + "271126" + "001" + "0" + "0", "0")


def statement(old, movements, message="", last=True):
    """One statement, from record 0 to record 9, of movements (detail, cents, code); those of type 0 to 3 are booked."""
    booked = [cents for _, cents, code in movements if code[0] in "0123"]
    records = [line("12001" + ACCOUNT + signed(old) + "261126" + "SHOP".ljust(26) + "".ljust(35) + "00", "1")]
    records += [movement(1, detail, cents, code) for detail, cents, code in movements]
    records += [line("8001" + ACCOUNT + signed(old + sum(booked)) + "271126", "1" if message else "0")]
    debit, credit = -sum(c for c in booked if c < 0), sum(c for c in booked if c > 0)
    head = line("0" + "0000" + "271126" + "539" + "05" + " " * 8 + "FILE".ljust(10) + "SHOP".ljust(26) + "TRIOBEBB".ljust(11) + "0" * 11, "2")
    note = [line("4 " + "0001" + "0000" + " " * 22 + message, "0")] if message else []
    tail = line("9".ljust(16) + f"{len(records):06}{debit * 10:015}{credit * 10:015}", "2" if last else "1")
    return "".join([head, *records, *note, tail])


# Family 04 is cards: 50 is a payment at a terminal, 02 one by the shop's own card. Category 100 is a gross amount, 006 a fee.
TOTAL = (0, 9800, "20450000")
PAYMENTS = [TOTAL, (1, 4900, "70450000"), (2, 4900, "70450000")]
PARTS = [TOTAL, (1, 4900, "70450000"), (2, 5000, "90450100"), (3, -100, "90450006")]
files = {
    "a settlement of 98.00": statement(10000, [TOTAL]),
    "with its two payments": statement(10000, PAYMENTS),
    "with their gross and fee": statement(10000, PARTS),
    "overdrawn by 100.00 before": statement(-10000, [TOTAL]),
    "overdrawn, and 8.00 more paid": statement(-29000, [(0, -800, "00402000")]),
    "two days in one file": statement(10000, [TOTAL], last=False) + statement(19800, [TOTAL]),
    "with a message of the bank": statement(10000, [TOTAL], message="OUR OFFICES ARE CLOSED ON MONDAY"),
}
for title, text in files.items():
    assert all(len(record) == 128 for record in text.splitlines())
    try:
        found = CODA(io.StringIO(text)).statements
        print(f"{title}: {len(found)} statement, " + ", ".join(f"{s.old_balance:.2f} -> {s.new_balance:.2f}" for s in found))
    except Exception as error:
        print(f"{title}: {type(error).__name__}: {error}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
