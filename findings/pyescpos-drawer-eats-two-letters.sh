#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): PyESCPOS 0.4
#
# Guess: `kick_drawer` opens the drawer and leaves the receipt alone; a text in German or French comes out as it is.
# What happens: ESC p has a connector and two times, five bytes in all. For Epson's printers three are sent, so that the printer takes the
# next two bytes of the receipt for the times: "Total" is printed as "tal", and how long the drawer's coil is under current depends on
# the letters. The class for Elgin's printers sends all five. Texts go out in UTF-8, three bytes for the €, while no code page is chosen:
# a printer as it is delivered, with page 437, prints Γé¼ for it.
#
# Seen:
# > Epson TM-T20, kick_drawer: 1b7000
# > Elgin I9, kick_drawer: 1b700020e8
# > what a printer reads of kick_drawer and "Total 12,50": pulse 84 x 2 ms on, 111 x 2 ms off, text "tal 12,50"
# > "12,50 €": 31322c353020e282ac, in page 437 "12,50 Γé¼"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check PyESCPOS==0.4

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from escpos.impl.elgin import ElginI9
from escpos.impl.epson import TMT20


class Line:
    """A connection to a printer that keeps what is written."""

    def __init__(self):
        self.written = b""

    def write(self, data):
        self.written += data

    def read(self):
        return b""

    def catch(self):
        pass


def sent(printer, *steps):
    line = Line()
    made = printer(line)
    for name, *more in steps:
        getattr(made, name)(*more)
    return line.written


print("Epson TM-T20, kick_drawer:", sent(TMT20, ("kick_drawer",)).hex())
print("Elgin I9, kick_drawer:", sent(ElginI9, ("kick_drawer",)).hex())
receipt = sent(TMT20, ("kick_drawer",), ("text", "Total 12,50"))
on, off, text = receipt[3], receipt[4], receipt[5:].decode().strip()
print(f'what a printer reads of kick_drawer and "Total 12,50": pulse {on} x 2 ms on, {off} x 2 ms off, text "{text}"')
euro = sent(TMT20, ("text", "12,50 €")).strip()
print(f'"12,50 €": {euro.hex()}, in page 437 "{euro.decode("cp437")}"')
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
