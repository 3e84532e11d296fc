#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: python-barcode 0.16.1 (PyPI); zint 2.11.1-1, barcode 0.99-6 (Debian 12) beside it
#
# Guess: a number of 13 digits whose last is no check digit (a shop's own gift cards and members often have none) is refused as an EAN-13.
# What happens: python-barcode drops the last digit and prints a check digit in its place, without a word: member …932 gets the card of member …931,
# and ten members in a row get one card. With EAN-8, UPC-A, EAN-14 and ISBN it is the same; zint and GNU barcode refuse the number.
#
# Seen:
# > python-barcode ean13 4006381333932: 4006381333931
# > python-barcode ean8 12345678: 12345670
# > python-barcode upca 036000291453: 036000291452
# > python-barcode ean14 12345678901234: 12345678901231
# > python-barcode isbn13 9783161484101: 9783161484100
# > ten numbers, cards of: ['4006381333931']
# > zint refuses 4006381333932: True
# > GNU barcode refuses 4006381333932: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv zint=2.11.1-1 barcode=0.99-6 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-barcode==0.16.1

"$folder/venv/bin/python" - "$folder" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import subprocess
import sys

import barcode


def refused(*command):
    return subprocess.run(command, cwd=sys.argv[1], capture_output=True).returncode != 0


for name, number in (
    ("ean13", "4006381333932"), ("ean8", "12345678"), ("upca", "036000291453"), ("ean14", "12345678901234"), ("isbn13", "9783161484101"),
):
    print(f"python-barcode {name} {number}: {barcode.get(name, number).get_fullcode()}")
print("ten numbers, cards of:", sorted({barcode.get("ean13", str(number)).get_fullcode() for number in range(4006381333930, 4006381333940)}))
print("zint refuses 4006381333932:", refused("zint", "-b", "EANX", "-d", "4006381333932", "-o", "z.png"))
print("GNU barcode refuses 4006381333932:", refused("barcode", "-e", "ean", "-b", "4006381333932", "-o", "b.ps"))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
