#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes pictures of till and display side by side from running windows, in .build/pictures: make-pictures.sh FOLDER-WITH-THE-PROGRAMS. Thirteen
# states, in English and German, light and dark; 64 colours are enough for flat pages. Those that docs/pictures has are made anew there.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${1:?usage: make-pictures.sh FOLDER-WITH-THE-PROGRAMS}" && pwd)
python=.build/browser/bin/python3
[ -x "$python" ] || {
    echo "make-pictures: run make check-browser first, which installs what this needs" >&2
    exit 1
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
NFC_TAP_BIN=$bin NFC_TAP_PICTURES=$folder PYTHONPATH=Tests/Browser "$python" Tests/Browser/looks.py
mkdir -p .build/pictures
"$python" - "$folder" .build/pictures <<'PYTHON'
import pathlib
import sys

from PIL import Image

shots, pictures = map(pathlib.Path, sys.argv[1:])
for till in sorted(shots.glob("till-*.png")):
    # Till and display of the same moment, side by side.
    both = Image.new("RGB", (1292, 375), "#767680")
    for place, shot in enumerate((till, shots / till.name.replace("till-", "display-"))):
        both.paste(Image.open(shot).convert("RGB").resize((640, 375), Image.LANCZOS), (652 * place, 0))
    both.quantize(64, dither=Image.Dither.NONE).save(pictures / till.name, optimize=True)
PYTHON
for picture in docs/pictures/till-*.png; do cp ".build/pictures/$(basename "$picture")" "$picture"; done
du -ch .build/pictures/*.png | tail -n 1
