#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Searches every file under a folder for the test cards' numbers: as digits, as BCD, and as Base64 of either.
set -euo pipefail
folder=${1:?usage: check-leaks.sh FOLDER}

python3 - "$folder" <<'PYTHON'
import base64
import pathlib
import sys

numbers = ["4761739001010010", "5413330089601034"]
patterns = {}
for number in numbers:
    name = number[-4:]
    patterns[f"digits …{name}"] = number.encode()
    patterns[f"BCD …{name}"] = bytes.fromhex(number)
    for form, data in (("digits", number.encode()), ("BCD", bytes.fromhex(number))):
        for shift in range(3):
            text = base64.b64encode(bytes(shift) + data)
            first = 0 if shift == 0 else shift + 1
            patterns[f"Base64 of {form} …{name}, shifted {shift}"] = text[first : (shift + len(data)) // 3 * 4]

searched = 0
found = []
for file in pathlib.Path(sys.argv[1]).rglob("*"):
    if not file.is_file():
        continue
    searched += 1
    content = file.read_bytes()
    found += [f"{file.name}: {name}" for name, pattern in patterns.items() if pattern in content]
if searched == 0:
    sys.exit("check-leaks: nothing to search; did the tests run?")
if found:
    sys.exit("check-leaks: card numbers found:\n" + "\n".join(found))
print(f"check-leaks: {searched} files of this run, no card number in any")
PYTHON
