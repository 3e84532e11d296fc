#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the release products and prints the figures of docs/internals/benchmarks.md: scripts/bench.sh [sections of tap-bench | slow-disk]
#
#   TAPS=N              taps through the daemon (default 300); PC/SC runs twice as many pairs
#   SECONDS_OF_LOAD=N   of 64 lanes at once, in section load (default 60); a third of that with 1 and 8
set -euo pipefail
cd "$(dirname "$0")/.."
taps=${TAPS:-300}
seconds=${SECONDS_OF_LOAD:-60}

# As `make release` builds what is installed, so that the figures are those of the programs of the package.
read -ra flags < <(scripts/release-flags.sh)
for product in tap-bench nfc-tapd nfc-tap-psp-sandbox nfc-tap nfc-tap-ecr nfc-tap-gateway nfc-tap-libnfc-worker; do
    swift build "${flags[@]}" --product "$product" 2>&1 | tail -n 1
done
pinned=()
if command -v taskset >/dev/null; then pinned=(taskset -c "$(($(nproc) - 1))"); fi
bench=$(swift build -c release --show-bin-path)/tap-bench

echo
echo "machine: $(nproc) × $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(uname -srm)," \
    "load $(cut -d ' ' -f 1-3 /proc/loadavg)"
echo "commit:  $(git describe --always --dirty 2>/dev/null || echo unknown), $(swift --version 2>&1 | grep -o 'Swift version [^ ]*')"
echo

# The backtracer would start at a crash and print memory.
export SWIFT_BACKTRACE=enable=no
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A sale where each sync takes 0, 10 and 50 ms more.
slow_disk() {
    cc -shared -fPIC -O1 -o "$folder/disk.so" Tests/Rigs/Disk/disk.c
    for delay in 0 10 50; do
        printf '\nSyncs that take %d ms more\n' "$delay"
        DISK_DELAY=${delay}000 LD_PRELOAD=$folder/disk.so "$bench" --no-heading --taps $(((taps + 4) / 5)) daemon
    done
}

if [ "$*" = slow-disk ]; then
    slow_disk
    exit
fi
if [ $# -gt 0 ]; then
    "$bench" --taps "$taps" --seconds "$seconds" "$@"
    exit
fi
"$bench" --taps "$taps" --seconds "$seconds" bytes transactions keys sealing programs footprint daemon monitors tills gateway gate load books
slow_disk

# Client and pcscd share one processor, so that no wake-up from one processor to another is measured.
"${pinned[@]}" "$bench" --no-heading --taps "$taps" pcsc-fake

# libpcsclite finds one pcscd in the life of a process: the unmodified one gets a process of its own.
mkdir "$folder/readers"
cat >"$folder/readers/bench" <<'STANZA'
FRIENDLYNAME "ACS ACR122U PICC Interface"
DEVICENAME   /dev/null:35963
LIBPATH      /usr/lib/pcsc/drivers/serial/libifdvpcd.so
STANZA
status=0
# pcscd's own lines begin with a time of eight digits.
"${pinned[@]}" Tests/Rigs/VPCD/with-private-pcscd.sh "$folder/readers" \
    "$bench" --no-heading --taps "$taps" pcsc-daemon 2>"$folder/errors" | sed -E '/^[0-9]{8} /d' || status=$?
case $status in
0) ;;
69 | 77) printf '\nunmodified pcscd with vpcd: not measured: %s\n' "$(tail -n 1 "$folder/errors")" ;;
*)
    cat "$folder/errors" >&2
    exit "$status"
    ;;
esac
