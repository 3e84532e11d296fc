#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-threads.sh [--build | --left] [TARGET…]: the tests of the daemon, of its journal and of the readers under the thread sanitizer. Fails
# where any process that takes part has a data race, and prints where both sides are. --build makes the programs and runs nothing;
# --left prints a pattern of the daemon's tests that do not run here, for scripts/test.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
all=(TapDaemonTests ReaderPCSCTests ReaderNFCTests ReaderVirtualTests ReaderCoreTests JournalTests LocalHTTPTests)
run=yes
if [ "${1:-}" = --build ]; then run= && shift; fi
# The sanitizer makes mlockall(2) do nothing, so what the daemon locks cannot be seen here. A library that is preloaded to watch files would
# stand between the sanitizer and the calls that it watches itself. A death says nothing of a race.
daemon='ProgramTests/(locks|startCode)\(|DurableNameTests/|[A-Za-z]*KillTests/'
if [ "${1:-}" = --left ]; then
    echo "TapDaemonTests.($daemon)"
    exit
fi
targets=("$@")
[ $# -gt 0 ] || targets=("${all[@]}")

# The manifest leaves the other tests out: a build of its own that need not be complete, and that nobody edits against.
# A report needs names and lines, and no more of the debug information.
NFC_TAP_BUILD_FLAGS='' NFC_TAP_BUILD_LOG=.build/build-tsan.log NFC_TAP_TESTS=${all[*]} scripts/build.sh \
    --scratch-path .build-tsan --sanitize=thread -debug-info-format none -Xswiftc -gline-tables-only -Xswiftc -use-ld=lld \
    -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -no-emit-module-separately-wmo \
    --product nfc-tapPackageTests
[ -n "$run" ] || exit 0
bin=$(swift build --scratch-path .build-tsan --show-bin-path)

reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
# Every process runs several times as long here.
export NFC_TAP_WOBBLES=${NFC_TAP_WOBBLES:-100} NFC_TAP_DAMAGES=${NFC_TAP_DAMAGES:-2}
export NFC_TAP_SKIP="^TapDaemonTests\.($daemon)|^ReaderNFCTests\.WorkerDeathTests/"
# One thread damages a file thousands of times: that takes long here, and says nothing of two.
NFC_TAP_SKIP+='|^JournalTests\.(RowDigestTests|WriteAheadLogTests)/'
echo "check-threads: without tests of locked memory, of a preloaded library and of deaths by a signal: the sanitizer cannot have them"

# races N: runs the tests; what is reported is in the folder N, and a line for each place of a race in N.places.
races() {
    # Other users, whom some tests become, write there too.
    mkdir -m 1777 "$reports/$1"
    TSAN_OPTIONS="suppressions=$PWD/Tests/Checks/threads.supp log_path=$reports/$1/race exitcode=0" \
        NFC_TAP_BIN=$bin scripts/test.sh "${targets[@]}" || status=$?
    { cat "$reports/$1"/race.* 2>/dev/null || true; } | sed -nE "s/^SUMMARY: ThreadSanitizer: //p" | sort -u >"$reports/$1.places"
}

chmod 711 "$reports"
status=0
races first
# Swift's runtime does not tell the sanitizer of a continuation that was resumed in the moment before somebody waits for it
# (swift_continuation_await goes on at once then). What was handed over so looks like a race: now and then, and more often
# where a thread hands over more. What a lane's thread says is therefore handed over under a lock (LaneRace). A race has no
# order whenever it is looked at: it is reported at the same place again.
if [ -s "$reports/first.places" ]; then
    cat "$reports"/first/race.* >&2
    echo "check-threads: reported once; the tests run again"
    races second
    if comm -12 "$reports/first.places" "$reports/second.places" | grep .; then
        echo "check-threads: data races, at the places above" >&2
        exit 1
    fi
fi
[ "$status" -ne 0 ] || echo "check-threads: no data race"
exit "$status"
