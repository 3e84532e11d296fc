#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the package with its tests and runs them: test.sh [TARGET…], all of them by default; some of a target's tests by what
# their names begin with, as in EMVTests.Kernel3Tests or 'EMVTests.Kernel3Tests/.*expired'. Peers that a test needs are
# installed, not skipped. A line for each target, then a summary; all the rest is in .build/test.log. NFC_TAP_SKIP is a
# pattern for tests that whoever sets it cannot run, or runs elsewhere; make test sets none. NFC_TAP_TESTS names the targets that are built
# where not all are. NFC_TAP_BIN is a folder of programs that are built.
set -euo pipefail
cd "$(dirname "$0")/.."

# A crashing process must not print registers and memory into a log.
export SWIFT_BACKTRACE=enable=no
export NFC_TAP_REQUIRE_PEERS=1
# Deaths of the daemon; make check-kills dies more often.
export NFC_TAP_KILLS=${NFC_TAP_KILLS:-60}
NFC_TAP_PYTHON=$(scripts/install-peers.sh)
export NFC_TAP_PYTHON

ended() {
    # shellcheck disable=SC2046
    kill -- $(jobs -p) 2>/dev/null || true
}
trap ended EXIT

# Targets carry `treatAllWarnings(as: .error)`: a warning in our code fails this build.
if [ -z "${NFC_TAP_BIN:-}" ]; then
    scripts/build.sh --build-tests
    NFC_TAP_BIN=$(swift build --show-bin-path)
fi
export NFC_TAP_BIN
# The package manager would run one target at a time.
program=$(ls "$NFC_TAP_BIN"/*PackageTests.xctest)

# Logs, journals and messages of the whole run are kept and searched for card numbers when it is over.
NFC_TAP_ARTIFACTS=$(mktemp -d)
export NFC_TAP_ARTIFACTS
# Some tests ask as another user, who has to get through to the socket; what is in the folder has rights of its own.
chmod 711 "$NFC_TAP_ARTIFACTS"
results=$(mktemp -d)
trap 'ended; wait; rm -rf "$NFC_TAP_ARTIFACTS" "$results"' EXIT

# A pcscd of the test's own needs a root; without one, that of a user namespace will do.
become=()
if [ "$(id -u)" -ne 0 ]; then
    if unshare --user --map-root-user --mount --net true 2>/dev/null; then
        become=(unshare --user --map-root-user)
    else
        echo "test: user namespaces are not allowed here: tests with a pcscd of their own will fail; run as root"
    fi
fi

# The folder of a target's tests, on its floor or beside the house.
folder() { find Tests -mindepth 1 -maxdepth 2 -type d -name "$1" -print -quit; }

# run NAME FILTER: the tests whose names match, in a process of their own, and a line about them.
run() {
    local name=$1 filter=$2 folder begin=$SECONDS status=0 order=() as=()
    folder=$(folder "${1%%[. ]*}")
    local log=$NFC_TAP_ARTIFACTS/$name.log
    # Tests that start programs do so one after the other: Foundation's Process is not made for many at a time.
    if grep -rqE 'Process\(\)|Peer\.[a-z]+\(' "$folder"; then order=(--no-parallel); fi
    if [ -n "${NFC_TAP_SKIP:-}" ]; then order+=(--skip "$NFC_TAP_SKIP"); fi
    if grep -rq 'PrivatePCSCD' "$folder"; then as=("${become[@]}"); fi
    # What it computes, beside how long it takes: a test that waits is cheap, and runs beside others.
    local TIMEFORMAT='%U %S'
    { time "${as[@]}" "$program" --testing-library swift-testing "${order[@]}" --filter "$filter" >"$log" 2>&1; } \
        2>"$results/$name.times" || status=$?
    sed -i 's/\x1b\[[0-9;]*m//g' "$log"

    local ran failed skipped
    ran=$(sed -nE 's/^. Test run with ([0-9]+) tests?.*/\1/p' "$log" | tail -n 1)
    failed=$(grep -E '^✘ Test .* failed after' "$log" | grep -cv '^✘ Test run with' || true)
    skipped=$(grep -cE '^(➜ Test .* skipped|not tried)' "$log" || true)
    # A process that died says nothing of how many it ran; a filter that matches nothing must not pass.
    if [ -z "$ran" ] || [ "$ran" -eq 0 ]; then ran=0 failed=$((failed + 1)); fi
    if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
    printf '%s %s %s\n' "$ran" "$failed" "$skipped" >"$results/$name"
    local verdict="$ran tests"
    if [ "$failed" -gt 0 ]; then verdict+=", $failed FAILED"; fi
    if [ "$skipped" -gt 0 ]; then verdict+=", $skipped skipped"; fi
    # In one go, for others report at the same time.
    local report
    report=$(printf '%-24s %-32s %4d s %4d s of processor\n' "$name" "$verdict" "$((SECONDS - begin))" \
        "$(awk '{ printf "%d", $1 + $2 }' "$results/$name.times")")
    rm -f "$results/$name.times"
    if [ "$skipped" -gt 0 ]; then
        report+=$'\n'$(grep -E '^(➜ Test .* skipped|not tried)' "$log" | sed -E 's/^(➜ )?/    /')
    fi
    if [ "$failed" -gt 0 ]; then
        failures "$log" >"$results/$name.failures"
        report+=$'\n'$(cat "$results/$name.failures")
    fi
    printf '%s\n' "$report"
}

