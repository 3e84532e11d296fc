#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-threads.sh [TARGET…]: the tests of the daemon, of its journal and of the readers under the thread sanitizer. Fails
# where any process that takes part has a data race, and prints where both sides are.
set -euo pipefail
cd "$(dirname "$0")/.."
all=(TapDaemonTests ReaderPCSCTests ReaderNFCTests ReaderVirtualTests ReaderCoreTests JournalTests LocalHTTPTests)
targets=("$@")
[ $# -gt 0 ] || targets=("${all[@]}")

# The manifest leaves the other tests out: a build of its own that need not be complete, and that nobody edits against.
NFC_TAP_TESTS=${all[*]} scripts/build.sh --scratch-path .build-tsan --sanitize=thread -Xswiftc -use-ld=lld \
    -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2 --product nfc-tapPackageTests
bin=$(swift build --scratch-path .build-tsan --show-bin-path)

reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
# Other users, whom some tests become, write there too.
chmod 1777 "$reports"
export TSAN_OPTIONS="suppressions=$PWD/scripts/threads.supp log_path=$reports/race"
# Every process runs several times as long here.
export NFC_TAP_KILLS=${NFC_TAP_KILLS:-6}
# The sanitizer makes mlockall(2) do nothing, so what the daemon locks cannot be seen here.
export NFC_TAP_SKIP='^TapDaemonTests\.ProgramTests/(locks|startCode)\('
echo "check-threads: without the two tests of locked memory, which the sanitizer keeps from being locked"
status=0
NFC_TAP_BIN=$bin scripts/test.sh "${targets[@]}" || status=$?
found=$(cat "$reports"/race.* 2>/dev/null | grep -c '^WARNING: ThreadSanitizer' || true)
if [ "$found" -gt 0 ]; then
    cat "$reports"/race.* >&2
    echo "check-threads: $found data races" >&2
    exit 1
fi
[ "$status" -ne 0 ] || echo "check-threads: no data race"
exit "$status"
