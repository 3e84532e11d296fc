#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Assembles the package nfc-tap-switch: make-switch-deb.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:?usage: make-switch-deb.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER}")
output=$(realpath -m "${2:?usage: make-switch-deb.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER}")
. scripts/lib.sh

tree=$folder/nfc-tap-switch-$(product_version)
mkdir -p "$tree"
cp -a packaging/switch/debian "$tree/debian"
cp -a NOTICE docs packaging systemd "$tree"
cp systemd/nfc-tap-switch.sysusers "$tree/debian/nfc-tap-switch.sysusers"
log=$folder/log
(cd "$tree" && NFC_TAP_BIN=$bin dpkg-buildpackage --no-sign --build=binary >"$log" 2>&1) || {
    cat "$log" >&2
    exit 1
}
mkdir -p "$output"
for package in "$folder"/*.deb; do
    mv "$package" "$output/"
    echo "$output/$(basename "$package")"
done
