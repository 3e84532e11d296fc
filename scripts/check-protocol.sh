#!/usr/bin/env bash
# Runs the commands that docs/protocol.md prints against a daemon with a virtual reader and the sandbox, and compares
# their answers with the printed ones: check-protocol.sh FOLDER-WITH-THE-PROGRAMS [--write]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${1:?usage: check-protocol.sh FOLDER-WITH-THE-PROGRAMS [--write]}" && pwd)

folder=$(mktemp -d)
pids=()
stop() {
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
    echo "check-protocol: $1 did not appear" >&2
    cat "$folder"/*.log >&2
    exit 1
}
"$bin/nfc-tap-psp-sandbox" --sandbox --socket "$folder/psp.sock" >"$folder/sandbox.log" 2>&1 &
pids+=($!)
await "$folder/psp.sock"
"$bin/nfc-tapd" --runtime-directory "$folder" >"$folder/daemon.log" 2>&1 &
pids+=($!)
await "$folder/pos.sock"
await "$folder/reader.sock"
for _ in $(seq 100); do
    curl --silent --unix-socket "$folder/pos.sock" http://localhost/v1/status | grep -q '"ready" *: *true.*"state" *: *"up"\|"state" *: *"up".*"ready" *: *true' && break
    sleep 0.1
done
PATH=$bin:$PATH python3 Tests/Contract/transcripts.py docs/protocol.md "$folder" "${@:2}"
