#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts the licence's line into every source file that lacks it, and changes nothing else; --check names the files instead.
#
# It is the first line, or the second where the first belongs to a program: an interpreter, the version of the manifest.
# Not in data, nor in docs/examples, which people copy into programs of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "${1:-}" = "" ] || [ "${1:-}" = --check ] || {
    echo "usage: add-spdx.sh [--check]" >&2
    exit 64
}

# Python takes over at once, because this file is one of those that it writes.
exec python3 - "${1:-}" <<'PYTHON'
import pathlib
import re
import subprocess
import sys

LINE = "SPDX-License-Identifier: Apache-2.0"
FOLDERS = "Sources Tests Benchmarks Fuzz clients scripts packaging .ci Package.swift Makefile".split()
COMMENTS = [
    (re.compile(r"\.(swift|c|h)$"), "//"),
    (re.compile(r"(\.(sh|py)|^\.ci/run|^Makefile|^packaging/debian/(rules|nfc-tap\.p[a-z]+))$"), "#"),
]

listed = subprocess.run(["git", "ls-files", "-z", "--", *FOLDERS], check=True, capture_output=True, text=True).stdout
missing = []
for name in filter(None, listed.split("\0")):
    comment = next((comment for pattern, comment in COMMENTS if pattern.search(name)), None)
    file = pathlib.Path(name)
    if comment is None or not file.is_file():
        continue
    lines = file.read_text().splitlines(keepends=True)
    if any(LINE in line for line in lines[:3]):
        continue
    missing.append(f'{name} has no line "{comment} {LINE}"')
    first = 1 if lines and lines[0].startswith(("#!", "// swift-tools-version")) else 0
    if sys.argv[1] != "--check":
        # Written into the file itself, so that its rights stay as they are.
        file.write_text("".join([*lines[:first], f"{comment} {LINE}\n", *lines[first:]]))
if sys.argv[1] == "--check" and missing:
    print("\n".join(missing))
    sys.exit(f"{len(missing)} files; run scripts/add-spdx.sh")
PYTHON
