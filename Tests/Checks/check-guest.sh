#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rules, units and hot-plug where they really happen: check-guest.sh [FOLDER-WITH-RELEASE-PROGRAMS]. Boots Debian with its
# own kernel and systemd in QEMU, installs the package there, and plugs an emulated ACR122U into its USB, takes a sale on
# it, pulls it out, and puts others in its place. The hub types a thousand texts with each layout. Needs root, amd64 and the network the first time; what it fetches and
# makes stays in .build/guest. Ends with 77, which no caller takes for a pass, where it cannot run.
#
#   NFC_TAP_GUEST_ACCELERATOR=kvm   instead of tcg, which needs no processor of a certain kind and takes a minute longer
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=bookworm
# What the guest needs beyond the package's own dependencies.
include=systemd-sysv,udev,kmod,dbus,curl,acl
modules="virtio_pci virtio_blk virtio_console ext4 xhci_pci pn533_usb uinput evdev"

say() { echo "check-guest: $*"; }
cannot() {
    say "CANNOT RUN, nothing was checked: $*" >&2
    exit 77
}

[ "$(id -u)" -eq 0 ] || cannot "making the guest's file system needs root"
[ "$(dpkg --print-architecture)" = amd64 ] || cannot "the guest is made for amd64 only"
scripts/install-packages.sh qemu-system-x86 mmdebstrap busybox-static cpio e2fsprogs python3 debhelper dpkg-dev ||
    cannot "QEMU or mmdebstrap cannot be installed"
command -v qemu-system-x86_64 >/dev/null || cannot "there is no qemu-system-x86_64"
accelerator=${NFC_TAP_GUEST_ACCELERATOR:-tcg}
[ "$accelerator" != kvm ] || [ -w /dev/kvm ] || cannot "there is no /dev/kvm that could be written to"

bin=${1:-}
if [ -z "$bin" ]; then
    make release
    bin=$(swift build -c release --show-bin-path)
fi
bin=$(realpath "$bin")
swift build --product rig-card 2>&1 | tail -n 1
card=$(swift build --show-bin-path)/rig-card

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
package=$(scripts/make-deb.sh nfc-tap "$bin" "$work/deb")
# On a shop's machine apt brings these; the guest has no network, so they are in its image.
needs=$(dpkg-deb --field "$package" Depends Recommends | sed -e 's/^[A-Za-z-]*: //' -e 's/([^)]*)//g' -e 's/|[^,]*//g' |
    tr ',\n' '\n\n' | tr -d ' ' | sort -u | paste -s -d ,)

# --- the guest, made anew when its recipe changes
guest=$PWD/.build/guest
recipe=$(cat "$0" <(echo "$needs") | sha256sum)
if [ "$(cat "$guest/recipe" 2>/dev/null)" != "$recipe" ]; then
    say "making the guest: Debian $suite with $include,$needs"
    rm -rf "$guest"
    mkdir -p "$guest"
    kernel=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p')
    [ -n "$kernel" ] || { apt-get update >/dev/null 2>&1 || true; }
    kernel=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p')
    [ -n "$kernel" ] || cannot "apt knows no linux-image-amd64"
    (cd "$work" && apt-get download "$kernel" >"$work/log" 2>&1) || cannot "$kernel cannot be fetched: $(tail -n 1 "$work/log")"
    dpkg-deb -x "$work/$kernel"_*.deb "$work/kernel"
    release=${kernel#linux-image-}
    tree=$work/tree
    mmdebstrap --quiet --variant=minbase --include="$include,$needs" "$suite" "$tree" >"$work/log" 2>&1 ||
        cannot "Debian cannot be fetched: $(tail -n 1 "$work/log")"

    # Only the modules that the guest loads, with what they need.
    mkdir -p "$work/lib" "$tree/lib/modules"
    mv "$work/kernel/lib/modules/$release" "$tree/lib/modules/"
    chroot "$tree" depmod "$release"
    for module in $modules; do
        chroot "$tree" modprobe --set-version="$release" --show-depends "$module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$work/list"
    mv "$tree/lib/modules/$release" "$work/modules"
    initrd=$work/initrd
    mkdir -p "$tree/lib/modules/$release" "$initrd"/{bin,modules,root,proc,dev}
    cp "$work"/modules/modules.{builtin,builtin.modinfo,order} "$tree/lib/modules/$release/"
    while read -r module; do
        within=${module#/lib/modules/"$release"/}
        install -D -m 0644 "$work/modules/$within" "$tree$module"
        cp "$work/modules/$within" "$initrd/modules/"
    done <"$work/list"
    chroot "$tree" depmod "$release"

    # A first process that loads what the disk needs and hands over to systemd.
    cp /bin/busybox "$initrd/bin/"
    grep -vE '/(usb|nfc|net)/' "$work/list" | xargs -n 1 basename >"$initrd/modules/list"
    cat >"$initrd/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox mount -t proc proc /proc
while read -r module; do /bin/busybox insmod "/modules/$module"; done </modules/list
/bin/busybox mount -t ext4 /dev/vda /root
/bin/busybox mount --move /dev /root/dev
/bin/busybox umount /proc
exec /bin/busybox switch_root /root /sbin/init
INIT
    chmod +x "$initrd/init"
    (cd "$initrd" && find . | cpio --quiet --create --format=newc | gzip -1) >"$guest/initrd"
    cp "$work/kernel/boot/vmlinuz-$release" "$guest/kernel"

    # A root shell for the test, behind a port of the machine.
    cat >"$tree/usr/local/sbin/guest-shell" <<'SHELL'
#!/bin/bash
until [ -e /dev/virtio-ports/shell ]; do sleep 0.1; done
exec 3<>/dev/virtio-ports/shell
echo "guest is up" >&3
while read -r number script <&3; do
    said=$(timeout 120 bash -c "$(base64 --decode <<<"$script")" </dev/null 2>&1)
    status=$?
    printf '%s %s %s\n' "$number" "$status" "$(base64 --wrap=0 <<<"$said")" >&3
done
SHELL
    chmod +x "$tree/usr/local/sbin/guest-shell"
    cat >"$tree/etc/systemd/system/guest-shell.service" <<'UNIT'
[Unit]
After=systemd-udev-trigger.service multi-user.target
[Service]
ExecStart=/usr/local/sbin/guest-shell
[Install]
WantedBy=multi-user.target
UNIT
    sed -i '/^After=/s/ multi-user.target//' "$tree/etc/systemd/system/guest-shell.service"
    chroot "$tree" systemctl enable --quiet guest-shell.service
    echo virtio_console >"$tree/etc/modules-load.d/guest.conf"
    echo nfc-tap-guest >"$tree/etc/hostname"
    : >"$tree/etc/machine-id"
    mke2fs -q -t ext4 -d "$tree" "$guest/disk" 1400M
    rm -rf "$tree"
    echo "$recipe" >"$guest/recipe"
fi

size=$(stat -c %s "$package")
truncate --size=%512 "$package"
python3 Tests/Rigs/USB/scenario.py --guest "$guest" --package "$package" --package-size "$size" --card "$card" \
    --accelerator "$accelerator" --work "$work"
