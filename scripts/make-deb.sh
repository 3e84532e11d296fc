#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Assembles the Debian package: make-deb.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER [VERSION]. The version is that of
# the programs unless one is given.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:?usage: make-deb.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER [VERSION]}")
output=$(realpath -m "${2:?usage: make-deb.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER [VERSION]}")
. scripts/lib.sh
version=${3:-$(product_version)}

tree=$folder/nfc-tap-$version
mkdir -p "$tree"
cp -a packaging/debian "$tree/debian"
cp -a README.md NOTICE docs packaging scripts share systemd udev "$tree"
cp systemd/nfc-tap.sysusers "$tree/debian/nfc-tap.sysusers"
cp systemd/nfc-tap.tmpfiles "$tree/debian/nfc-tap.tmpfiles"
if ! grep -q "^nfc-tap ($version)" packaging/debian/changelog; then
    {
        printf 'nfc-tap (%s) bookworm; urgency=medium\n\n  * Build of this version.\n\n' "$version"
        printf ' -- %s  %s\n\n' "$(sed -n 's/^Maintainer: //p' packaging/debian/control)" "$(date --rfc-email)"
        cat packaging/debian/changelog
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
