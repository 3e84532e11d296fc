#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: segno 1.6.6 (PyPI); zbar-tools 0.23.92-7+deb12u* (Debian 12); zxing-cpp 3.1.1 (PyPI), which knows the code
#
# Guess: the QR library's `make` makes a QR code, and what a till printed in the test, a receipt's address, is drawn as a member's number is.
# What happens: what is short enough becomes a Micro QR code, which has one eye and which zbar and most cameras of phones do not read: a member's number,
# an EAN, a voucher of 15 characters. The length decides, so that the code changes its kind with the number. `micro=False` (or make_qr) draws a QR code.
#
# Seen:
# > 12345: M1, zbar reads nothing, zxing-cpp a Micro QR Code with 12345
# > 4006381333931: M3-M, zbar reads nothing, zxing-cpp a Micro QR Code with 4006381333931
# > SHOP-1234567890: M4-M, zbar reads nothing, zxing-cpp a Micro QR Code with SHOP-1234567890
# > SHOP-12345678901234567: 1-L, zbar reads SHOP-12345678901234567, zxing-cpp a QR Code with SHOP-12345678901234567
# > https://shop.example/receipt/1: 2-L, zbar reads https://shop.example/receipt/1, zxing-cpp a QR Code with https://shop.example/receipt/1
# > 12345: 1-H, zbar reads 12345, zxing-cpp a QR Code with 12345
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv zbar-tools \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' zbar-tools) in 0.23.92-7+deb12u*) ;; *) echo "$(basename "$0"): another version of zbar-tools" >&2; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check segno==1.6.6 zxing-cpp==3.1.1 pillow==9.5.0

"$folder/venv/bin/python" - "$folder/code.png" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import subprocess
import sys

import segno
import zxingcpp
from PIL import Image

path = sys.argv[1]


def show(text, **options):
    code = segno.make(text, **options)
    code.save(path, scale=6, border=4)
    zbar = subprocess.run(("zbarimg", "-q", "--raw", path), capture_output=True, text=True).stdout.strip() or "nothing"
    zxing = zxingcpp.read_barcodes(Image.open(path))[0]
    print(f"{text}: {code.designator}, zbar reads {zbar}, zxing-cpp a {zxing.format} with {zxing.text}")


for text in ("12345", "4006381333931", "SHOP-1234567890", "SHOP-12345678901234567", "https://shop.example/receipt/1"):
    show(text)
show("12345", micro=False)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
