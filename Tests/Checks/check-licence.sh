#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether the licence is where it belongs: its line in every source file, and every package that is linked in NOTICE and in
# the Debian package's copyright. check-licence.sh --fix puts the line into every file that lacks it, and changes nothing else.
#
# It is the first line, or the second where the first belongs to a program: an interpreter, the version of the manifest.
# Not in data, nor in docs/examples, which people copy into programs of their own.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "${1:-}" = "" ] || [ "${1:-}" = --fix ] || {
    echo "usage: check-licence.sh [--fix]" >&2
    exit 64
}
status=0

python3 - "${1:-}" <<'PYTHON' || status=1
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
    if sys.argv[1] == "--fix":
        # Written into the file itself, so that its rights stay as they are.
        file.write_text("".join([*lines[:first], f"{comment} {LINE}\n", *lines[first:]]))
if sys.argv[1] != "--fix" and missing:
    print("\n".join(missing))
    sys.exit(f"{len(missing)} files; run Tests/Checks/check-licence.sh --fix")
PYTHON
[ -s LICENSE ] || {
    echo "check-licence: LICENSE is missing; it is the text of the Apache License, Version 2.0" >&2
    status=1
}
packages=$(sed -n 's/.*"identity" : "\(.*\)",*/\1/p' Package.resolved 2>/dev/null || true)
[ -n "$packages" ] || {
    echo "check-licence: Package.resolved is missing or names no package; run swift package resolve" >&2
    exit 1
}
for package in $packages; do
    for file in NOTICE packaging/debian/copyright; do
        grep -qiwF -- "$package" "$file" || {
            echo "check-licence: $file does not name $package; read its licence in .build/checkouts and add it" >&2
            status=1
        }
    done
done
[ "$status" -eq 0 ] && echo "check-licence: licence lines, NOTICE and copyright are complete"
exit "$status"
