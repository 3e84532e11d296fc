#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): python-escpos 3.1, babel 2.19.0
#
# Guess: on a printer that has code page 858 (TM-T88V, slot 19) a receipt in euros is printed from 858, which has € and é, and a space is a space.
# What happens: each letter takes the lowest slot that has it. é comes from page 437; € comes from the Greek page in slot 15, as byte A4, so a
# French line changes pages back and forth, and a printer without a Greek page has no €, though it has 858.
# The narrow space that CLDR's French puts into 1 250,00 is in no page: the amount is printed as 1?250,00.
#
# Seen:
# > the profile's slots: 15 ISO_8859-7, 19 CP858
# > "12,50 €": ESC t 0 "12,50 " ESC t 15 A4
# > "dû : 3 € à régler": ESC t 0 "d" 96 " : 3 " ESC t 15 A4 " " ESC t 0 85 " r" 82 "gler"
# > babel writes 1250 in French as 1 U+202F 250,00 U+00A0 €: ESC t 0 "1?250,00" FF ESC t 15 A4
# > the same in German: ESC t 0 "1.250,00" FF ESC t 15 A4
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-escpos==3.1 babel==2.19.0 setuptools==80.9.0

TMPDIR="$folder" "$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import re

from babel.numbers import format_currency
from escpos.printer import Dummy


def printed(text):
    printer = Dummy(profile="TM-T88V")
    printer.text(text)
    words = []
    for part in re.findall(rb"\x1bt.|[ -~]+|.", printer.output, re.DOTALL):
        if part.startswith(b"\x1bt"):
            words.append(f"ESC t {part[2]}")
        else:
            words.append(f'"{part.decode()}"' if re.fullmatch(rb"[ -~]+", part) else part.hex().upper())
    return " ".join(words)


slots = Dummy(profile="TM-T88V").profile.profile_data["codePages"]
print(f"the profile's slots: 15 {slots['15']}, 19 {slots['19']}")
for text in ("12,50 €", "dû : 3 € à régler"):
    print(f'"{text}": {printed(text)}')
french, german = (format_currency(1250, "EUR", locale=locale) for locale in ("fr", "de"))
named = re.sub("[^!-~€]", lambda found: f" U+{ord(found[0]):04X} ", french)
print(f"babel writes 1250 in French as {named}: {printed(french)}")
print(f"the same in German: {printed(german)}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
