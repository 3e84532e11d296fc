#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: zbar-tools 0.23.92-7+deb12u* (Debian 12); segno 1.6.6 (PyPI) draws the codes
#
# Guess: a scanner gives the text of a QR code that holds UTF-8, as EMV and most generators write it; if not, then Latin letters in its place.
# What happens: without an ECI, bytes that could be Shift-JIS or Big5 are read as such: "12 €" becomes "12 竄ｬ", the shop Müller becomes M羹ller.
# Łódź and PREÇO stay as they are, so that a test with the wrong word finds nothing. With ECI 26 in the code, or asked for the
# bytes (-Sbinary), the text is right. What checks its text by a CRC, as EMV's codes do, finds it damaged.
#
# Seen:
# > 12 €: read as 12 竄ｬ, with ECI 26 as 12 €, as bytes 313220E282AC
# > Café: read as Caf矇, with ECI 26 as Café, as bytes 436166C3A9
# > Müller: read as M羹ller, with ECI 26 as Müller, as bytes 4DC3BC6C6C6572
# > Łódź: read as Łódź, with ECI 26 as Łódź, as bytes C581C3B364C5BA
# > PREÇO: read as PREÇO, with ECI 26 as PREÇO, as bytes 505245C3874F
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv zbar-tools \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' zbar-tools) in 0.23.92-7+deb12u*) ;; *) echo "$(basename "$0"): another version of zbar-tools" >&2; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check segno==1.6.6

"$folder/venv/bin/python" - "$folder" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import subprocess
import sys

import segno


def read(text, eci, *options):
    path = f"{sys.argv[1]}/code.png"
    segno.make(text, encoding="utf-8", eci=eci, micro=False, mode="byte").save(path, scale=4, border=4)
    return subprocess.run(["zbarimg", "-q", "--raw", *options, path], capture_output=True, check=True).stdout


for text in ("12 €", "Café", "Müller", "Łódź", "PREÇO"):
    plain, marked = (read(text, eci).decode().rstrip("\n") for eci in (False, True))
    data = read(text, False, "--oneshot", "-Sbinary")
    print(f"{text}: read as {plain}, with ECI 26 as {marked}, as bytes {data.hex().upper()}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
