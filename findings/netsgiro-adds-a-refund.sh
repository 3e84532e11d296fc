#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): netsgiro 2.0.1 (OCR giro, the file in which a Norwegian bank reports what came in, terminals among it; has Nets' manual with it)
#
# Guess: what a terminal paid back is taken off the file's total; each KID, the payment's reference, whose check digit is right is read.
# What happens: Nets' manual (2.5, field 7) has refunds added to the total, and an agreement that knows no credit notes has no minus sign: the kind of
# the transaction alone, 18 or 20, says that money went out, and the library adds as the manual does. A KID by modulus 11 ends in "-" where the check digit
# would be 10 (chapter 5), one in eleven: the library takes digits only, and for one such KID the whole file is not read. A purchase with a text has no KID:
# it is read, and cannot be written.
#
# Seen:
# > PURCHASE_WITH_KID: amount 50, sign '0'
# > REVERSING_WITH_KID: amount 12.5, sign '0'
# > total 62.5
# > of 11 KIDs by modulus 11 read: 10
# > 10000013 and its check digit -: ValueError, for 20 payments in the file
# > a purchase with the text KASSE 1: KID None, written: TypeError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check netsgiro==2.0.1 attrs==26.1.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import netsgiro


def line(*parts):
    return "".join(parts).ljust(80, "0")


def item(kind, amount, kid="", text=""):
    return kind, amount, kid, text


def read(*items):
    """A file of one assignment, as Nets' manual draws it (2.2 to 2.6), with sums as it asks."""
    rows = [line("NY090020", "001000000", "0000001", "99991234567")]
    for number, (kind, amount, kid, text) in enumerate(items, 1):
        rows.append(line(f"NY09{kind}30{number:07d}", "271126", "00", "00", "0", "00000", "0", f"{amount:017d}", f"{kid:>25}"))
        rows.append(line(f"NY09{kind}31{number:07d}", "0000000000", "123456001", "0000000", "271126", "00000000000"))
        if text:
            rows.append(line(f"NY09{kind}32{number:07d}", f"{text:<40}"))
    total = f"{sum(amount for _, amount, _, _ in items):017d}"
    rows.append(line("NY090088", f"{len(items):08d}", f"{len(rows) + 1:08d}", total, "271126", "271126", "271126"))
    start, end = line("NY000010", "00008080", "0000001", "00000001"), line("NY000089", f"{len(items):08d}", f"{len(rows) + 2:08d}", total, "271126")
    return netsgiro.parse("\n".join([start, *rows, end]))


def attempt(work):
    try:
        return work()
    except Exception as error:
        return type(error).__name__


def check_digit(number):
    """Modulus 11, weights 2 to 7 from the right; a rest of 1 is written as a minus sign."""
    rest = sum(int(digit) * (2 + place % 6) for place, digit in enumerate(reversed(number))) % 11
    return "-" if rest == 1 else str((11 - rest) % 11)


file = read(item("19", 5000, "2345676"), item("18", 1250, "2345676"))
for transaction in file.assignments[0].transactions:
    print(f"{transaction.type.name}: amount {transaction.amount}, sign {transaction.sign!r}")
print("total", file.get_total_amount())
# Eleven numbers whose rests are all different.
numbers = {check_digit(str(number)): str(number) for number in range(10000100, 10000000, -1)}
kids = [number + digit for digit, number in numbers.items()]
print(f"of {len(kids)} KIDs by modulus 11 read:", sum(attempt(lambda kid=kid: read(item("10", 5000, kid))) != "ValueError" for kid in kids))
others = [item("10", 5000, next(kid for kid in kids if kid[-1] != "-"))] * 19
print(f"{numbers['-']} and its check digit -: {attempt(lambda: read(*others, item('10', 5000, numbers['-'] + '-')))}, for 20 payments in the file")
file = read(item("21", 5000, text="KASSE 1"))
transaction = file.assignments[0].transactions[0]
print(f"a purchase with the text {transaction.text}: KID {transaction.kid}, written: {attempt(file.to_ocr)}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
