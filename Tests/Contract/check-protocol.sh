#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands that docs/integrating/protocol.md prints against a daemon with a virtual reader and the sandbox, and compares
# their answers with the printed ones: check-protocol.sh FOLDER-WITH-THE-PROGRAMS [--write]
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(cd "${1:?usage: check-protocol.sh FOLDER-WITH-THE-PROGRAMS [--write]}" && pwd)
. scripts/lib.sh

background sandbox "$bin/nfc-tap-psp-sandbox" --sandbox --socket "$folder/psp.sock"
await "$folder/psp.sock"
background daemon "$bin/nfc-tapd" --runtime-directory "$folder"
await "$folder/pos.sock" "$folder/reader.sock"
await_status "$folder/pos.sock" '"ready":true' '"state":"up"'
PATH=$bin:$PATH python3 Tests/Contract/transcripts.py docs/integrating/protocol.md "$folder" "${@:2}"
