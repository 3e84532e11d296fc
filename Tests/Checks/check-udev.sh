#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows every reader of udev/72-nfc-tap.rules to udev, with the other rules of this machine, and holds what udev would do
# against what the rules are for. No reader is needed: umockdev pretends. Says so where it cannot be done.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() {
    echo "check-udev: not checked: $1"
    exit 0
}

if [ "${1:-}" != inside ]; then
    [ "$(id -u)" -eq 0 ] || skip "needs root, for a mount namespace"
    scripts/install-packages.sh umockdev udev libnfc6 libccid
    unshare --mount true 2>/dev/null || skip "mount namespaces are not allowed here"
    exec unshare --mount --propagation private "$0" inside
fi

# Everything below happens in a mount namespace of its own: groups, rules and device numbers of the machine stay.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mount -t tmpfs tmpfs /run
mkdir -p /dev/char
mount -t tmpfs tmpfs /dev/char
sed -E 's/^(nfc-tapd|plugdev):.*//' /etc/group >"$folder/group"
printf 'nfc-tapd:x:990:\nplugdev:x:46:\n' >>"$folder/group"
mount --bind "$folder/group" /etc/group
mkdir -p /run/udev/rules.d
cp udev/72-nfc-tap.rules /run/udev/rules.d/

# $1 vendor, $2 product, $3 interface class: prints what udev would do.
ask() {
    cat >"$folder/device" <<DEVICE
P: /devices/usb1/1-2
N: bus/usb/001/005=12010002000000400000000000020102030109022000
E: DEVNAME=/dev/bus/usb/001/005
E: DEVTYPE=usb_device
E: SUBSYSTEM=usb
E: MAJOR=189
E: MINOR=4
E: BUSNUM=001
E: DEVNUM=005
E: ID_USB_INTERFACES=:$30000:
A: idVendor=$1\\n
A: idProduct=$2\\n
A: busnum=1\\n
A: devnum=5\\n
DEVICE
    umockdev-run --device "$folder/device" -- udevadm test --action="${4:-add}" /sys/devices/usb1/1-2 2>&1
}

failures=0
expect() { # TEXT PATTERN WHAT
    if ! grep -qE "$2" <<<"$1"; then
        echo "check-udev: $3: no line matches $2" >&2
        failures=$((failures + 1))
    fi
}
refuse() { # TEXT PATTERN WHAT
    if grep -qE "$2" <<<"$1"; then
        echo "check-udev: $3: $(grep -E "$2" <<<"$1" | head -n 1)" >&2
        failures=$((failures + 1))
    fi
}

checked=0
while read -r vendor products label; do
    for product in ${products//|/ }; do
        for action in add bind; do
            said=$(ask "$vendor" "$product" 0b "$action")
            refuse "$said" '72-nfc-tap.rules.*([Ii]nvalid|[Uu]nknown|[Uu]nexpected|no matching label)' "$vendor:$product"
            group=root
            [ "$label" = nfc_tap_ccid ] || group=nfc-tapd
            number=$(getent group "$group" | cut -d: -f3)
            # The last word has to be ours: libnfc's own rule comes later and wants another group.
            last=$(grep -E '\.rules:[0-9]+ GROUP ' <<<"$said" | tail -n 1 || true)
            expect "$last" "72-nfc-tap.rules:[0-9]+ GROUP $number\$" "$vendor:$product belongs to $group"
            last=$(grep -E '\.rules:[0-9]+ MODE ' <<<"$said" | tail -n 1 || true)
            expect "$last" '72-nfc-tap.rules:[0-9]+ MODE 0660$' "$vendor:$product is for its group only"
            expect "$said" 'SYSTEMD_WANTS=.*nfc-tapd.service' "$vendor:$product starts the daemon"
            expect "$said" '^ *TAGS=.*:systemd:' "$vendor:$product is shown to systemd"
            refuse "$said" 'CURRENT_TAGS=.*:uaccess:' "$vendor:$product goes to whoever sits at the screen"
        done
        checked=$((checked + 1))
    done
done < <(sed -nE 's/^ATTR\{idVendor\}=="([0-9a-f]{4})", ATTR\{idProduct\}=="([0-9a-f|]+)",.*GOTO="([a-z_]+)"$/\1 \2 \3/p' \
    <(sed -e ':a' -e '/\\$/N; s/\\\n *//; ta' udev/72-nfc-tap.rules))

said=$(ask 1d6b 0002 09)
refuse "$said" 'nfc-tapd' "another device"
[ "$checked" -gt 0 ] || {
    echo "check-udev: no id was found in the rules" >&2
    exit 1
}
[ "$failures" -eq 0 ] || exit 1
echo "check-udev: $checked readers get the right group, mode and service"
