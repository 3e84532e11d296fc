#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One tap from card to answer in a private folder: sandbox adapter, daemon, virtual card, payment. Stops everything.
set -euo pipefail
bin=${1:?usage: demo.sh FOLDER-WITH-THE-PROGRAMS}
. "$(dirname "$0")/lib.sh"

echo "== sandbox adapter, published test key"
background sandbox "$bin/nfc-tap-psp-sandbox" --sandbox --socket "$folder/psp.sock"
await "$folder/psp.sock"

echo "== daemon, test mode, virtual reader"
background daemon "$bin/nfc-tapd" --runtime-directory "$folder" --state-directory "$folder/state"
await "$folder/pos.sock" "$folder/reader.sock"
"$bin/nfc-tap" prepare --socket "$folder/pos.sock" >/dev/null
"$bin/nfc-tap" status --socket "$folder/pos.sock"

"$bin/nfc-tap" events --socket "$folder/pos.sock" >"$folder/events" 2>/dev/null &
pids+=($!)

echo "== a card is presented to the virtual reader"
"$bin/nfc-tap" virtual --control "$folder/reader.sock" present visa >/dev/null

echo "== nfc-tap pay 12.50 EUR"
status=0
"$bin/nfc-tap" pay 12.50 EUR --socket "$folder/pos.sock" || status=$?
"$bin/nfc-tap" virtual --control "$folder/reader.sock" remove >/dev/null

echo "== events"
for _ in $(seq 50); do
    grep -q '"payment\.' <(grep -v authorizing "$folder/events") && break
    sleep 0.1
done
cat "$folder/events"
exit "$status"
