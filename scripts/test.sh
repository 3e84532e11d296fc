#!/usr/bin/env bash
# Builds the package with its tests and runs them all. Peers that a test needs are installed, not skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

# A crashing process must not print registers and memory into a log.
export SWIFT_BACKTRACE=enable=no
export NFC_TAP_REQUIRE_PEERS=1
NFC_TAP_PYTHON=$(scripts/install-peers.sh)
export NFC_TAP_PYTHON

# Targets carry `treatAllWarnings(as: .error)`: a warning in our code fails this build.
swift build --build-tests
export NFC_TAP_BIN
NFC_TAP_BIN=$(swift build --show-bin-path)
swift test --skip-build "$@"
