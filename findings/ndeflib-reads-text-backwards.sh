#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): ndeflib 0.3.3
#
# Guess: a text record in UTF-16 without a byte order mark is big-endian (NFC Forum Text RTD), and a record in chunks is put together.
# What happens: text without a mark is read as little-endian, the order of the machine: the member number 42 becomes two Chinese
# characters, without an error. What the library writes has a mark, so it reads itself. The chunks of one record come out
# as several: a URI that ends where its first chunk ends, then a record of a type "unchanged".
#
# Seen:
# > text, UTF-16 without a mark: 㐀㈀
# > text, UTF-16 with the mark of big-endian: 42
# > text, as the library writes it: FFFE34003200
# > one URI in two chunks: uri https://shop.ex, unchanged 616D706C65
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ndeflib==0.3.3

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import ndef


def record(header, kind, body):
    return bytes([header, len(kind), len(body)]) + kind + body


def text(body):
    (read,) = ndef.message_decoder(record(0xD1, b"T", b"\x82fr" + body))
    return read.text


print("text, UTF-16 without a mark:", text("42".encode("utf-16-be")))
print("text, UTF-16 with the mark of big-endian:", text(b"\xfe\xff" + "42".encode("utf-16-be")))
written = b"".join(ndef.message_encoder([ndef.TextRecord("42", "fr", "UTF-16")]))
print("text, as the library writes it:", written[7:].hex().upper())
first, second = record(0xB1, b"U", b"\x04shop.ex"), record(0x56, b"", b"ample")
parts = []
for read in ndef.message_decoder(first + second):
    parts.append(f"uri {read.iri}" if isinstance(read, ndef.UriRecord) else f"{read.type} {bytes(read.data).hex().upper()}")
print("one URI in two chunks:", ", ".join(parts))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
