#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Taps for hours and shows what the daemon holds meanwhile: Tests/Checks/Soak/soak.sh [folder with the programs]
#
#   TAPS=N        taps on the virtual reader (default 100000); 0 for none
#   PCSC_TAPS=N   taps on the unmodified pcscd with vpcd's readers (default 5000); 0 for none
#   LANES=N       lanes with virtual readers, tapping at the same time (default 4)
#   PCSC_LANES=N  lanes with vpcd's readers (default 8, which is the most)
set -euo pipefail
cd "$(dirname "$0")/../../.."
taps=${TAPS:-100000} pcsc=${PCSC_TAPS:-5000} lanes=${LANES:-4} pcsc_lanes=${PCSC_LANES:-8}
binaries=${1:-}
if [ -z "$binaries" ]; then
    for product in nfc-tapd nfc-tap-psp-sandbox nfc-tap nfc-tap-libnfc-worker; do
        swift build -c release --product "$product" 2>&1 | tail -n 1
    done
    binaries=$(swift build -c release --show-bin-path)
fi
export SWIFT_BACKTRACE=enable=no
status=0
if [ "$taps" -gt 0 ]; then
    python3 Tests/Checks/Soak/soak.py virtual "$binaries" --taps "$taps" --lanes "$lanes" || status=1
fi
if [ "$pcsc" -gt 0 ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    mkdir "$folder/readers"
    # vpcd keeps its two slots in variables of its own: under another name pcscd loads it once more, with two others.
    for ((lane = 0; lane < pcsc_lanes; lane++)); do
        cp /usr/lib/pcsc/drivers/serial/libifdvpcd.so "$folder/vpcd-$lane.so"
        printf 'FRIENDLYNAME "Soak PICC %d"\nDEVICENAME   /dev/null:%d\nLIBPATH      %s\n\n' \
            "$lane" "$((35963 + 2 * lane))" "$folder/vpcd-$lane.so"
    done >"$folder/readers/soak"
    # pcscd's own lines begin with a time of eight digits.
    Tests/Rigs/VPCD/with-private-pcscd.sh "$folder/readers" \
        python3 Tests/Checks/Soak/soak.py pcsc "$binaries" --taps "$pcsc" --lanes "$pcsc_lanes" 2>"$folder/errors" |
        sed -E '/^[0-9]{8} /d' || { status=1 && sed -E '/^[0-9]{8} /d' "$folder/errors" >&2; }
fi
exit $status
