#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts everything that the package nfc-tap-switch holds into a folder: stage.sh DESTDIR FOLDER-WITH-RELEASE-PROGRAMS
set -euo pipefail
cd "$(dirname "$0")/../.."
destination=${1:?usage: stage.sh DESTDIR FOLDER-WITH-RELEASE-PROGRAMS}
bin=${2:?usage: stage.sh DESTDIR FOLDER-WITH-RELEASE-PROGRAMS}
share=$destination/usr/share
programs=(nfc-tap-switch nfc-tap-profile nfc-tap-acquirer-sim)

for program in "${programs[@]}"; do
    install -D -m 0755 -s "$bin/$program" "$destination/usr/bin/$program"
    section=8
    [ "$program" != nfc-tap-acquirer-sim ] || section=1
    install -d "$share/man/man$section"
    python3 packaging/make-manual.py program "$bin/$program" $section >"$share/man/man$section/$program.$section"
done
for unit in nfc-tap-switch@.service nfc-tap-switch-day.service nfc-tap-switch-day.timer; do
    install -D -m 0644 "systemd/$unit" "$destination/lib/systemd/system/$unit"
done
install -D -m 0644 docs/examples/switch.env "$destination/etc/nfc-tap-switch/switch.env"
install -D -m 0644 -t "$share/doc/nfc-tap-switch" NOTICE docs/service/*.md
for file in docs/examples/switch-alerts.yml docs/examples/haproxy-adapter.cfg docs/examples/haproxy-centre.cfg docs/examples/haproxy-acquirer.cfg; do
    install -D -m 0644 "$file" "$share/doc/nfc-tap-switch/examples/$(basename "$file")"
done
(cd "$share/doc/nfc-tap-switch" && printf '%s\n' *.md) | xargs python3 packaging/package-links.py "$share/doc/nfc-tap-switch" docs/service
