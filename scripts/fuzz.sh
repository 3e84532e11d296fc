#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzz targets, as many at a time as there are processors: scripts/fuzz.sh [inputs for each, default 1000000] [more
# libFuzzer options]; with --build alone it makes the targets and runs none.
#
#   FUZZ_TARGETS="fuzz-tills …"   only these
#
# With --build and -1 inputs, as .ci/run has it for a minute, only the rooms that are optimised in debug builds are: the programs are made in
# half of the time. Findings are written to .build-fuzz/findings; the inputs that reach something new stay in .build-fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-1000000}
shift || true
export configuration=release
case $runs in --build | -1) configuration=debug ;; esac
options=(-c $configuration -debug-info-format none -Xswiftc -no-emit-module-separately-wmo)
[ $configuration = release ] || options+=(-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2)

toolchain=$(dirname "$(readlink -f "$(command -v swift)")")/..
NFC_TAP_FUZZ=$(ls "$toolchain"/lib/clang/*/lib/linux/libclang_rt.fuzzer_no_main-"$(uname -m)".a 2>/dev/null | head -n 1)
[ -n "$NFC_TAP_FUZZ" ] || {
    echo "fuzz: this Swift toolchain has no libFuzzer runtime for $(uname -m)" >&2
    exit 69
}
# The backtracer would print memory, and keeps the pipe open when the fuzzer has ended.
export NFC_TAP_FUZZ SWIFT_BACKTRACE=enable=no

# fuzz NAME RUNS [OPTION…]: runs one target that is built; what it says comes in one go, for another runs beside it.
fuzz() {
    local name=$1 runs=$2 folder=.build-fuzz
    shift 2
    mkdir -p "$folder/corpus/$name" "$folder/seeds/$name" "$folder/findings"
    "$folder/$configuration/$name" --seeds "$folder/seeds/$name" Tests/Vectors/emv/transcripts.jsonl
    local status=0
    "$folder/$configuration/$name" -runs="$runs" -max_len=1024 -timeout=10 -artifact_prefix="$folder/findings/$name-" \
        -print_final_stats=1 "$@" "$folder/corpus/$name" "$folder/seeds/$name" >"$folder/$name.log" 2>&1 || status=$?
    echo "$name: $(grep -E '(ERROR|SUMMARY|Fatal|Test unit written|^stat::|^Done)' "$folder/$name.log" || true)"
    [ "$status" -eq 0 ] || {
        echo "fuzz: $name has a finding, see $folder/findings and $folder/$name.log" >&2
        exit 1
    }
}

targets=${FUZZ_TARGETS:-fuzz-cards fuzz-crypto fuzz-wallets fuzz-tills}
for target in $targets; do
    swift build "${options[@]}" --product "$target" --scratch-path .build-fuzz -Xswiftc -sanitize=address -Xswiftc -use-ld=lld \
        -Xswiftc -sanitize-coverage=edge,inline-8bit-counters,pc-table,trace-cmp 2>&1 | tail -n 1
done
[ "$runs" != --build ] || exit 0
export -f fuzz
# shellcheck disable=SC2086
printf '%s\n' $targets | xargs -P "$(nproc)" -I '{}' bash -euo pipefail -c 'fuzz "$@"' fuzz '{}' "$runs" "$@"
