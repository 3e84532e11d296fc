#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: zbar-tools 0.23.92-7+deb12u*, zint 2.11.1-1 (Debian 12; zint draws the codes); zxing-cpp 3.1.1 (PyPI), a second hand
#
# Guess: a scanner that reads a GS1 DataBar Expanded (coupons, fresh food) reads it right or not at all: the code has a checksum.
# What happens: in a field that ends in letters zbar does not leave the letters behind at FNC1, so that the digits of the next field are read as
# letters and others digits. A best-before date, a price or a serial number is another one, without an error; a lot of digits only is read right.
# zxing-cpp has the data right, and as its text what people read under the code, "(10)ABC(3922)1250".
#
# Seen:
# > [01]04006381333931[10]ABC[3922]1250: zbar b'010400638133393110ABC\x1d7E1250', zxing-cpp b'010400638133393110ABC\x1d39221250'
# > [10]ABC[17]261231[21]42: zbar b'10ABC\x1d1EB5K2WQ', zxing-cpp b'10ABC\x1d172612312142'
# > [10]ABC[21]123456: zbar b'10ABC\x1d2SKW0', zxing-cpp b'10ABC\x1d21123456'
# > [10]ABC123[21]987654: zbar b'10ABC123\x1d21987654', zxing-cpp b'10ABC123\x1d21987654'
# > [10]2026[3922]1250: zbar b'102026\x1d39221250', zxing-cpp b'102026\x1d39221250'
# > the last as zxing-cpp's text: (10)2026(3922)1250
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv zbar-tools zint=2.11.1-1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' zbar-tools) in 0.23.92-7+deb12u*) ;; *) echo "$(basename "$0"): another version of zbar-tools" >&2; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check zxing-cpp==3.1.1 pillow==9.5.0

"$folder/venv/bin/python" - "$folder/code.png" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import subprocess
import sys

import zxingcpp
from PIL import Image

path = sys.argv[1]
for data in (
    "[01]04006381333931[10]ABC[3922]1250",
    "[10]ABC[17]261231[21]42",
    "[10]ABC[21]123456",
    "[10]ABC123[21]987654",
    "[10]2026[3922]1250",
):
    subprocess.run(("zint", "-b", "DBAR_EXP", "--gs1", "--scale=4", "-o", path, "-d", data), check=True)
    zbar = subprocess.run(("zbarimg", "-q", "--raw", "--oneshot", "-Sdatabar-exp.enable", path), capture_output=True, check=True).stdout
    zxing = zxingcpp.read_barcodes(Image.open(path))[0]
    print(f"{data}: zbar {zbar}, zxing-cpp {zxing.bytes}")
print("the last as zxing-cpp's text:", zxing.text)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
