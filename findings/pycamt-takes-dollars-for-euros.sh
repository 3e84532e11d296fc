#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): pycamt 1.1.1 (reads camt.053, the statement in which a shop's bank books what its card acquirer paid)
#
# Guess: the amount of a transaction is the amount that was booked, in the currency that stands beside it.
# What happens: where an entry has details, the first <Amt> anywhere in them is taken for the amount, and the entry's currency stays
# beside it. For a card paid in dollars that is the customer's 110.00 USD, read as 110.00 EUR where 98.00 EUR were
# booked. Where the acquirer's fee is given it is the gross amount: the sum of the transactions is not the change of the balance.
#
# Seen:
# > booked 98.00 EUR, details with InstdAmt 110.00 USD: 110.00 EUR
# > booked 48.50 EUR, details with TxAmt 50.00 EUR and a fee of 1.50 EUR: 50.00 EUR
# > booked 20.00 EUR, details without an amount: 20.00 EUR
# > opening balance 1000.00, transactions 180.00, closing balance 1166.50
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pycamt==1.1.1

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from decimal import Decimal

from pycamt.parser import Camt053Parser

DAY = "<Dt>2026-11-28</Dt>"


def balance(kind, amount):
    code = f"<Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp>"
    return f'<Bal>{code}<Amt Ccy="EUR">{amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt>{DAY}</Dt></Bal>'


def entry(amount, details):
    family = "<BkTxCd><Domn><Cd>MCRD</Cd><Fmly><Cd>CCRD</Cd><SubFmlyCd>POSP</SubFmlyCd></Fmly></Domn></BkTxCd>"
    booked = f'<Amt Ccy="EUR">{amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt>{DAY}</BookgDt><ValDt>{DAY}</ValDt>'
    refs = "<Refs><EndToEndId>1</EndToEndId></Refs>"
    return f"<Ntry>{booked}{family}<NtryDtls><TxDtls>{refs}{details}</TxDtls></NtryDtls></Ntry>"


INSTRUCTED = '<AmtDtls><InstdAmt><Amt Ccy="USD">110.00</Amt></InstdAmt><TxAmt><Amt Ccy="EUR">98.00</Amt></TxAmt></AmtDtls>'
GROSS = '<AmtDtls><TxAmt><Amt Ccy="EUR">50.00</Amt></TxAmt></AmtDtls><Chrgs><Amt Ccy="EUR">1.50</Amt><CdtDbtInd>DBIT</CdtDbtInd></Chrgs>'
cases = {
    "booked 98.00 EUR, details with InstdAmt 110.00 USD": entry("98.00", INSTRUCTED),
    "booked 48.50 EUR, details with TxAmt 50.00 EUR and a fee of 1.50 EUR": entry("48.50", GROSS),
    "booked 20.00 EUR, details without an amount": entry("20.00", ""),
}
head = "<MsgId>1</MsgId><CreDtTm>2026-11-28T18:00:00</CreDtTm>"
account = "<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id><Ccy>EUR</Ccy></Acct>"
parser = Camt053Parser(
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt>'
    f"<GrpHdr>{head}</GrpHdr><Stmt><Id>1</Id><CreDtTm>2026-11-28T18:00:00</CreDtTm>{account}"
    f"{balance('OPBD', '1000.00')}{balance('CLBD', '1166.50')}{''.join(cases.values())}</Stmt></BkToCstmrStmt></Document>"
)
transactions = parser.get_transactions()
for case, transaction in zip(cases, transactions):
    print(f"{case}: {transaction['Amount']} {transaction['Currency']}")
statement = parser.get_statement_info()[0]
total = sum(Decimal(transaction["Amount"]) for transaction in transactions)
print(f"opening balance {statement['OpeningBalance']}, transactions {total}, closing balance {statement['ClosingBalance']}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