# What failed tests said, and after a crash which tests had begun.
failures() {
    awk '/^(◇|✔|➜|↳ Testing|↳ Target)/ { shown = 0 } /^✘/ || /^error/ || /[Ff]atal/ { shown = 1 } shown { print "    " $0 }' "$1"
    grep -q 'Test run with' "$1" || {
        echo "    The process ended before its tests did. Begun and not ended:"
        awk '/^◇ Test .* started/ && !/^◇ Test (run|case) / { sub(/^◇ Test /, ""); sub(/ started.*/, ""); begun[$0] = 1 }
            /^(✔|✘) Test .* after/ {
                sub(/^(✔|✘) Test /, ""); sub(/ (with [0-9]+ test cases? )?(passed|failed) after.*/, ""); delete begun[$0] }
            END { for (name in begun) print "      " name }' "$1"
        tail -n 5 "$1" | sed 's/^/    /'
    }
}

# The suites of a target that get a process of their own, by the first letter of their names. Their tests start programs
# one after the other and wait for them, so several processes take little more of the processors than one. Tests of the switch with a
# proxy send their requests in its time: they share no threads with those that wait for a database.
parts() {
    case $1 in
    EndToEndTests) echo A-C D-L M-R S ^A-S ;;
    TapDaemonTests) echo A-O P ^A-P ;;
    SwitchTests) echo CP ^CP ;;
    *) echo A-Z ;;
    esac
}

# One process for each target: tests that wait for programs block threads that others would need. The longest come first
# and run beside the rest.
targets=()
for target in ${*:-EndToEndTests TapDaemonTests ReaderPCSCTests ReaderNFCTests TransactionsTests JournalTests TapSessionTests
    $(find Tests -mindepth 1 -maxdepth 2 -type d -name '*Tests' -printf '%f\n' | sort)}; do
    [ -n "$(folder "${target%%.*}")" ] || continue
    [[ $# -gt 0 || -z ${NFC_TAP_TESTS:-} || " $NFC_TAP_TESTS " == *" $target "* ]] || continue
    [[ " ${targets[*]} " == *" $target "* ]] || targets+=("$target")
done
if [ ${#targets[@]} -eq 0 ]; then
    echo "test: no such target: $*" >&2
    exit 64
fi
for target in "${targets[@]}"; do
    for part in $([[ $target == *.* ]] && echo some || parts "$target"); do
        while [ "$(jobs -rp | wc -l)" -ge $(($(nproc) * 3)) ]; do wait -n || true; done
        case $part in
        some) run "${target//[^A-Za-z0-9.]/-}" "^$target" & ;;
        A-Z) run "$target" "^$target\\." & ;;
        *) run "$target.$part" "^$target\\.[$part]" & ;;
        esac
    done
done
wait

# Once more and last, for who sees only the end of a long output.
for log in "$results"/*.failures; do
    [ -e "$log" ] || continue
    echo "failed in $(basename "$log" .failures):"
    # awk reads to the end: a pipe that closes early would end this script before it has said what it counted.
    awk 'NR <= 40 { print substr($0, 1, 400) }' "$log"
done
rm -f "$results"/*.failures

read -r ran failed skipped < <(cat "$results"/* | awk '{ a += $1; b += $2; c += $3 } END { print a, b, c }')
status=0
[ "$failed" -eq 0 ] || status=1
leaks=$(Tests/Checks/Secrets/check-leaks.sh "$NFC_TAP_ARTIFACTS" 2>&1) || status=1
for log in "$NFC_TAP_ARTIFACTS"/*Tests*.log; do printf '\n== %s\n' "$(basename "$log" .log)" && cat "$log"; done >.build/test.log
echo "$leaks"
echo "test: $ran tests in ${#targets[@]} targets, $failed failed, $skipped skipped," \
    "$((SECONDS / 60)) min $((SECONDS % 60)) s; details in .build/test.log"
exit "$status"
