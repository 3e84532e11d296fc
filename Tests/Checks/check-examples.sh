#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the adapter, the POS client and the check of the audit chain of docs/examples as they are printed there, with the
# daemon between them.
# check-examples.sh FOLDER-WITH-THE-PROGRAMS
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(cd "${1:?usage: check-examples.sh FOLDER-WITH-THE-PROGRAMS}" && pwd)
. scripts/lib.sh

# expect STATUS TEXT: what pos.py said last
expect() {
    [ "$status" -eq "$1" ] && [[ $said == $2 ]] && return
    echo "check-examples: pos.py said '$said' and ended with $status, not '$2' and $1" >&2
    exit 1
}

[ "$(wc -l <docs/examples/adapter.py)" -le 50 ] && [ "$(wc -l <docs/examples/pos.py)" -le 20 ] || {
    echo "check-examples: an example has grown beyond its 50 or 20 lines" >&2
    exit 1
}
background adapter python3 docs/examples/adapter.py "$folder/psp.sock"
await "$folder/psp.sock"
background daemon "$bin/nfc-tapd" --runtime-directory "$folder" --state-directory "$folder/state"
await "$folder/pos.sock" "$folder/reader.sock"
"$bin/nfc-tap" virtual --control "$folder/reader.sock" present visa >/dev/null

pos() {
    status=0
    said=$(python3 docs/examples/pos.py "$folder/pos.sock" "$@" 2>&1) || status=$?
}
pos 1250 EUR
expect 0 "approved *0010 test"
pos 25000 EUR
expect 1 "declined *0010 test"
pos 1250 XYZ
expect 1 "*urrency*"
python3 docs/examples/check-audit.py <docs/examples/audit-chain.jsonl
"$bin/nfc-tap" audit export --file "$folder/state/journal.sqlite" >"$folder/chain.jsonl"
said=$(python3 docs/examples/check-audit.py <"$folder/chain.jsonl")
status=$?
expect 0 "chain holds up to entry *"
status=0
said=$(sed 's/ 1250 EUR / 1251 EUR /' "$folder/chain.jsonl" | python3 docs/examples/check-audit.py) || status=$?
expect 1 "entry * altered*"
echo "check-examples: docs/examples/adapter.py and docs/examples/pos.py took a sale, a decline and a refusal, and docs/examples/check-audit.py recomputed their chain"
