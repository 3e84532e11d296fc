#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): ndeflib 0.3.3
#
# Guess: a URI record whose prefix byte is reserved (24 to FF) reads as one without a prefix, as NFC Forum URI RTD 3.2.2 asks.
# What happens: the decoder raises an error at it, and the records behind it are never given out, so a loyalty card whose number
# stands in the second record cannot be read. The rule of the RTD holds only for those who ask for `errors="relax"` or "ignore".
#
# Seen:
# > prefix 04, then a text: https://shop.example, member 42
# > prefix 24, then a text (errors=strict): DecodeError
# > prefix 24, then a text (errors=relax): shop.example, member 42
# > prefix 24, then a text (errors=ignore): shop.example, member 42
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ndeflib==0.3.3

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import ndef


def message(prefix):
    uri = bytes([prefix]) + b"shop.example"
    text = b"\x02en" + b"member 42"
    return b"\x91\x01" + bytes([len(uri)]) + b"U" + uri + b"\x51\x01" + bytes([len(text)]) + b"T" + text


def show(title, data, errors):
    try:
        records = list(ndef.message_decoder(data, errors=errors))
        print(f"{title}:", ", ".join(getattr(record, "iri", None) or getattr(record, "text", "?") for record in records) or "nothing")
    except ndef.DecodeError as error:
        print(f"{title}: {type(error).__name__}")


show("prefix 04, then a text", message(0x04), "strict")
for errors in ("strict", "relax", "ignore"):
    show(f"prefix 24, then a text (errors={errors})", message(0x24), errors)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
