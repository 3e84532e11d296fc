#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages: ofx, libofx7 1:0.10.9-1 (Debian 12; the library of GnuCash, KMyMoney and others); ofxparse 0.21, ofxtools 1.1.1 (PyPI)
#
# Guess: a record by which the bank takes back or replaces an earlier one (OFX: CORRECTFITID with CORRECTACTION) does so, or is at
# least told from a payment; a sum in dinars keeps its third decimal.
# What happens: ofx2qif writes it as one more payment, and ofxparse gives it out as one, without the two members that say otherwise: a sale
# that the bank corrected from 80.00 to 90.00 is 170.00, and one that it took back is there twice. ofxtools has both members, and leaves it
# to the program. ofx2qif and ofxdump round a dinar to hundredths, 12.505 to 12.51 and 0.999 to 1.00.
#
# Seen (12.50 taken back, 80.00 replaced by 90.00; the account then has 90.00):
# > ofx2qif: 12.50 12.50 80.00 90.00, together 195.00
# > ofxparse: 12.50 12.50 80.00 90.00, together 195.00; says what corrects: False
# > ofxtools: 12.50 12.50/DELETE-1 80.00 90.00/REPLACE-3
# > ofx2qif, 12.505 KWD and 0.999 KWD: 12.51 1.00
# > ofxparse, 12.505 KWD and 0.999 KWD: 12.505 0.999
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv "ofx=1:0.10.9-1*" "libofx7=1:0.10.9-1*" \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ofxparse==0.21 ofxtools==1.1.1 2>"$folder/pip"

(cd "$folder" && venv/bin/python -) 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import subprocess
from decimal import Decimal
from pathlib import Path

from ofxparse import OfxParser
from ofxtools.Parser import OFXTree


def statement(name, currency, payments, balance):
    rows = "".join(
        f"<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20261128120000<TRNAMT>{amount}<FITID>{number}{correction}<NAME>CARDS</STMTTRN>\n"
        for number, (amount, correction) in enumerate(payments, 1)
    )
    status = "<STATUS><CODE>0<SEVERITY>INFO</STATUS>"
    Path(name).write_text(
        "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nSECURITY:NONE\nENCODING:USASCII\nCHARSET:1252\nCOMPRESSION:NONE\nOLDFILEUID:NONE\nNEWFILEUID:NONE\n\n"
        f"<OFX><SIGNONMSGSRSV1><SONRS>{status}<DTSERVER>20261128101500<LANGUAGE>ENG</SONRS></SIGNONMSGSRSV1>\n"
        f"<BANKMSGSRSV1><STMTTRNRS><TRNUID>1{status}<STMTRS><CURDEF>{currency}<BANKACCTFROM><BANKID>30004<ACCTID>12345678<ACCTTYPE>CHECKING</BANKACCTFROM>\n"
        f"<BANKTRANLIST><DTSTART>20261101<DTEND>20261128\n{rows}</BANKTRANLIST>\n"
        f"<LEDGERBAL><BALAMT>{balance}<DTASOF>20261128</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n"
    )
    return name


def converted(name):
    lines = subprocess.run(["ofx2qif", name], capture_output=True, text=True).stdout.split("!Type:Bank\n")[1].splitlines()
    return [line[1:] for line in lines if line.startswith("T")]


def parsed(name):
    with open(name, "rb") as file:
        return OfxParser.parse(file).account.statement.transactions


def told(name, amounts, more=""):
    print(f"{name}: {' '.join(map(str, amounts))}, together {sum(map(Decimal, amounts))}{more}")


def correction(number, action):
    return f"<CORRECTFITID>{number}<CORRECTACTION>{action}"


corrected = statement("corrected.ofx", "EUR", (("12.50", ""), ("12.50", correction(1, "DELETE")), ("80.00", ""), ("90.00", correction(3, "REPLACE"))), "90.00")
told("ofx2qif", converted(corrected))
payments = parsed(corrected)
known = any("correct" in member or value in ("DELETE", "REPLACE") for payment in payments for member, value in vars(payment).items())
told("ofxparse", [payment.amount for payment in payments], f"; says what corrects: {known}")
tree = OFXTree()
tree.parse(corrected)
shown = (f"{row.trnamt}" + (f"/{row.correctaction}-{row.correctfitid}" if row.correctfitid else "") for row in tree.convert().statements[0].transactions)
print("ofxtools:", " ".join(shown))
dinars = statement("dinars.ofx", "KWD", (("12.505", ""), ("0.999", "")), "13.504")
print("ofx2qif, 12.505 KWD and 0.999 KWD:", *converted(dinars))
print("ofxparse, 12.505 KWD and 0.999 KWD:", *(payment.amount for payment in parsed(dinars)))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
