#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the documentation of the public libraries as web pages, a folder for each:
# make-docs.sh FOLDER-WITH-A-DEBUG-BUILD OUTPUT-FOLDER [LIBRARY…]
# Uses what the toolchain has, docc, and no plugin; a link that leads nowhere is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:?usage: make-docs.sh FOLDER-WITH-A-DEBUG-BUILD OUTPUT-FOLDER [LIBRARY…]}")
output=$(realpath -m "${2:?usage: make-docs.sh FOLDER-WITH-A-DEBUG-BUILD OUTPUT-FOLDER [LIBRARY…]}")
shift 2
# Those that Package.swift declares.
if [ $# -eq 0 ]; then
    mapfile -t libraries < <(grep -oP '(?<=library\(")\w+(?="\))' Package.swift)
    set -- "${libraries[@]}"
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

target=$(swift -print-target-info | sed -n 's/.*"unversionedTriple" *: *"\(.*\)".*/\1/p')
# Headers of C modules that the interface's modules were built with.
maps=()
while read -r map; do maps+=(-Xcc "-fmodule-map-file=$map"); done < <(
    find "$bin" .build/checkouts Sources -name module.modulemap \
        \( -path '*/CNIO*' -o -path '*/_AtomicsShims*' -o -path '*/C_NIO*' -o -path '*/CLinux*' -o -path '*/CCrypto*' -o -path '*/CQREncode*' \) \
        2>/dev/null)
mkdir -p "$output"
for library; do
    mkdir "$folder/$library"
    swift symbolgraph-extract -module-name "$library" -I "$bin/Modules" "${maps[@]}" -minimum-access-level public \
        -target "$target" -output-dir "$folder/$library" >"$folder/log" 2>&1 || {
        cat "$folder/log" >&2
        exit 1
    }
    rm -rf "${output:?}/$library"
    docc convert Sources/*/"$library/$library.docc" --additional-symbol-graph-dir "$folder/$library" \
        --output-dir "$output/$library" --fallback-display-name "$library" \
        --fallback-bundle-identifier "nfc-tap.$library" >"$folder/log" 2>&1 || {
        cat "$folder/log" >&2
        exit 1
    }
    # A parameter without a word about it is no fault here, a link that leads nowhere is.
    if grep 'warning:' "$folder/log" | grep -v 'is missing documentation'; then
        cat "$folder/log" >&2
        exit 1
    fi
    echo "docs: $output/$library ($(find "$output/$library/data" -name '*.json' | wc -l) pages)"
done
