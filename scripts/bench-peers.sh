#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts the instructions of one run of our hot paths and of what Debian's and PyPI's libraries do of the same, in one run, and prints the
# ratios: scripts/bench-peers.sh TAP-BENCH. `make bench-peers` installs what it needs and builds the program before.
#
# Instructions by valgrind, as Tests/Checks/check-instructions.sh counts them: the difference between N and 2N runs leaves out the start of a program
# and of Python. valgrind shows a processor without ADX and SHA-NI, so that libraries that have code for these count more than they run.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:?the program tap-bench}
python=$(scripts/install-peers.sh)
if ! "$python" -c "import ber_tlv, emv" >/dev/null 2>&1; then
    # python emv's own needs are a reader's; what reads TLV needs pycountry, which is there.
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps ber-tlv==0.0.6 emv==1.0.14 >&2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
strip -g -o "$folder/tap-bench" "$program"
gcc -O2 -Wno-deprecated-declarations Benchmarks/Peers/peers.c -o "$folder/peers" -lcrypto -lmbedcrypto
MODULUS=$(sed -n '/testModulus = """/,/"""/p' Benchmarks/TapBench/KeyBenchmarks.swift | grep -oE '[0-9A-F]{8,}' | tr -d '\n')
export MODULUS SWIFT_DETERMINISTIC_HASHING=1 SWIFT_BACKTRACE=enable=no PYTHONHASHSEED=0

# count TIMES PROGRAM…: instructions of one run of it, to which the number of runs is the last word.
count() {
    local times=$1 both=()
    shift
    for runs in "$times" $((times * 2)); do
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" "$runs" >"$folder/output" 2>&1 || { cat "$folder/output" >&2 && exit 1; }
        both+=("$(sed -n 's/.*Collected : //p' "$folder/output")")
    done
    echo $(((both[1] - both[0]) / times))
}

# row WORK OURS TIMES PEER TIMES COMMAND…: one line of the table.
row() {
    local work=$1 path=$2 ours peer name=$4
    ours=$(count "$3" "$folder/tap-bench" path "$path")
    peer=$(count "$5" "${@:6}")
    local permille=$((ours * 1000 / peer))
    printf '| %s | %s | %d | %d | %d.%03d |\n' "$work" "$name" "$peer" "$ours" $((permille / 1000)) $((permille % 1000))
}

openssl=$(dpkg-query -W -f='OpenSSL ${Version}' libssl-dev) mbedtls=$(dpkg-query -W -f='mbedTLS ${Version}' libmbedtls-dev)
printf '| work | peer | peer, instructions | nfc-tap | ratio |\n|---|---|---|---|---|\n'
for peer in openssl mbedtls; do
    row 'RSA public operation, 1984 bits, e = 3' rsa-1984-e3 100 "${!peer}" 100 "$folder/peers" "$peer-rsa-e3"
    row 'the same, e = 65537' rsa-1984-e65537 20 "${!peer}" 20 "$folder/peers" "$peer-rsa-e65537"
    row 'fresh P-256 key, agreement, AES-256-GCM of 700 bytes; ours as a whole JWE' seal 20 "${!peer}" 20 "$folder/peers" "$peer-seal"
done
row 'TLV of a record of 191 bytes, 19 objects' tlv-index 1000 'pyemv 1.5.0' 100 "$python" Benchmarks/Peers/peers.py pyemv-tlv
row 'the same' tlv-index 1000 'python emv 1.0.14, which interprets values too' 50 "$python" Benchmarks/Peers/peers.py python-emv-tlv
row 'the same' tlv-index 1000 'ber-tlv 0.0.6' 100 "$python" Benchmarks/Peers/peers.py ber-tlv-tlv
