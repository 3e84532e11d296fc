#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The readers' faults on the built programs: check-wobbles.sh COUNT SEED SHARDS ONLY. Tests whose names match ONLY run one after the
# other, and then COUNT sales with faults at random, from SEED on, in SHARDS processes at a time. Each process has a daemon, a pcscd and
# readers of its own: what one daemon lets one user ask in a second is what bounds it. A failure tells its seed; with COUNT 1 and that
# SEED it is run alone. What the processes say is in .build/wobbles.
set -euo pipefail
cd "$(dirname "$0")/../.."
count=$1 seed=$2 shards=$3 only=$4

export SWIFT_BACKTRACE=enable=no CI=1
NFC_TAP_BIN=${NFC_TAP_BIN:-$(swift build --show-bin-path)}
export NFC_TAP_BIN
program=$(ls "$NFC_TAP_BIN"/*PackageTests.xctest)
logs=.build/wobbles
rm -rf "$logs"
mkdir -p "$logs"
random='WobbleSweepTests/random'
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT

# run NAME COUNT SEED ARGUMENT…: how many cases, how many of them wrong, and each that is.
run() {
    local log=$logs/$1.log status=0
    NFC_TAP_WOBBLES=$2 NFC_TAP_SEED=$3 "$program" --testing-library swift-testing --no-parallel "${@:4}" >"$log" 2>&1 || status=$?
    sed -i 's/\x1b\[[0-9;]*m//g' "$log"
    grep -E '^([a-z ]+: [0-9]+ cases|[0-9]+ wobbles)' "$log" | grep -v 'so far' || true
    grep -E '^✘ ' "$log" || true
    if ! grep -qE '^. Test run with [1-9]' "$log"; then
        echo "check-wobbles: $1 ran nothing, or died: $log"
        return 1
    fi
    return "$status"
}

failed=0
if [ "$only" != "$random" ]; then run others "$count" "$seed" --filter "$only" --skip "$random" || failed=1; fi
if [[ $random =~ $only ]]; then
    share=$(((count + shards - 1) / shards))
    processes=()
    for ((from = seed; from < seed + count; from += share)); do
        left=$((seed + count - from))
        run "random-$from" $((left < share ? left : share)) "$from" --filter "$random" &
        processes+=($!)
    done
    for process in "${processes[@]}"; do wait "$process" || failed=1; done
fi
[ "$failed" -eq 0 ] || echo "check-wobbles: something was wrong"
exit "$failed"
