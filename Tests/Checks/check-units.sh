#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the systemd units against systemd's own checkers. Prints why where a checker is not here.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v systemd-analyze >/dev/null; then
    echo "check-units: systemd-analyze is not installed; units not checked"
    exit 0
fi

# verify refuses a unit whose program is missing, and only warns of unknown keys: any line it prints is a failure.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for unit in systemd/*.service systemd/*.socket systemd/*.timer; do
    sed -E 's#^(ExecStart=)[^ ]+.*#\1/bin/true#' "$unit" >"$folder/$(basename "$unit")"
done
complaints=$(cd "$folder" && systemd-analyze verify --man=no ./*.service ./*.socket ./*.timer 2>&1 | grep "nfc-tap" || true)
if [ -n "$complaints" ]; then
    printf 'check-units: systemd-analyze verify says:\n%s\n' "$complaints" >&2
    exit 1
fi
# The threshold is the exposure score times ten. A unit beside its drop-ins is scored with them, so each goes alone.
score() { # UNIT THRESHOLD [DROP-IN]
    rm -rf "$folder/alone"
    mkdir -p "$folder/alone/$1.d"
    cp "systemd/$1" "$folder/alone/"
    [ -z "${3:-}" ] || cp "systemd/$1.d/$3" "$folder/alone/$1.d/"
    systemd-analyze security --offline=true --threshold="$2" "$folder/alone/$1" >"$folder/score" 2>&1 || {
        tail -n 3 "$folder/score" >&2
        echo "check-units: $1 ${3:+with $3 }scores above $2 tenths" >&2
        exit 1
    }
    echo "${3:-$1}: $(tail -n 1 "$folder/score" | sed -E 's/.*: ([0-9.]+ [A-Z]+).*/\1/')"
}
score nfc-tapd.service 5
score nfc-tapd.service 6 usb.conf
score nfc-tapd.service 6 netlink.conf
score nfc-tapd.service 6 serial.conf
score nfc-tap-psp-sandbox.service 5
score nfc-tap-gateway.service 5
score nfc-tap-remote.service 5
score nfc-tap-switch-day.service 11
# It reaches the acquirer and databases on other machines.
score nfc-tap-switch@.service 11
# It reaches a broker and web servers on this machine.
score nfc-tap-hub.service 11
# It listens, so that it needs addresses of the internet.
score nfc-tap-ecr.service 11
