#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): ofxparse 0.21 (reads OFX and QFX, the files in which banks give a statement)
#
# Guess: a payment that the bank posted on 28 November is read as one of 28 November.
# What happens: the time is moved to UTC, and the time zone is dropped. Midnight in Berlin, which is how a bank writes a day, becomes 23:00
# of the day before, so that all card payments are booked a day early; a late evening in New York becomes the next day. Only
# a day without a time stays. The date's object says nothing of it: it has no zone.
#
# Seen:
# > 20261128: 2026-11-28 00:00, zone None
# > 20261128000000[0:GMT]: 2026-11-28 00:00, zone None
# > 20261128000000[+1:CET]: 2026-11-27 23:00, zone None
# > 20261128233000[-5:EST]: 2026-11-29 04:30, zone None
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ofxparse==0.21

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import io

from ofxparse import OfxParser

HEAD = "OFXHEADER:100 DATA:OFXSGML VERSION:102 SECURITY:NONE ENCODING:USASCII CHARSET:1252 COMPRESSION:NONE OLDFILEUID:NONE NEWFILEUID:NONE"
for day in ("20261128", "20261128000000[0:GMT]", "20261128000000[+1:CET]", "20261128233000[-5:EST]"):
    sale = f"<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>{day}<TRNAMT>12.50<FITID>1<NAME>CARD SALES</STMTTRN>"
    account = "<BANKACCTFROM><BANKID>10000000<ACCTID>1<ACCTTYPE>CHECKING</BANKACCTFROM>"
    balance = "<LEDGERBAL><BALAMT>1250.50<DTASOF>20261128</LEDGERBAL>"
    list_ = f"<BANKTRANLIST><DTSTART>20261101<DTEND>20261130{sale}</BANKTRANLIST>"
    statement = f"<STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS><STMTRS><CURDEF>EUR{account}{list_}{balance}</STMTRS></STMTTRNRS>"
    text = HEAD.replace(" ", "\n") + f"\n\n<OFX><BANKMSGSRSV1>{statement}</BANKMSGSRSV1></OFX>"
    date = OfxParser.parse(io.BytesIO(text.encode())).account.statement.transactions[0].date
    print(f"{day}: {date:%Y-%m-%d %H:%M}, zone {date.tzinfo}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
