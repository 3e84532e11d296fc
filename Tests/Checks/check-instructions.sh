#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts the processor's instructions for one run of each hot path and holds them against the thresholds in the tree:
# Tests/Checks/check-instructions.sh TAP-BENCH [--write]
#
# Ends with 1 where a path takes more than 3 % over its threshold, and asks for a lower threshold where one takes more than
# 3 % less. --write puts what was counted into the table instead. Prints one line for each path. Ends with 77 on another
# processor than x86-64, for which the table has no thresholds.
#
# A tap-bench in a folder named debug is held against the last column: the programs of the tests as .ci/run builds them. Its numbers
# say nothing of a shop's program; that a path has become dearer is seen there too, and no tree is built for it.
#
# Unlike times, counts are the same whatever else the machine does: valgrind runs the program alone, on the processor that
# it pretends to be. The difference between N and 2N runs leaves out start and preparation.
set -euo pipefail
program=${1:?the program tap-bench}
write=${2:-}
table=$(dirname "$0")/../../Benchmarks/instructions.tsv
column=3
[ "$(basename "$(dirname "$program")")" != debug ] || column=4
if [ "$(uname -m)" != x86_64 ]; then
    echo "check-instructions: the thresholds are for x86-64, this is $(uname -m)" >&2
    exit 77
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# valgrind 3.19 cannot read the debug information of swift-nio's C files and gives up.
for name in tap-bench nfc-tapd nfc-tap-psp-sandbox; do strip -g -o "$folder/$name" "$(dirname "$program")/$name"; done
# Hash tables are filled alike in every run, and a crash is not looked into, which would print memory.
export SWIFT_DETERMINISTIC_HASHING=1 SWIFT_BACKTRACE=enable=no

# A sale and a start are counted in the daemon, which the program starts from the folder that it lies in.
mv "$folder/nfc-tapd" "$folder/daemon"
# valgrind 3.19 writes into the mask of sigsuspend(2), and libdispatch.so has it where nobody may write: what the main thread waits for is
# nothing anyway. A static program has it elsewhere.
preload=
if [ "$column" = 4 ]; then
    preload=$folder/suspend.so
    printf '#include <signal.h>\n#include <unistd.h>\nint sigsuspend(const sigset_t *mask) { (void)mask; return pause(); }\n' |
        "$(dirname "$(readlink -f "$(command -v swift)")")/clang" -shared -fPIC -o "$preload" -x c -
fi
cat >"$folder/nfc-tapd" <<END
#!/bin/sh
LD_PRELOAD=$preload exec valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="\$COUNTED.%p" "$folder/daemon" "\$@"
END
chmod 755 "$folder/nfc-tapd"

# count NAME PATH TIMES: the instructions of the whole process, into the file NAME.
count() {
    if [ "$2" = sale ] || [ "$2" = start ]; then
        COUNTED=$folder/$2-$1 "$folder/tap-bench" path "$2" "$3" >&2 || exit 1
        sed -n 's/.*Collected : //p' "$folder/$2-$1".* | awk '{ sum += $1 } END { printf "%d\n", sum }' >"$folder/$1"
        return
    fi
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$folder/tap-bench" path "$2" "$3" \
        >"$folder/$1.output" 2>&1 || { cat "$folder/$1.output" >&2 && exit 1; }
    sed -n 's/.*Collected : //p' "$folder/$1.output" >"$folder/$1"
}

# The table has the paths of the program, in its order.
if ! diff <("$folder/tap-bench" path) <(grep -v '^#' "$table" | cut -f 1) >&2; then
    echo "check-instructions: the paths of tap-bench (<) are not those of $table (>)" >&2
    exit 1
fi

status=0
lower=
grep '^#' "$table" >"$folder/table"
printf '%-20s %12s %12s %6s\n' path instructions threshold ratio
while IFS=$'\t' read -r -a row; do
    path=${row[0]} times=${row[1]} threshold=${row[column - 1]}
    count once "$path" "$times" &
    count twice "$path" $((times * 2))
    wait $!
    counted=$((($(cat "$folder/twice") - $(cat "$folder/once")) / times))
    row[column - 1]=$counted
    (IFS=$'\t' && printf '%s\n' "${row[*]}") >>"$folder/table"
    verdict=
    if [ $((counted * 100)) -gt $((threshold * 103)) ]; then
        verdict='TOO MANY' status=1
    elif [ $((counted * 100)) -lt $((threshold * 97)) ]; then
        verdict='lower the threshold' lower=1
    fi
    permille=$((counted * 1000 / threshold))
    printf '%-20s %12d %12d %2d.%03d %s\n' \
        "$path" "$counted" "$threshold" $((permille / 1000)) $((permille % 1000)) "$verdict"
done < <(grep -v '^#' "$table")

if [ "$write" = --write ]; then
    cp "$folder/table" "$table"
    exit 0
elif [ "$status" -ne 0 ]; then
    echo "A path costs more than 3 % over its threshold. Make it cheaper, or say in the commit what the price buys and write" \
        "the table anew: make check-instructions BLESS=--write" >&2
elif [ -n "$lower" ]; then
    echo "Keep what was won: make check-instructions BLESS=--write"
fi
exit "$status"
