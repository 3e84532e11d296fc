#!/usr/bin/env bash
# Holds the running daemon against docs/openapi.yaml: schemathesis makes requests from the contract, right ones and wrong
# ones, and every answer has to be one that the contract knows. check-contract.sh FOLDER-WITH-THE-PROGRAMS
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:?usage: check-contract.sh FOLDER-WITH-THE-PROGRAMS}
bin=$(cd "$bin" && pwd)

schemathesis=4.32.5
tools=.build/contract
if ! "$tools/bin/st" --version 2>/dev/null | grep -qF "$schemathesis"; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/python3" -m pip install --quiet --disable-pip-version-check "schemathesis==$schemathesis"
fi

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
        [ -e "$1" ] && [ -s "$1" -o -S "$1" ] && return
        sleep 0.1
    done
    echo "$1 did not appear" >&2
    cat "$folder"/*.log >&2
    exit 1
}

"$bin/nfc-tap-psp-sandbox" --sandbox --socket "$folder/psp.sock" >"$folder/sandbox.log" 2>&1 &
pids+=($!)
await "$folder/psp.sock"
# Without a configuration: lanes `main` and `lane-2`, and the sandbox's profile, so that there are terms to accept.
"$bin/nfc-tapd" --runtime-directory "$folder" --state-directory "$folder/state" \
    --reader "virtual:$folder/one.sock" --reader "virtual:$folder/two.sock" >"$folder/daemon.log" 2>&1 &
daemon=$!
pids+=("$daemon")
await "$folder/pos.sock"
await "$folder/one.sock"
for _ in $(seq 100); do
    curl -s --unix-socket "$folder/pos.sock" http://localhost/v1/status | grep -q '"profile"' && break
    sleep 0.1
done
"$bin/nfc-tap" virtual --control "$folder/one.sock" present visa >/dev/null
python3 Tests/Contract/hostile.py "$folder/pos.sock"
python3 Tests/Contract/forward.py "$folder/pos.sock" >"$folder/port" &
pids+=($!)
await "$folder/port"

# `positive_data_acceptance` is left out: rules that OpenAPI cannot say (items make the amount) refuse what its schema
# allows. `negative_data_rejection` holds for bodies; unknown headers are no error in HTTP.
status=0
PYTHONPATH=Tests/Contract SCHEMATHESIS_HOOKS=hooks "$tools/bin/st" --config-file Tests/Contract/schemathesis.toml run docs/openapi.yaml \
    --url "http://127.0.0.1:$(cat "$folder/port")" --checks all \
    --exclude-checks positive_data_acceptance,ignored_auth,use_after_free,ensure_resource_availability \
    --request-timeout 10 --max-examples "${NFC_TAP_EXAMPLES:-40}" --seed "${NFC_TAP_SEED:-1}" --workers 1 \
    --continue-on-failure --no-shrink >"$folder/report.txt" 2>&1 || status=$?
if [ "$status" -ne 0 ] || ! kill -0 "$daemon" 2>/dev/null; then
    cat "$folder/report.txt"
    echo "check-contract: the daemon and docs/openapi.yaml disagree" >&2
    exit 1
fi
grep -E 'Operations|Test cases|cases|passed|Seed' "$folder/report.txt" || true
echo "check-contract: every answer is one of docs/openapi.yaml"
