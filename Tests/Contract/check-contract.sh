#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the running daemon against docs/openapi.yaml: schemathesis makes requests from the contract, right ones and wrong
# ones, and every answer has to be one that the contract knows. check-contract.sh FOLDER-WITH-THE-PROGRAMS
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${1:?usage: check-contract.sh FOLDER-WITH-THE-PROGRAMS}
bin=$(cd "$bin" && pwd)
. scripts/lib.sh

schemathesis=4.32.5
tools=.build/contract
if ! "$tools/bin/st" --version 2>/dev/null | grep -qF "$schemathesis"; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/python3" -m pip install --quiet --disable-pip-version-check "schemathesis==$schemathesis"
fi

# daemon NAME OPTION…: one with three virtual readers in the folder NAME.
daemon() {
    serve "$@" --reader "virtual:$folder/$1/one.sock" --reader "virtual:$folder/$1/two.sock" \
        --reader "virtual:$folder/$1/three.sock"
}

# serve NAME OPTION…: one in the folder NAME, and a way to it for a tool that knows TCP only.
serve() {
    local at=$folder/$1
    mkdir -p "$at"
    background "$1" "$bin/nfc-tapd" --runtime-directory "$at" --state-directory "$at/state" "${@:2}"
    daemon=$started
    await "$at/pos.sock" "$at/three.sock"
    python3 Tests/Contract/forward.py "$at/pos.sock" >"$at/port" &
    pids+=($!)
    await "$at/port"
}

# `positive_data_acceptance` is left out: rules that OpenAPI cannot say (items make the amount) refuse what its schema
# allows. `negative_data_rejection` holds for bodies; unknown headers are no error in HTTP.
# hold NAME CARD OPTION…: holds that daemon against the contract, with customers who have this card.
hold() {
    local at=$folder/$1 status=0
    NFC_TAP_POS=$at/pos.sock NFC_TAP_READERS="$at/one.sock $at/two.sock $at/three.sock" NFC_TAP_CARD=$2 \
        NFC_TAP_REACHED=$folder/reached PYTHONPATH=Tests/Contract SCHEMATHESIS_HOOKS=hooks "$tools/bin/st" \
        --config-file Tests/Contract/schemathesis.toml run docs/openapi.yaml --url "http://127.0.0.1:$(cat "$at/port")" \
        --checks all \
        --exclude-checks positive_data_acceptance,ignored_auth,use_after_free,ensure_resource_availability \
        --request-timeout 10 --max-examples "${NFC_TAP_EXAMPLES:-25}" --seed "${NFC_TAP_SEED:-1}" --workers 1 \
        --generation-database none --continue-on-failure --no-shrink "${@:3}" >"$at/report.txt" 2>&1 || status=$?
    # A hook that fails is counted, but not as a failure.
    if [ "$status" -ne 0 ] || grep -q ' errored' "$at/report.txt" || ! kill -0 "$daemon" 2>/dev/null; then
        cat "$at/report.txt"
        echo "check-contract: the daemon and docs/openapi.yaml disagree" >&2
        exit 1
    fi
    grep -E 'Operations:|generated' "$at/report.txt" || true
}

background sandbox "$bin/nfc-tap-psp-sandbox" --sandbox --socket "$folder/psp.sock"
sandbox=$started
await "$folder/psp.sock"
# Without a configuration: the sandbox's profile is trusted, so that there are terms to accept.
daemon online --psp-socket "$folder/psp.sock"
await_status "$folder/online/pos.sock" '"profile":' '"ready":true'
python3 Tests/Contract/hostile.py "$folder/online/pos.sock"
hold online visa

# Another, two of whose lanes stand alone. Its customers tap without an end, and the hooks are the machine.
lane() { printf '[[lane]]\nname = "%s"\nreader = "virtual:%s"\n' "$1" "$folder/machine/$2.sock"; }
standing() {
    printf '[lane.standing]\nmode = "%s"\namount = 2500\nmaximum = 5000\ncurrency = "EUR"\nclaim-seconds = 600\n' "$1"
    printf 'debounce-seconds = 0\nopen-sessions = 64\ntaps-per-hour = 3600\ntest = true\n'
}
{ echo 'mode = "test"'; lane main one; standing hold; lane lane-2 two; standing sale; lane lane-3 three; } >"$folder/machine.toml"
serve machine --config "$folder/machine.toml" --psp-socket "$folder/psp.sock"
await_status "$folder/machine/pos.sock" '"state":"up"'
hold machine visa --include-tag sessions --phases examples,coverage,fuzzing

# A third, which stores: cards may approve by themselves, and the payment service has gone after a short visit. Batches go
# to one that the daemon cannot reach.
sed 's/"floor": 0/"floor": 100000/' docs/examples/terminal-test.json >"$folder/terminal.json"
cat >"$folder/offline.toml" <<TOML
mode = "test"
[terminal]
file = "$folder/terminal.json"
[offline]
count = 1000
per-card = 1000
[[offline.currency]]
code = "EUR"
amount = 100000
total = 99999999
[[lane]]
name = "main"
reader = "virtual:$folder/offline/none.sock"
TOML
daemon offline --config "$folder/offline.toml" --psp-socket "$folder/psp.sock"
await_status "$folder/offline/pos.sock" '"state":"up"'
kill "$sandbox"
wait "$sandbox" || true
background elsewhere "$bin/nfc-tap-psp-sandbox" --sandbox --socket "$folder/elsewhere.sock"
await "$folder/elsewhere.sock"
NFC_TAP_RECEIPTS=$folder/elsewhere.sock hold offline visa-afl --include-tag queue \
    --include-operation-id createTransaction --include-operation-id getReceipt --include-operation-id reverseTransaction

# A fourth, whose shop has left the payment service that it stored for: these payments are open items.
sed -e 's/^\[offline\]$/[offline]\nservice-name = "before"/' -e 's,/offline/,/moved/,' "$folder/offline.toml" >"$folder/moved.toml"
background visit "$bin/nfc-tap-psp-sandbox" --sandbox --socket "$folder/visit.sock"
visit=$started
await "$folder/visit.sock"
daemon moved --config "$folder/moved.toml" --psp-socket "$folder/visit.sock"
await_status "$folder/moved/pos.sock" '"state":"up"'
kill "$visit"
wait "$visit" || true
PYTHONPATH=Tests/Contract python3 -c '
import sys
from till import Till
for _ in range(20):
    assert Till(sys.argv[1], sys.argv[2], "visa-afl").sale()["state"] == "stored"
' "$folder/moved/pos.sock" "$folder/moved/three.sock"
sed -i 's/^service-name = "before"$/service-name = "after"/' "$folder/moved.toml"
kill -HUP "$daemon"
await_status "$folder/moved/pos.sock" '"openItems":{"count":20,'
# One call leads to the other by what is open, not by an answer: there are no links to follow.
hold moved visa-afl --include-tag openItems --phases examples,coverage,fuzzing

# A fifth, for which we are a gateway, and which lets us send commands to a card.
sed 's,/offline/,/gateway/,' "$folder/offline.toml" >"$folder/gateway.toml"
printf '[gateway]\ngroup = "%s"\n[diagnostics]\ncard-commands = true\n' "$(id -g)" >>"$folder/gateway.toml"
daemon gateway --config "$folder/gateway.toml" --psp-socket "$folder/psp.sock"
hold gateway visa --include-operation-id reportRefusals --include-operation-id sendCardCommands --phases examples,coverage,fuzzing

"$tools/bin/python3" Tests/Contract/reached.py docs/openapi.yaml "$folder/reached"
echo "check-contract: every answer is one of docs/openapi.yaml"
