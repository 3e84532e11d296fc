#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): pixqrcodegen 0.9.1, PixPayloadGen 0.0.5 (both make the QR codes by which shops in Brazil are paid, an EMV merchant-presented code)
#
# Guess: what has a right checksum is a code that a phone reads, and a sum may be given as 12,50, as 12,5 or as 12.
# What happens: pixqrcodegen counts the digits of the sum as they came, and writes it with two decimals after that. Of "12" the length
# is 2 and the value "12.00": a phone reads the sum 12, a field named ".0" and no country; of "12,5" a field 05 eats the shop's
# name and all the rest. The checksum is made over all of it and is right. PixPayloadGen reads the same sums as they are meant. A test
# with 12,50 finds nothing.
#
# Seen:
# > pixqrcodegen, 12,50: checksum right, 54=12.50 58=BR 59=LOJA EXEMPLO 60=SAO PAULO
# > pixqrcodegen, 12,5: checksum right, 54=12.5 05=2BR5912LOJA EXEMPLO6009SAO PAULO62080504TX4263042D22
# > pixqrcodegen, 12: checksum right, 54=12 .0=802BR 59=LOJA EXEMPLO 60=SAO PAULO
# > PixPayloadGen, 12,50: checksum right, 54=12.50 58=BR 59=LOJA EXEMPLO 60=SAO PAULO
# > PixPayloadGen, 12,5: checksum right, 54=12.5 58=BR 59=LOJA EXEMPLO 60=SAO PAULO
# > PixPayloadGen, 12: checksum right, 54=12 58=BR 59=LOJA EXEMPLO 60=SAO PAULO
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    pixqrcodegen==0.9.1 PixPayloadGen==0.0.5 crcmod==1.7 qrcode==8.2 pillow==13.0.0

(cd "$folder" && venv/bin/python - 2>"$folder/errors") <<'PYTHON' | tee "$folder/now" || true
import binascii
import contextlib
import io

from PixPayloadGen import PayloadPixGen
from pixqrcodegen import Payload


def told(name, amount, code):
    fields, at = [], code.index("5303986") + 7
    while at < len(code):
        size = int(code[at + 2 : at + 4])
        fields.append((code[at : at + 2], code[at + 4 : at + 4 + size]))
        at += 4 + size
    right = f"{binascii.crc_hqx(code[:-4].encode(), 0xFFFF):04X}" == code[-4:]
    shown = " ".join(f"{tag}={value}" for tag, value in fields if tag not in ("62", "63"))
    print(f"{name}, {amount}: checksum {'right' if right else 'wrong'}, {shown}")


# Both write a picture into the working folder and print what they made.
amounts = ("12,50", "12,5", "12")
for amount in amounts:
    with contextlib.redirect_stdout(io.StringIO()):
        made = Payload("LOJA EXEMPLO", "loja@shop.example", amount, "SAO PAULO", "TX42")
        made.gerarPayload()
    told("pixqrcodegen", amount, made.payload_completa)
for amount in amounts:
    with contextlib.redirect_stdout(io.StringIO()):
        made = PayloadPixGen(amount, "LOJA EXEMPLO", "loja@shop.example", "SAO PAULO", "TX42")
    told("PixPayloadGen", amount, made.PayloadFull)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
