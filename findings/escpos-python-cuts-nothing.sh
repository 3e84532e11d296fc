#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): escpos-python 1.0.2; python-escpos 3.1, which is imported as `escpos` too, a second hand
#
# Guess: two libraries of one name for one kind of printer cut the paper with the same bytes; bold and wide together are bold and wide; a number
# that is given for a Code 128 is printed as one.
# What happens: escpos-python's cut is ESC V 0, which ends a turn of the letters by 90 degrees; the paper stays whole (GS V cuts). Each style is an
# ESC ! of its own, which says all styles anew, so that of several the last one is left: a bold wide total is not bold. Its Code 128, the
# kind it takes when nothing is said, lacks the code set that must come first ({B), so that a printer leaves the code out and prints the
# digits as text. A € or an é is a question mark. It has a printer for tests that takes all of it.
#
# Seen:
# > cut: escpos-python 1B5600, python-escpos 1D5600
# > bold and wide: escpos-python 1B2108 1B2120, of which 20 is left; both together are 28
# > Code 128 of 4200001: escpos-python 1D6B4907 and 4200001
# > python-escpos takes 4200001 for a Code 128: False, {B4200001: True
# > Café 12,50 €: Caf? 12,50 ?
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-escpos==3.1
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$folder/one" escpos-python==1.0.2

# The two have one name, so that each has a process of its own.
cat >"$folder/one.py" <<'PYTHON'
import json

from escpos import POSBarcodeBuilder, POSCommand, POSPrintStyle, POSTextBuilder

wide = POSTextBuilder("TOTAL").set_style(POSPrintStyle.BOLD, POSPrintStyle.DOUBLE_WIDTH).build().to_bytes()
code = POSBarcodeBuilder("4200001").build().to_bytes()
text = POSTextBuilder("Café 12,50 €").build().to_bytes()
print(json.dumps({
    "cut": POSCommand.full_cut().hex(), "styles": [part[:1].hex() for part in wide[: wide.index(b"TOTAL")].split(b"\x1b!")[1:]],
    "both": POSPrintStyle.BOLD | POSPrintStyle.DOUBLE_WIDTH, "code": code[code.index(b"\x1dk"):].rstrip(b"\n").hex(),
    "text": text[text.index(b"Caf") : text.index(b"\n")].decode("latin-1"),
}))
PYTHON
cat >"$folder/two.py" <<'PYTHON'
import json
import os
import subprocess
import sys

from escpos.constants import PAPER_FULL_CUT
from escpos.escpos import Escpos

folder = sys.argv[1]
one = json.loads(subprocess.run([sys.executable, f"{folder}/one.py"], env={**os.environ, "PYTHONPATH": f"{folder}/one"}, capture_output=True, check=True).stdout)
print(f"cut: escpos-python {one['cut'].upper()}, python-escpos {PAPER_FULL_CUT.hex().upper()}")
print(f"bold and wide: escpos-python {' '.join('1B21' + style for style in one['styles'])}, of which {one['styles'][-1]} is left; both together are {one['both']:X}")
print(f"Code 128 of 4200001: escpos-python {one['code'][:8].upper()} and {bytes.fromhex(one['code'][8:]).decode()}")
print(f"python-escpos takes 4200001 for a Code 128: {bool(Escpos.check_barcode('CODE128', '4200001'))}, {{B4200001: {bool(Escpos.check_barcode('CODE128', '{B4200001'))}")
print(f"Café 12,50 €: {one['text']}")
PYTHON
"$folder/venv/bin/python" "$folder/two.py" "$folder" 2>"$folder/errors" | tee "$folder/now" || true

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
