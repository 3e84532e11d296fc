#!/usr/bin/env bash
# Runs the fuzz target: scripts/fuzz.sh [inputs, default 1000000] [more libFuzzer options]
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-1000000}
shift || true

export NFC_TAP_FUZZ=1 SWIFT_BACKTRACE=enable=no
swift build -c release --product fuzz-cards --scratch-path .build-fuzz \
    -Xswiftc -sanitize=address -Xswiftc -use-ld=lld \
    -Xswiftc -sanitize-coverage=edge,inline-8bit-counters,pc-table,trace-cmp
mkdir -p .build-fuzz/corpus
.build-fuzz/release/fuzz-cards -runs="$runs" -max_len=1024 "$@" .build-fuzz/corpus
