#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes packaging/function-order.txt anew: which functions nfc-tapd runs while nobody taps and somebody asks how it is, as callgrind
# sees them for SECONDS, and after them those that it runs only until its first lane is prepared:
# order-functions.sh FOLDER-WITH-RELEASE-PROGRAMS [SECONDS, default 25]
#
# A function that is not in the file costs memory or time and nothing else, and a name that no program has any more is passed over.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:?usage: order-functions.sh FOLDER-WITH-RELEASE-PROGRAMS [SECONDS]}")
seconds=${2:-25}
runtime=$(dirname "$(readlink -f "$(command -v swift)")")/../lib/swift_static/linux
folder=$(mktemp -d)
chmod 700 "$folder"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
mkdir -m 700 "$folder/state"
cat >"$folder/nfc-tapd.toml" <<CONFIGURATION
[pos]
socket = "$folder/pos.sock"
[psp]
socket = "$folder/psp.sock"
[journal]
directory = "$folder/state"
[terminal]
id = "00000000"
merchant = "shop-1"
[[lane]]
name = "main"
reader = "virtual:$folder/reader.sock"
CONFIGURATION

# valgrind 3.19 cannot read the debug information of swift-nio's C files and gives up.
strip -g -o "$folder/nfc-tapd" "$bin/nfc-tapd"
SWIFT_BACKTRACE=enable=no valgrind --tool=callgrind --demangle=no --callgrind-out-file="$folder/calls" \
    "$folder/nfc-tapd" --config "$folder/nfc-tapd.toml" --runtime-directory "$folder" --state-directory "$folder/state" \
    >"$folder/log" 2>&1 &
for _ in $(seq 120); do
    ! grep -q 'lane prepared' "$folder/log" || break
    sleep 1
done
grep -q 'lane prepared' "$folder/log" || {
    cat "$folder/log" >&2
    exit 1
}
daemon=$!
callgrind_control -d $daemon >/dev/null
callgrind_control -i off $daemon >/dev/null
# What only the start needs is over by then.
sleep 8
callgrind_control -i on $daemon >/dev/null
for _ in $(seq "$seconds"); do
    sleep 1
    curl -s --max-time 20 -o /dev/null --unix-socket "$folder/pos.sock" http://localhost/v1/status
done
callgrind_control -d $daemon >/dev/null
sleep 2

sections() { readelf -SW "$@" 2>/dev/null | grep -oE '\.text\.[^ ]+' || true; }
{
    find -L "$bin" -name '*.o' -print0 | xargs -0 readelf -SW 2>/dev/null | grep -oE '\.text\.[^ ]+'
    for archive in "$runtime"/*.a; do sections "$archive"; done
} | LC_ALL=C sort -u >"$folder/sections"
# The functions of a dump that are a section's.
functions() { sed -nE 's/^c?fn=\([0-9]+\) (.+)/.text.\1/p' "$1" | LC_ALL=C sort -u | LC_ALL=C comm -12 - "$folder/sections"; }
functions "$folder/calls.2" >"$folder/rest"
functions "$folder/calls.1" | LC_ALL=C comm -23 - "$folder/rest" >"$folder/start"
cat "$folder/rest" "$folder/start" >packaging/function-order.txt
echo "order-functions: $(wc -l <"$folder/rest") functions of a daemon at rest and $(wc -l <"$folder/start") of its start" \
    "in packaging/function-order.txt"
