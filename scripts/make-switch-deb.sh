#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Assembles the package nfc-tap-switch: make-switch-deb.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER [VERSION]. The version is
# that of the programs unless one is given.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:?usage: make-switch-deb.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER [VERSION]}")
output=$(realpath -m "${2:?usage: make-switch-deb.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER [VERSION]}")
. scripts/lib.sh
version=${3:-$(product_version)}

tree=$folder/nfc-tap-switch-$version
mkdir -p "$tree"
cp -a packaging/switch/debian "$tree/debian"
cp -a NOTICE docs packaging systemd "$tree"
cp systemd/nfc-tap-switch.sysusers "$tree/debian/nfc-tap-switch.sysusers"
if ! grep -q "^nfc-tap-switch ($version)" packaging/switch/debian/changelog; then
    {
        printf 'nfc-tap-switch (%s) bookworm; urgency=medium\n\n  * Build of this version.\n\n' "$version"
        printf ' -- %s  %s\n\n' "$(sed -n 's/^Maintainer: //p' packaging/switch/debian/control)" "$(date --rfc-email)"
        cat packaging/switch/debian/changelog
    } >"$tree/debian/changelog"
fi
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
