#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): mt-940 5.1.1; mt940 0.8.1 (two packages, both imported as `mt940`)
#
# Guess: a line of a bank statement marked RC (reversal of credit: a card payment charged back) is negative, one marked RD is positive.
# The date of entry, which has no year, lies beside the value date, also at the turn of the year.
# What happens: mt-940 makes only "D" negative. A chargeback is a second payment, and the lines miss the closing balance by twice its amount.
# The other package has the sign right, and books what the bank entered on 2 January a year too early.
#
# Seen:
# > mt-940: C 500.00 of 2025-12-31 entered 2026-01-02
# > mt-940: RC 100.00 of 2026-01-02 entered 2026-01-02
# > mt-940: RD 40.00 of 2026-01-02 entered 2026-01-02
# > mt-940: D -10.00 of 2026-01-02 entered 2026-01-02
# > mt-940: opening balance and lines 1630.00, closing balance 1430.00
# > mt940: C 500.00 of 2025-12-31 entered 2025-01-02
# > mt940: RC -100.00 of 2026-01-02 entered 2026-01-02
# > mt940: RD 40.00 of 2026-01-02 entered 2026-01-02
# > mt940: D -10.00 of 2026-01-02 entered 2026-01-02
# > mt940: opening balance and lines 1430.00, closing balance 1430.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for package in mt-940==5.1.1 mt940==0.8.1; do
    python3 -m venv "$folder/${package%%=*}"
    "$folder/${package%%=*}/bin/pip" install --quiet --disable-pip-version-check "$package"
done
cat >"$folder/statement" <<'MT940'
:20:STATEMENT
:25:12345678/0000000001
:28C:1/1
:60F:C251231EUR1000,00
:61:2512310102C500,00NMSCSETTLEMENT//REF1
:86:CARD SETTLEMENT
:61:2601020102RC100,00NMSCCHARGEBACK//REF2
:86:CHARGEBACK
:61:2601020102RD40,00NMSCREVERSED//REF3
:86:FEE GIVEN BACK
:61:2601020102D10,00NMSCFEE//REF4
:86:FEE
:62F:C260102EUR1430,00
-
MT940

{
    "$folder/mt-940/bin/python" - "$folder/statement" <<'PYTHON'
import sys

import mt940

statement = mt940.parse(sys.argv[1])
lines = [line.data for line in statement]
for line in lines:
    print(f"mt-940: {line['status']} {line['amount'].amount} of {line['date']} entered {line['entry_date']}")
opening, closing = (statement.data[name].amount.amount for name in ("final_opening_balance", "final_closing_balance"))
print(f"mt-940: opening balance and lines {opening + sum(line['amount'].amount for line in lines)}, closing balance {closing}")
PYTHON
    "$folder/mt940/bin/python" - "$folder/statement" <<'PYTHON'
import sys

import mt940

statement = mt940.MT940(sys.argv[1]).statements[0]
for mark, line in zip(("C", "RC", "RD", "D"), statement.transactions):
    print(f"mt940: {mark} {line.amount} of {line.date} entered {line.booking}")
total = statement.start_balance.amount + sum(line.amount for line in statement.transactions)
print(f"mt940: opening balance and lines {total}, closing balance {statement.end_balance.amount}")
PYTHON
} 2>"$folder/errors" | tee "$folder/now" || true

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
