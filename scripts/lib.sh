# SPDX-License-Identifier: Apache-2.0
# What the scripts share that run the programs; to be sourced. $folder is for sockets, state and logs, and goes at the end,
# after every program that was started here: the latest first, so that clients end before the daemon, and the daemon
# before the adapter that it talks to.
# shellcheck shell=bash
folder=$(mktemp -d)
pids=()
stop() {
    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        kill "${pids[i]}" 2>/dev/null || true
        wait "${pids[i]}" 2>/dev/null || true
    done
    rm -rf "$folder"
}
trap stop EXIT

# The version of the programs, from the one place in the code that says it.
product_version() { sed -n 's/.*text = "\(.*\)".*/\1/p' Sources/System/Codes/Version.swift; }

# background NAME COMMAND…: runs it until the script ends; what it says goes to NAME.log, its process is $started.
background() {
    "${@:2}" >"$folder/$1.log" 2>&1 &
    started=$!
    pids+=("$started")
}

# await FILE…: until each is a socket, or a file with something in it.
await() {
    local file
    for file in "$@"; do
        for _ in $(seq 100); do
            [ -S "$file" ] || [ -s "$file" ] && continue 2
            sleep 0.1
        done
        echo "$(basename "$0"): $file did not appear; the logs say:" >&2
        tail -n 40 "$folder"/*.log >&2
        exit 1
    done
}

# await_status SOCKET PATTERN…: until the daemon's status, without blanks, has each of them.
await_status() {
    local status pattern
    for _ in $(seq 100); do
        status=$(curl -s --unix-socket "$1" http://localhost/v1/status | tr -d ' \n' || true)
        for pattern in "${@:2}"; do
            grep -q "$pattern" <<<"$status" || { sleep 0.1 && continue 2; }
        done
        return
    done
    echo "$(basename "$0"): the status of $1 never had ${*:2}: $status" >&2
    exit 1
}
