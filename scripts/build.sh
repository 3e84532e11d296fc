#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds with the Swift package manager and says how far it is: build.sh ARGUMENTS-OF-SWIFT-BUILD… All that the compiler
# says goes to .build/build.log, or to NFC_TAP_BUILD_LOG; after a failure its errors are printed. NFC_TAP_BUILD_FLAGS has arguments for every build.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v "${SWIFT:-swift}" >/dev/null || {
    echo "build: ${SWIFT:-swift} is not in PATH. Install a Swift 6.3 toolchain, see https://www.swift.org/install/linux/, and put its usr/bin into PATH" >&2
    exit 69
}
mkdir -p .build
log=${NFC_TAP_BUILD_LOG:-.build/build.log}

# On a terminal one line that counts; elsewhere a line every few seconds.
progress() {
    local line said=-10 width
    width=$(tput cols 2>/dev/null || echo 80)
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log"
        case $line in
        \[*/*\]\ * | Fetch* | Cloning* | Creating* | Computing* | Updating*)
            if [ -t 1 ]; then
                printf '\r\033[K%s' "${line:0:width-1}"
            elif [ $((SECONDS - said)) -ge 10 ]; then
                said=$SECONDS
                printf '  %s\n' "${line:0:100}"
            fi
            ;;
        esac
    done
    if [ -t 1 ]; then printf '\r\033[K'; fi
}

: >"$log"
status=0
# shellcheck disable=SC2086
${SWIFT:-swift} build "$@" ${NFC_TAP_BUILD_FLAGS:-} 2>&1 | progress || status=$?
[ "$status" -eq 0 ] || {
    grep -E -A 6 '(error|fatal error):' "$log" | head -n 100 || tail -n 40 "$log"
    echo "build: failed; everything is in $log" >&2
    exit "$status"
}
echo "built in $((SECONDS / 60)) min $((SECONDS % 60)) s"
