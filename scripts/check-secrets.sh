#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Taps cards many times at a real daemon and searches its memory, files, logs and sockets for what it read of them:
# scripts/check-secrets.sh [TAPS], default 1000. As root: the daemon's memory is closed to everybody else.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || {
    echo "check-secrets: run it as root: nobody else may read the daemon's memory"
    exit 77
}
swift build --build-tests 2>&1 | tail -n 1
NFC_TAP_TAPS=${1:-1000} swift test --skip-build --no-parallel --filter '^EndToEndTests\.SecretScanTests' 2>&1 |
    grep -E '^scan-secrets|^✘|^✔|^↳|Test run with'
