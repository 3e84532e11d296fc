#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (Debian 12): python3-csb43 0.9.2+dfsg-1 (Norma 43, the Spanish banks' account statement, to OFX)
#
# The files: Cuaderno 43 of AEB, read in strict mode, of 1 to 27 November and of 27 to 30 November: who fetches a day again gets its payments again.
# OFX 2.1.1: FITID is a transaction's own id, by which a program knows what it has; LEDGERBAL is a balance and DTASOF the day that it is of.
# Guess: a payment has one FITID in both files and no other payment has it; the balance at the end of a file is of the file's last day.
# What happens: the FITID ends in the payment's place in its file. The payment that was second in the first file is first in the second one, and is there
# twice; the one that takes its place has an id that is known, and is left out: 98.00 are lost and 49.00 booked again. The last balance is of the first day.
#
# Seen:
# > 1 to 27 November: SALE A 98 20261126-0, SALE B 49 20261127-1, balance 247 of 20261101
# > 27 to 30 November: SALE B 49 20261127-0, SALE C 98 20261127-1, SALE D 12.5 20261130-2, balance 357.5 of 20261127
# > one of each id: SALE A, SALE B, SALE B, SALE D
# > the account after both 357.5, 100 and one of each id 308.5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-csb43=0.9.2+dfsg-1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

cat >"$folder/statements.py" <<'PYTHON'
import pathlib
import sys

ACCOUNT = "0049" + "1500" + "1234567890"


def statement(days, old, payments):
    """One account from the first of two days to the other, with an old balance in cents and payments of (day, cents, reference)."""
    records = ["11" + ACCOUNT + "".join(days) + "2" + f"{old:014}" + "978" + "3" + "TIENDA".ljust(26)]
    for day, cents, reference in payments:
        records.append("22" + " " * 4 + "1500" + day * 2 + "12" + "000" + "2" + f"{cents:014}" + "0" * 22 + reference)
    total = sum(cents for _, cents, _ in payments)
    records.append("33" + ACCOUNT + f"{0:05}{0:014}{len(payments):05}{total:014}" + "2" + f"{old + total:014}" + "978")
    records.append("88" + "9" * 18 + f"{len(records):06}")
    return "".join(record.ljust(80) + "\r\n" for record in records)


a, b = ("261126", 9800, "SALE A"), ("261127", 4900, "SALE B")
c, d = ("261127", 9800, "SALE C"), ("261130", 1250, "SALE D")
folder = pathlib.Path(sys.argv[1])
(folder / "1 to 27.csb").write_text(statement(("261101", "261127"), 10000, [a, b]), newline="")
(folder / "27 to 30.csb").write_text(statement(("261127", "261130"), 19800, [b, c, d]), newline="")
PYTHON
cat >"$folder/payments.py" <<'PYTHON'
import pathlib
import sys
import xml.etree.ElementTree as XML

folder, booked = pathlib.Path(sys.argv[1]), {}
for name in ("1 to 27", "27 to 30"):
    file = XML.parse(folder / f"{name}.ofx")
    found = [(p.findtext("REFNUM"), p.findtext("TRNAMT"), p.findtext("FITID")) for p in file.iter("STMTTRN")]
    balance = file.find(".//LEDGERBAL")
    told = ", ".join(f"{reference} {amount} {identity.split('-', 4)[4]}" for reference, amount, identity in found)
    print(f"{name} November: {told}, balance {balance.findtext('BALAMT')} of {balance.findtext('DTASOF')}")
    for reference, amount, identity in found:
        booked.setdefault(identity, (reference, float(amount)))
print("one of each id:", ", ".join(reference for reference, _ in booked.values()))
print(f"the account after both {balance.findtext('BALAMT')}, 100 and one of each id {100 + sum(amount for _, amount in booked.values())}")
PYTHON
/usr/bin/python3 "$folder/statements.py" "$folder"
for name in "1 to 27" "27 to 30"; do
    csb2format --strict --format ofx "$folder/$name.csb" "$folder/$name.ofx" 2>>"$folder/errors" || true
done
/usr/bin/python3 "$folder/payments.py" "$folder" 2>>"$folder/errors" | tee "$folder/now" || true

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
