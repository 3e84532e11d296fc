#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): camt053 0.0.23 (reads ISO 20022 account statements)
#
# Guess: the counterparty of an entry is the other side, whichever way the money went; a flag of XML's type boolean is true as "1", too;
# the parts of an entry have their sums.
# What happens: the counterparty is the debtor, whenever the bank names one: of what the shop pays, a refund or a chargeback, it is the
# shop with its own account. A reversal that is marked "1" (XML Schema, 3.2.2) is an ordinary entry. An entry of several card
# payments has their references and none of their sums, so that none can be held against a sale.
#
# Seen:
# > CRDT: the counterparty is Acquirer, FR1420041010050500013M02606
# > DBIT: the counterparty is Shop, DE89370400440532013000
# > RvslInd true is a reversal: True
# > RvslInd 1 is a reversal: False
# > an entry of 12.50 with two parts: A-17 and A-18, sums none
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check camt053==0.0.23

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import dataclasses
import logging

from camt053.parse.statement_parser import parse_document

logging.disable(logging.CRITICAL)
PARTIES = {"Acquirer": "FR1420041010050500013M02606", "Shop": "DE89370400440532013000"}


def party(role, name):
    return f"<{role}><Pty><Nm>{name}</Nm></Pty></{role}><{role}Acct><Id><IBAN>{PARTIES[name]}</IBAN></Id></{role}Acct>"


def part(order, amount, direction):
    payer, payee = ("Acquirer", "Shop") if direction == "CRDT" else ("Shop", "Acquirer")
    parties = party("Dbtr", payer) + party("Cdtr", payee)
    # In the order of the schema: the accounts stand behind their parties.
    return (
        f"<TxDtls><Refs><EndToEndId>{order}</EndToEndId></Refs><Amt Ccy='EUR'>{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>"
        f"<RltdPties>{parties}</RltdPties></TxDtls>"
    )


def entry(direction, flag=None):
    flag = f"<RvslInd>{flag}</RvslInd>" if flag else ""
    parts = part("A-17", "10.00", direction) + part("A-18", "2.50", direction)
    text = (
        "<Document xmlns='urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'><BkToCstmrStmt>"
        "<GrpHdr><MsgId>1</MsgId><CreDtTm>2026-11-29T06:00:00Z</CreDtTm></GrpHdr><Stmt><Id>1</Id>"
        f"<Acct><Id><IBAN>{PARTIES['Shop']}</IBAN></Id><Ccy>EUR</Ccy><Ownr><Nm>Shop</Nm></Ownr></Acct>"
        f"<Ntry><Amt Ccy='EUR'>12.50</Amt><CdtDbtInd>{direction}</CdtDbtInd>{flag}<Sts><Cd>BOOK</Cd></Sts>"
        "<BkTxCd><Prtry><Cd>CARD</Cd></Prtry></BkTxCd>"
        f"<NtryDtls><Btch><NbOfTxs>2</NbOfTxs></Btch>{parts}</NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>"
    )
    return parse_document(text).statements[0].entries[0]


for direction in ("CRDT", "DBIT"):
    first = entry(direction).details[0]
    print(f"{direction}: the counterparty is {first.counterparty_name}, {first.counterparty_account}")
for flag in ("true", "1"):
    print(f"RvslInd {flag} is a reversal: {entry('DBIT', flag).reversal_indicator}")
booked = entry("CRDT")
sums = [value for detail in booked.details for value in dataclasses.asdict(detail).values() if value in ("10.00", "2.50")]
print(f"an entry of {booked.amount} with two parts: {' and '.join(detail.end_to_end_id for detail in booked.details)}, sums {sums or 'none'}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
