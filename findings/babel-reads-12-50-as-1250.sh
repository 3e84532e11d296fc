#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): babel 2.19.0
#
# Guess: a typed amount whose separators do not fit the locale is an error, and what a locale writes can be typed in the same locale.
# What happens: the separators of thousands are taken out wherever they stand. "12.50" typed on the number pad of a German, Spanish or Italian
# till is 1250, "12,50" in an English one too: a hundred times the price, without an error. `strict=True` refuses both, but also
# the space that people type into 1 250,00: it takes the narrow U+202F alone. The Swiss apostrophe of printed prices (U+2019) is an error.
#
# Seen:
# > de "12.50": 1250, strict NumberFormatError
# > es "12.50": 1250, strict NumberFormatError
# > it "0.99": 99, strict NumberFormatError
# > en "12,50": 1250, strict NumberFormatError
# > fr "1 250,00" with U+202F: 1250.00, strict 1250.00
# > fr "1 250,00" with U+00A0: 1250.00, strict NumberFormatError
# > fr "1 250,00" with U+0020: 1250.00, strict NumberFormatError
# > de_CH "1'250.00" with U+0027: 1250.00, strict 1250.00
# > de_CH "1'250.00" with U+2019: NumberFormatError, strict NumberFormatError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check babel==2.19.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from babel.numbers import parse_decimal


def read(text, locale, strict):
    try:
        return f"{parse_decimal(text, locale=locale, strict=strict):f}"
    except ValueError as error:
        return type(error).__name__


def show(locale, text, mark="", shown=""):
    title = f'{locale} "{text}"'
    if mark:
        title, text = f"{title} with U+{ord(mark):04X}", text.replace(shown, mark)
    print(f"{title}: {read(text, locale, False)}, strict {read(text, locale, True)}")


for locale, text in (("de", "12.50"), ("es", "12.50"), ("it", "0.99"), ("en", "12,50")):
    show(locale, text)
for mark in "\u202f\u00a0 ":
    show("fr", "1 250,00", mark, " ")
for mark in "'\u2019":
    show("de_CH", "1'250.00", mark, "'")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
