#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages: python3-stdnum 1.18-1 (Debian 12), python-stdnum 2.2 (PyPI): numbers and codes, GS1-128 among them
#
# The codes: GS1 General Specifications, application identifiers. A payment slip has (415) for who is paid, (8020) for the reference, and (390n) for the amount
# or (391n) for a currency of ISO 4217 and the amount; n is how many of its digits are decimals. A value of variable length that is not the last one ends in
# FNC1. `encode` without a separator makes such a value as long as it may be, so that it needs none.
# Guess: what it encodes it reads again, with or without a separator; `is_valid` says the same, and a number that does not fit is an error.
# What happens: the zeros that make an amount long come before its n, or before its currency: a slip of 12.50 asks for 21,250 in the one version and one of
# 12.50 EUR for 97,812.50 of currency 000 in the other. `is_valid` does not pass the separator on that it is given: the slip that is right is not valid, the
# wrong one is. 1234.567 kg are cut to 1234.56, and a lot A(1), whose brackets GS1 allows, is read as A1.
#
# Seen:
# > 1.18, slip of 12.50: 415541234500001339000000000000212508020INV-0042, reads 21250, valid True
# > 1.18, slip of 12.50 EUR: 415541234500001339100000000000297812508020INV-0042, reads 000 29781250, valid True
# > 1.18, slip of 12.50 EUR with FNC1: 415541234500001339129781250|8020INV-0042, reads 978 12.50, valid False
# > 1.18, 1234.567 kg: 3102123456, reads 1234.56, valid True
# > 1.18, lot A(1): reads A1
# > 2.2, slip of 12.50: 415541234500001339020000000000012508020INV-0042, reads 12.50, valid True
# > 2.2, slip of 12.50 EUR: 415541234500001339120000000000097812508020INV-0042, reads 000 97812.50, valid True
# > 2.2, slip of 12.50 EUR with FNC1: 415541234500001339129781250|8020INV-0042, reads 978 12.50, valid False
# > 2.2, 1234.567 kg: 3102123456, reads 1234.56, valid True
# > 2.2, lot A(1): reads A1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-stdnum=1.18-1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-stdnum==2.2

cat >"$folder/slips.py" <<'PYTHON'
import sys
from decimal import Decimal

from stdnum import gs1_128

version, zero = sys.argv[1:]


def show(title, wanted, separator=""):
    """What is made of the values, and what is read of the amount or the weight."""
    text = gs1_128.encode(wanted, separator)
    read = next(value for key, value in gs1_128.info(text, separator).items() if key[:2] in ("39", "31"))
    read = " ".join(map(str, read)) if isinstance(read, tuple) else read
    print(f"{version}, {title}: {text.replace(separator or '|', '|')}, reads {read}, valid {gs1_128.is_valid(text, separator)}")


# 2.2 has the identifiers with their n, 1.18 without.
slip = {"415": "5412345000013", "8020": "INV-0042"}
show("slip of 12.50", slip | {"390" + zero: Decimal("12.50")})
show("slip of 12.50 EUR", slip | {"391" + zero: ("978", Decimal("12.50"))})
show("slip of 12.50 EUR with FNC1", slip | {"391" + zero: ("978", Decimal("12.50"))}, "\x1d")
show("1234.567 kg", {"310" + zero: Decimal("1234.567")})
print(f"{version}, lot A(1): reads", gs1_128.info("10A(1)")["10"])
PYTHON
{
    /usr/bin/python3 "$folder/slips.py" 1.18 ""
    "$folder/venv/bin/python" "$folder/slips.py" 2.2 0
} 2>"$folder/errors" | tee "$folder/now" || true

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
