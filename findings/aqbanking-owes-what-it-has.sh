#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (Debian 12): aqbanking-tools, libaqbanking44 6.5.3-1 (the bank statements of GnuCash and KMyMoney)
#
# Guess: two importers of one package for one report (camt.052) read it alike, and so is the day's statement (camt.053) read; a balance that is a
# credit is one; a booking of two card payments gives both, or neither.
# What happens: the older importer turns the balance's sign round, so that a shop with 1,120.50 owes them. A booking of several payments goes
# to the first payer with his text and the whole sum, in both. Of camt.053 no name and no text is read at all, for they are looked for
# a level too high, and what is pending there is booked; camt.052 by the newer importer has it apart. As MT940 the lines are right.
#
# Seen:
# > camt.052, importer camt: 30.00 Card One sale 17 statement; -5.00 Card Three chargeback statement; -2.50 pending statement
# > camt.052, importer camt: balance -1120.50
# > camt.052, importer xml: 30.00 Card One sale 17 statement; -5.00 Card Three chargeback statement; -2.50 pending notedStatement
# > camt.052, importer xml: balance 1120.50
# > camt.053, importer xml: 30.00 no name no text statement; -5.00 no name no text statement; -2.50 pending statement
# > camt.053, importer xml: balance 1120.50
# > MT940, importer swift: 12.50 Card One sale 17 statement; 17.50 Card Two sale 18 statement; -5.00 Card Three chargeback statement
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 "aqbanking-tools=6.5.3-1*" "libaqbanking44=6.5.3-1*" \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

(cd "$folder" && HOME="$folder" python3 -) <<'PYTHON' 2>"$folder/errors" | tee "$folder/now" || true
import csv
import subprocess
from pathlib import Path


def party(name, role):
    return f"<{role}><Nm>{name}</Nm></{role}>"


def part(reference, amount, mark, name, text):
    pair = (party(name, "Dbtr") + party("Shop", "Cdtr")) if mark == "CRDT" else (party("Shop", "Dbtr") + party(name, "Cdtr"))
    return (
        f'<TxDtls><Refs><EndToEndId>{reference}</EndToEndId></Refs><Amt Ccy="EUR">{amount}</Amt><CdtDbtInd>{mark}</CdtDbtInd>'
        f"<RltdPties>{pair}</RltdPties><RmtInf><Ustrd>{text}</Ustrd></RmtInf></TxDtls>"
    )


def entry(amount, mark, status, details):
    day = "<Dt>2026-11-28</Dt>"
    return (
        f'<Ntry><Amt Ccy="EUR">{amount}</Amt><CdtDbtInd>{mark}</CdtDbtInd><Sts>{status}</Sts><BookgDt>{day}</BookgDt><ValDt>{day}</ValDt>'
        f"<BkTxCd><Prtry><Cd>NTRF</Cd></Prtry></BkTxCd>{details}</Ntry>"
    )


def statement(kind, message, report):
    time = "<CreDtTm>2026-11-28T10:15:00</CreDtTm>"
    entries = (
        entry("30.00", "CRDT", "BOOK", f"<NtryDtls>{part('A-17', '12.50', 'CRDT', 'Card One', 'sale 17')}{part('A-18', '17.50', 'CRDT', 'Card Two', 'sale 18')}</NtryDtls>")
        + entry("5.00", "DBIT", "BOOK", f"<NtryDtls>{part('A-20', '5.00', 'DBIT', 'Card Three', 'chargeback')}</NtryDtls>")
        + entry("2.50", "DBIT", "PDNG", "")
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:{kind}"><{message}><GrpHdr><MsgId>M1</MsgId>{time}</GrpHdr>'
        f"<{report}><Id>S1</Id>{time}<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id><Ccy>EUR</Ccy></Acct><Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp>"
        f'<Amt Ccy="EUR">1120.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-28</Dt></Dt></Bal>{entries}</{report}></{message}></Document>'
    )


def run(*arguments):
    return subprocess.run(["aqbanking-cli", *arguments], capture_output=True, text=True).stdout


def told(name, file, importer, profile):
    Path("context").unlink(missing_ok=True)
    run("import", f"--importer={importer}", f"--profile={profile}", "-f", file, "-c", "context")
    run("export", "--exporter=csv", "--profile=full", "-c", "context", "-o", "rows.csv")
    shown = []
    for row in csv.DictReader(open("rows.csv", encoding="utf-8"), delimiter=";"):
        value, over = row["value_value"].split("/")
        amount = f"{int(value) / int(over):.2f}"
        whom = "pending" if amount == "-2.50" else f"{row['remoteName'] or 'no name'} {row['purpose'] or 'no text'}"
        shown.append(f"{amount} {whom} {row['type']}")
    print(f"{name}, importer {importer}: {'; '.join(shown)}")
    if name != "MT940":
        print(f"{name}, importer {importer}: balance {run('listbal', '-c', 'context').split()[1]}")


Path("052.xml").write_text(statement("camt.052.001.02", "BkToCstmrAcctRpt", "Rpt"))
Path("053.xml").write_text(statement("camt.053.001.04", "BkToCstmrStmt", "Stmt"))
lines = [":20:STARTUMS", ":25:37040044/0532013000", ":28C:1/1", ":60F:C261127EUR1095,50"]
for number, (mark, amount, name, text) in enumerate((("C", "12,50", "Card One", "sale 17"), ("C", "17,50", "Card Two", "sale 18"), ("RC", "5,00", "Card Three", "chargeback"))):
    lines += [f":61:2611281128{mark}{amount}NTRFNONREF//B{number}", f":86:166?00CARDS?20{text}?32{name}"]
Path("940.sta").write_text("\r\n".join([*lines, ":62F:C261128EUR1120,50", "-", ""]))
told("camt.052", "052.xml", "camt", "052_001_02")
told("camt.052", "052.xml", "xml", "camt_052_001_02")
told("camt.053", "053.xml", "xml", "camt_053_001_04")
told("MT940", "940.sta", "swift", "SWIFT-MT940")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
