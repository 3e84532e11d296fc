#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): dukpt 1.0.1; pydukpt 0.1.0 (a second hand)
#
# Guess: a library for DUKPT that agrees with ANSI X9.24-1's table for the first transactions agrees with it for all of them.
# What happens: the first 511 keys of a device are right. From transaction 512 on the library looks at nine of the counter's 21 bits, so that no
# later key is the one the terminal used: what worked in all tests is rubbish after some days at the till.
#
# Seen:
# > transaction 1, X9.24-1 has 042666b49184cf5c68de9628d0397b36: dukpt True, pydukpt True
# > transaction 1046528, X9.24-1 has f9cdfebf4f5b1d61b3ec12454527e189: dukpt False, pydukpt True
# > of the first 1,999 transactions dukpt and pydukpt differ in 1488, the first is 512
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check dukpt==1.0.1 pydukpt==0.1.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import dukpt
import pydukpt
from bitstring import BitArray

# ANSI X9.24-1's own test key and device.
KEY, DEVICE = bytes.fromhex("0123456789ABCDEFFEDCBA9876543210"), int("FFFF9876543210E00000", 16)
server = dukpt.Server(bdk=KEY)


def keys(counter):
    serial = (DEVICE + counter).to_bytes(10, "big")
    initial = server.generate_ipek(BitArray(bytes=serial))
    return server.derive_key(initial, BitArray(bytes=serial)).bytes, pydukpt.derive_key(pydukpt.derive_ipek(KEY, serial), serial)


# The annex gives PIN keys: the key with FF laid over its last byte of either half.
for counter, pin_key in ((1, "042666b49184cf5c68de9628d0397b36"), (0xFF800, "f9cdfebf4f5b1d61b3ec12454527e189")):
    here, there = ((int.from_bytes(key, "big") ^ 0xFF00000000000000FF).to_bytes(16, "big").hex() for key in keys(counter))
    print(f"transaction {counter}, X9.24-1 has {pin_key}: dukpt {here == pin_key}, pydukpt {there == pin_key}")
wrong = [counter for counter in range(1, 2000) if len(set(keys(counter))) == 2]
print(f"of the first 1,999 transactions dukpt and pydukpt differ in {len(wrong)}, the first is {wrong[0]}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
