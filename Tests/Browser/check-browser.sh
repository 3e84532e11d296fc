#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Drives till and display in Chromium, and both clients: check-browser.sh FOLDER-WITH-THE-PROGRAMS [SUITE…], all of looks, sale, windows, faults,
# day, clients, bench and security by default, two at a time. With FAULTS=1 each deliberate fault of Tests/Browser/deliberate.py has to make the test fail that is for it;
# numbers in the place of suites choose from them, counted from 0.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(cd "${1:?usage: check-browser.sh FOLDER-WITH-THE-PROGRAMS [SUITE…]}" && pwd)
shift

playwright=1.65.2
axe=0.1.8
python=.build/browser/bin/python3
if ! "$python" -c 'import playwright, axe_playwright_python, PIL' >/dev/null 2>&1; then
    rm -rf .build/browser
    python3 -m venv .build/browser
    "$python" -m pip install --quiet --disable-pip-version-check "playwright==$playwright" "axe-playwright-python==$axe" pillow
fi
NFC_TAP_PYTHON=$(scripts/install-peers.sh)
export NFC_TAP_BIN=$bin NFC_TAP_PYTHON PYTHONPATH=Tests/Browser
if [ -n "${FAULTS:-}" ]; then
    exec "$python" Tests/Browser/deliberate.py "$@"
fi

suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=(looks sale windows faults day clients bench security)
logs=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$logs"' EXIT
# suite NAME: its tests, and what it says of them once they are over.
suite() {
    local begin=$SECONDS
    "$python" "Tests/Browser/$1.py" >"$logs/$1" 2>&1 && touch "$logs/$1.passed"
    echo "check-browser: $1, $(grep -oE '^Ran [0-9]+ tests?' "$logs/$1" || echo 'no test was run'), $((SECONDS - begin)) s"
    [ -e "$logs/$1.passed" ] || cat "$logs/$1"
}
for name in "${suites[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do sleep 0.2; done
    suite "$name" &
done
wait
for name in "${suites[@]}"; do
    [ -e "$logs/$name.passed" ] || {
        echo "check-browser: $name found a fault" >&2
        exit 1
    }
done
echo "check-browser: no fault found, in $((SECONDS / 60)) min $((SECONDS % 60)) s"
