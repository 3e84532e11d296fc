#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Assembles a Debian package: make-deb.sh nfc-tap|nfc-tap-switch FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER [VERSION]. The version
# is that of the programs unless one is given. SOURCE_DATE_EPOCH is the latest time that a file inside may have.
set -euo pipefail
cd "$(dirname "$0")/.."
usage="usage: make-deb.sh nfc-tap|nfc-tap-switch FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER [VERSION]"
name=${1:?$usage}
bin=$(realpath "${2:?$usage}")
output=$(realpath -m "${3:?$usage}")
. scripts/lib.sh
version=${4:-$(product_version)}
case $name in
    nfc-tap) debian=packaging/debian ;;
    nfc-tap-switch) debian=packaging/switch/debian ;;
    *)
        echo "make-deb: no package is called $name. $usage" >&2
        exit 64
        ;;
esac

tree=$folder/$name-$version
mkdir -p "$tree"
cp -a "$debian" "$tree/debian"
cp -a README.md NOTICE docs packaging scripts share systemd udev "$tree"
cp "systemd/$name.sysusers" "$tree/debian/$name.sysusers"
[ "$name" != nfc-tap ] || cp systemd/nfc-tap.tmpfiles "$tree/debian/nfc-tap.tmpfiles"
if ! grep -q "^$name ($version)" "$debian/changelog"; then
    {
        printf '%s (%s) bookworm; urgency=medium\n\n  * Build of this version.\n\n' "$name" "$version"
        printf ' -- %s  %s\n\n' "$(sed -n 's/^Maintainer: //p' "$debian/control")" \
            "$(date --rfc-email --date "@${SOURCE_DATE_EPOCH:-$(date +%s)}")"
        cat "$debian/changelog"
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
