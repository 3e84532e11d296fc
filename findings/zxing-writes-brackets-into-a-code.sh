#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: zxing-cpp 3.1.1, pystrich 0.20, pillow 13.0.0 (PyPI); zbar-tools 0.23.92-7+deb12u* (Debian 12)
#
# Guess: `text` is what the code holds, as a scanner types it and zbar prints it.
# What happens: `text` is what a label would show a person. Of a GS1 code's text the identifiers stand in brackets and the separators are
# gone, so that what looks for the number, or splits the text at its separators, finds neither; a control character in any other code becomes
# its name, "<GS>". Codes of letters and digits are as they should be, so that it works until the first such code. `bytes`,
# or `text_mode=TextMode.Plain`, is what was meant.
#
# Seen:
# > a member's number: zbar '4200001', zxing-cpp's text '4200001', its bytes and its plain text the same
# > GS1-128: zbar '010400638133393110LOT7\x1d21S1', zxing-cpp's text '(01)04006381333931(10)LOT7(21)S1', its bytes and its plain text the same
# > a code with the separator in the middle: zbar '42\x1d00001', zxing-cpp's text '42<GS>00001', its bytes and its plain text the same
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends zbar-tools python3-venv \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' zbar-tools) in 0.23.92-7+deb12u*) ;; *) echo "$(basename "$0"): another version of zbar" >&2; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check zxing-cpp==3.1.1 pystrich==0.20 pillow==13.0.0

"$folder/venv/bin/python" - "$folder/code.png" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import subprocess
import sys

import zxingcpp
from PIL import Image
from pystrich.code128 import Code128Encoder

# FNC1 is the character F1 for this encoder.
for title, text in (
    ("a member's number", "4200001"),
    ("GS1-128", "\xf10104006381333931" + "10LOT7\xf121S1"),
    ("a code with the separator in the middle", "42\x1d00001"),
):
    with open(sys.argv[1], "wb") as file:
        file.write(Code128Encoder(text).get_imagedata(bar_width=3))
    zbar = subprocess.run(["zbarimg", "--quiet", "--raw", sys.argv[1]], capture_output=True, text=True).stdout.rstrip("\n")
    image = Image.open(sys.argv[1]).convert("L")
    found = zxingcpp.read_barcodes(image)[0]
    plain = zxingcpp.read_barcodes(image, text_mode=zxingcpp.TextMode.Plain)[0]
    same = "the same" if found.bytes.decode() == zbar == plain.text else f"{found.bytes!r} and {plain.text!r}"
    print(f"{title}: zbar {zbar!r}, zxing-cpp's text {found.text!r}, its bytes and its plain text {same}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
