#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the documentation of the library TapClient as web pages: make-docs.sh FOLDER-WITH-A-DEBUG-BUILD OUTPUT-FOLDER.
# Uses what the toolchain has, docc, and no plugin; a link that leads nowhere is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:?usage: make-docs.sh FOLDER-WITH-A-DEBUG-BUILD OUTPUT-FOLDER}")
output=$(realpath -m "${2:?usage: make-docs.sh FOLDER-WITH-A-DEBUG-BUILD OUTPUT-FOLDER}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Headers of C modules that the interface's modules were built with.
maps=()
while read -r map; do maps+=(-Xcc "-fmodule-map-file=$map"); done < <(
    find "$bin" .build/checkouts Sources -name module.modulemap \
        \( -path '*/CNIO*' -o -path '*/_AtomicsShims*' -o -path '*/C_NIO*' -o -path '*/CLinux*' \) 2>/dev/null)
swift symbolgraph-extract -module-name TapClient -I "$bin/Modules" "${maps[@]}" -minimum-access-level public \
    -target "$(swift -print-target-info | sed -n 's/.*"unversionedTriple" *: *"\(.*\)".*/\1/p')" \
    -output-dir "$folder" >"$folder/log" 2>&1 || {
    cat "$folder/log" >&2
    exit 1
}
mkdir -p "$(dirname "$output")"
docc convert Sources/TapClient/TapClient.docc --additional-symbol-graph-dir "$folder" --output-dir "$output" \
    --fallback-display-name TapClient --fallback-bundle-identifier nfc-tap.TapClient >"$folder/log" 2>&1 || {
    cat "$folder/log" >&2
    exit 1
}
# A parameter without a word about it is no fault here, a link that leads nowhere is.
if grep 'warning:' "$folder/log" | grep -v 'is missing documentation'; then
    cat "$folder/log" >&2
    exit 1
fi
echo "docs: $output ($(find "$output/data" -name '*.json' | wc -l) pages)"
