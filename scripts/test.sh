#!/usr/bin/env bash
# Builds the package with its tests and runs them all. Peers that a test needs are installed, not skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

# A crashing process must not print registers and memory into a log.
export SWIFT_BACKTRACE=enable=no
export NFC_TAP_REQUIRE_PEERS=1
# Deaths of the daemon; make check-kills dies more often.
export NFC_TAP_KILLS=${NFC_TAP_KILLS:-60}
NFC_TAP_PYTHON=$(scripts/install-peers.sh)
export NFC_TAP_PYTHON

# Targets carry `treatAllWarnings(as: .error)`: a warning in our code fails this build.
swift build --build-tests
export NFC_TAP_BIN
NFC_TAP_BIN=$(swift build --show-bin-path)

# Logs, journals and messages of the whole run are kept and searched for card numbers when it is over.
NFC_TAP_ARTIFACTS=$(mktemp -d)
export NFC_TAP_ARTIFACTS
# Some tests ask as another user, who has to get through to the socket; what is in the folder has rights of its own.
chmod 711 "$NFC_TAP_ARTIFACTS"
trap 'rm -rf "$NFC_TAP_ARTIFACTS"' EXIT
# One process for each test target: tests that wait for programs block threads that others would need.
status=0
for target in ${1:-$(ls Tests)}; do
    [ -n "$(find "Tests/$target" -maxdepth 2 -name '*Tests.swift' -print -quit)" ] || continue
    echo "== $target"
    # Tests that start programs do so one after the other: Foundation's Process is not made for many at a time.
    order=()
    grep -rq 'Process()' "Tests/$target" && order=(--no-parallel)
    # A pcscd of the test's own needs a root; without one, that of a user namespace will do.
    become=()
    if [ "$(id -u)" -ne 0 ] && grep -rq 'PrivatePCSCD' "Tests/$target"; then
        if unshare --user --map-root-user --mount --net true 2>/dev/null; then
            become=(unshare --user --map-root-user)
        else
            echo "test: user namespaces are not allowed here: tests with a pcscd of their own will fail; run as root"
        fi
    fi
    set +e
    "${become[@]}" swift test --skip-build "${order[@]}" --filter "^$target\\." 2>&1 | tee "$NFC_TAP_ARTIFACTS/$target.log" |
        grep -vE 'Testing Library Version|Target Platform' | grep -E '^✘|^↳|^◇ .*recorded|Test run with|^error|[Ff]atal|not tried'
    [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
    set -e
done
[ "$status" -eq 0 ] || {
    echo "test: some tests failed"
    exit 1
}
scripts/check-leaks.sh "$NFC_TAP_ARTIFACTS"
