#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): ndef 0.2; ndeflib 0.3.3, which is imported as `ndef` too, on the other side
#
# Guess: a parser and verifier of NDEF reads what a phone writes, and what it writes a phone reads, of any length.
# What happens: a length of four bytes is taken and written with its least byte first, where NDEF has the greatest first. Up to 255 bytes the
# length is one byte and all is well. A pass, a certificate or an address with a long query from anyone else is "not enough bytes",
# and what this library writes nobody else reads; it reads its own, so that its tests pass.
#
# Seen (a record of type application/json):
# > 255 bytes: ndef writes D210FF, reads its own True, ndeflib reads it True, ndef reads ndeflib's True
# > 256 bytes: ndef writes C21000010000, reads its own True, ndeflib reads it False, ndef reads ndeflib's False
# > 300 bytes: ndef writes C2102C010000, reads its own True, ndeflib reads it False, ndef reads ndeflib's False
# > 300 bytes, written by ndeflib: C2100000012C
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ndef==0.2
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --target "$folder/other" ndeflib==0.3.3

# The two have one name, so that each has a process of its own: the second one writes a record of so many bytes, or reads one.
cat >"$folder/other.py" <<'PYTHON'
import sys

import ndef

if sys.argv[1] == "write":
    sys.stdout.buffer.write(b"".join(ndef.message_encoder([ndef.Record("application/json", "", b"7" * int(sys.argv[2]))])))
else:
    print(len(list(ndef.message_decoder(sys.stdin.buffer.read()))[0].data))
PYTHON
cat >"$folder/one.py" <<'PYTHON'
import subprocess
import sys

import ndef

folder = sys.argv[1]


def other(act, size, data=b""):
    run = subprocess.run([sys.executable, f"{folder}/other.py", act, str(size)], input=data, capture_output=True, env={"PYTHONPATH": f"{folder}/other"})
    return run.stdout


def read(data, size):
    try:
        return ndef.NdefMessage(data).records[0].payload_len == size
    except ndef.InvalidNdef:
        return False


for size in (255, 256, 300):
    made = ndef.new_message((ndef.TNF_MEDIA, b"application/json", b"", b"7" * size)).to_buffer()
    head = made[: made.index(b"application")].hex().upper()
    theirs = other("read", size, made).strip() == str(size).encode()
    print(f"{size} bytes: ndef writes {head}, reads its own {read(made, size)}, ndeflib reads it {theirs}, ndef reads ndeflib's {read(other('write', size), size)}")
made = other("write", 300)
print(f"300 bytes, written by ndeflib: {made[: made.index(b'application')].hex().upper()}")
PYTHON
"$folder/venv/bin/python" "$folder/one.py" "$folder" 2>"$folder/errors" | tee "$folder/now" || true

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
