#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): python-escpos 3.1
#
# Guess: a letter that no code page of the printer has becomes the library's "?", whatever letter it is, and touches nothing else of the text.
# What happens: one kanji or hanzi turns the whole text into GB 18030, with the profile of any printer and without a command that switches to
# it. €, ü and £ of the same text become two or four bytes each, which a printer in code page 437 prints as other signs, so that an
# amount beside a customer's name is garbled. Japanese printers, which read Shift-JIS, print other characters.
#
# Seen:
# > TM-T88V "Müller 12 €": 1B74004D816C6C6572203132201B740FA4
# > TM-T88V "川口 12 €": B4A8BFDA20313220A2E3
# > TM-T88V "川口 Müller £5": B4A8BFDA204DA8B96C6C6572208130843535
# > simple (code page 437 alone) "川口 £5": B4A8BFDA208130843535
# > simple (code page 437 alone) "ひらがな £5": 1B74003F3F3F3F209C35
# > 川口 in Shift-JIS would be: 90EC8CFB
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-escpos==3.1 setuptools==80.9.0

TMPDIR="$folder" "$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from escpos.printer import Dummy


def printed(profile, text):
    printer = Dummy(profile=profile)
    printer.text(text)
    return printer.output.hex().upper()


for profile, text in (
    ("TM-T88V", "Müller 12 €"),
    ("TM-T88V", "川口 12 €"),
    ("TM-T88V", "川口 Müller £5"),
    ("simple", "川口 £5"),
    ("simple", "ひらがな £5"),
):
    title = "simple (code page 437 alone)" if profile == "simple" else profile
    print(f'{title} "{text}": {printed(profile, text)}')
print(f"川口 in Shift-JIS would be: {'川口'.encode('shift_jis').hex().upper()}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
