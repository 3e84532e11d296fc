#!/usr/bin/env bash
# Holds the systemd units against systemd's own checkers. Prints why where a checker is not here.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v systemd-analyze >/dev/null; then
    echo "check-units: systemd-analyze is not installed; units not checked"
    exit 0
fi

# verify refuses a unit whose program is missing, and only warns of unknown keys: any line it prints is a failure.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for unit in systemd/*.service systemd/*.socket; do
    sed -E 's#^(ExecStart=)[^ ]+.*#\1/bin/true#' "$unit" >"$folder/$(basename "$unit")"
done
complaints=$(cd "$folder" && systemd-analyze verify --man=no ./*.service ./*.socket 2>&1 | grep "nfc-tap" || true)
if [ -n "$complaints" ]; then
    printf 'check-units: systemd-analyze verify says:\n%s\n' "$complaints" >&2
    exit 1
fi
# The threshold is the exposure score times ten.
systemd-analyze security --offline=true --threshold=5 "systemd/nfc-tapd.service" >"$folder/score" 2>&1 || {
    tail -n 3 "$folder/score" >&2
    echo "check-units: nfc-tapd.service scores above 0.5" >&2
    exit 1
}
tail -n 1 "$folder/score"
