#!/usr/bin/env bash
# One tap from card to answer in a private folder: sandbox adapter, daemon, virtual card, payment. Stops everything.
set -euo pipefail
bin=${1:?usage: demo.sh FOLDER-WITH-THE-PROGRAMS}

folder=$(mktemp -d)
pids=()
stop() {
    # The clients first, then the daemon, then the adapter that it talks to.
    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        kill "${pids[i]}" 2>/dev/null || true
        wait "${pids[i]}" 2>/dev/null || true
    done
    rm -rf "$folder"
}
trap stop EXIT

await() {
    for _ in $(seq 100); do
        [ -S "$1" ] && return
        sleep 0.1
    done
    echo "$1 did not appear; the logs say:" >&2
    cat "$folder"/*.log >&2
    exit 1
}

echo "== sandbox adapter, published test key"
"$bin/nfc-tap-psp-sandbox" --sandbox --socket "$folder/psp.sock" >"$folder/sandbox.log" 2>&1 &
pids+=($!)
await "$folder/psp.sock"

echo "== daemon, test mode, virtual reader"
"$bin/nfc-tapd" --runtime-directory "$folder" --state-directory "$folder/state" >"$folder/daemon.log" 2>&1 &
pids+=($!)
await "$folder/pos.sock"
await "$folder/reader.sock"
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
