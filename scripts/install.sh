#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs programs, units and rules: install.sh DESTDIR PREFIX FOLDER-WITH-THE-PROGRAMS
# Starts nothing and makes no user: systemd-sysusers and `systemctl enable --now nfc-tapd.socket` are the administrator's.
set -euo pipefail
cd "$(dirname "$0")/.."
destination=$1 prefix=$2 programs=$3

[ -e "$programs/nfc-tap-programs" ] || {
    echo "install: $programs has no nfc-tap-programs, which is all programs in one: run make release" >&2
    exit 66
}
# One executable, and a hard link to it for each of its names; the worker, which alone loads libnfc, is another.
bin=$destination$prefix/bin
install -D -m 0755 -s "$programs/nfc-tap-programs" "$bin/nfc-tap"
while read -r program; do
    [ "$program" = nfc-tap ] || ln -f "$bin/nfc-tap" "$bin/$program"
done <"$programs/nfc-tap-programs.names"
install -D -m 0755 -s "$programs/nfc-tap-libnfc-worker" "$bin/nfc-tap-libnfc-worker"

units=$destination/etc/systemd/system
[ "$prefix" = /usr ] && units=$destination/usr/lib/systemd/system
for unit in nfc-tapd.service nfc-tapd.socket nfc-tap-psp-sandbox.service nfc-tap-ecr.service \
    nfc-tap-hub.service nfc-tap-remote.service nfc-tap-gateway.socket nfc-tap-gateway.service; do
    install -D -m 0644 "systemd/$unit" "$units/$unit"
    sed -i "s#/usr/bin/nfc-#$prefix/bin/nfc-#" "$units/$unit"
done
for drop_in in systemd/*.service.d/*.conf; do
    install -D -m 0644 "$drop_in" "$destination/usr/share/nfc-tap/${drop_in##*/}"
done
# The pages of till and display, which the gateway serves; the kiosk's unit is an example to be copied.
pages=$(find share/till -type f -printf '%P\n')
while read -r page; do
    install -D -m 0644 "share/till/$page" "$destination/usr/share/nfc-tap/till/$page"
done <<<"$pages"
install -D -m 0644 systemd/nfc-tap-kiosk.service "$destination/usr/share/nfc-tap/nfc-tap-kiosk.service"
sed -i "s#/usr/bin/nfc-#$prefix/bin/nfc-#" "$destination/usr/share/nfc-tap/nfc-tap-kiosk.service"
install -D -m 0644 systemd/nfc-tap-polkit.rules "$destination/usr/share/polkit-1/rules.d/50-nfc-tap.rules"
install -D -m 0644 systemd/nfc-tap.sysusers "$destination/usr/lib/sysusers.d/nfc-tap.conf"
install -D -m 0644 systemd/nfc-tap.tmpfiles "$destination/usr/lib/tmpfiles.d/nfc-tap.conf"
install -D -m 0644 udev/72-nfc-tap.rules "$destination/usr/lib/udev/rules.d/72-nfc-tap.rules"
install -D -m 0644 udev/nfc-tap-modprobe.conf "$destination/usr/lib/modprobe.d/nfc-tap.conf"
[ -e "$destination/etc/nfc-tap/nfc-tapd.toml" ] ||
    install -D -m 0644 docs/examples/nfc-tapd.toml "$destination/etc/nfc-tap/nfc-tapd.toml"
echo "installed under $destination$prefix; next: systemd-sysusers, systemctl daemon-reload, systemctl enable --now nfc-tapd.socket nfc-tapd"
