#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A till and a customer display in the browser of this machine, with virtual cards on buttons: till.sh FOLDER-WITH-THE-PROGRAMS. Sandbox
# adapter, daemon in test mode, gateway and test bench in a private folder, until Ctrl-C; then it is all gone. till.sh FOLDER kiosk has a lane
# that stands alone in place of a till: each card begins a session, which is told of here.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${1:?usage: till.sh FOLDER-WITH-THE-PROGRAMS}" && pwd)
. scripts/lib.sh
# Each in a group of its own: Ctrl-C reaches this script alone, which ends them all at once. Nothing of it is kept.
set -m
trap 'echo; kill "${pids[@]}" 2>/dev/null || true; exit 0' INT TERM

# Not the gateway's usual port: a browser keeps tokens for each address, and those of an installed gateway are not to be lost.
port() { if (: </dev/tcp/127.0.0.1/"$1") 2>/dev/null; then echo 0; else echo "$1"; fi; }
# address LOG: what the program of that log says that it listens on.
address() { sed -n 's/^listening on \(http[^ ]*\).*/\1/p' "$folder/$1.log" | head -n 1; }

background sandbox "$bin/nfc-tap-psp-sandbox" --sandbox --socket "$folder/psp.sock"
await "$folder/psp.sock"
day() { date -u -d "$1 day" +%FT%TZ; }
sed -E -e "s/(\"issuedAt\": *)\"[^\"]*\"/\1\"$(day -1)\"/" -e "s/(\"expiresAt\": *)\"[^\"]*\"/\1\"$(day 1)\"/" \
    docs/examples/profile-test.json >"$folder/profile.json"
cat >"$folder/nfc-tapd.toml" <<TOML
mode = "test"
[gateway]
group = "$(id -g)"
types = ["purchase", "refund", "verification", "loyalty", "link", "handover"]
[profile]
file = "$folder/profile.json"
[[lane]]
name = "main"
reader = "virtual:$folder/reader.sock"
TOML
if [ "${2:-}" = kiosk ]; then
    printf '[lane.standing]\nmode = "ask"\namount = 2500\nmaximum = 5000\ncurrency = "EUR"\nclaim-seconds = 55\ntest = true\n' >>"$folder/nfc-tapd.toml"
fi
background daemon "$bin/nfc-tapd" --config "$folder/nfc-tapd.toml" --runtime-directory "$folder" --state-directory "$folder/state" \
    --psp-socket "$folder/psp.sock"
await "$folder/pos.sock" "$folder/reader.sock"
background gateway "$bin/nfc-tap-gateway" --config /dev/null --listen "127.0.0.1:$(port 8717)" --socket "$folder/pos.sock" \
    --pages share/till --state-directory "$folder" --runtime-directory "$folder"
await "$folder/gateway.log" "$folder/admin.sock"
background bench python3 scripts/till-bench.py "$bin" "$folder" "$(port 8718)"
await "$folder/bench.log"

bench=$(address bench)
echo "test mode: no money moves, every card is virtual"
if [ "${2:-}" = kiosk ]; then
    echo "virtual cards     $bench/"
    echo "Press a card. What becomes of it is shown here; be the machine in another shell, with the transaction as ID:"
    for wish in "claim ID --reference PLUG-1" "commit ID 12.00 EUR" "release ID"; do echo "  $bin/nfc-tap sessions ${wish/ ID/ --socket $folder/pos.sock ID}"; done
    echo "Ctrl-C ends everything."
    "$bin/nfc-tap" sessions watch --socket "$folder/pos.sock" &
    pids+=($!)
    wait -n "${pids[@]}" || true
    exit 1
fi
echo "till              $bench/till"
echo "customer display  $bench/display"
echo "virtual cards     $bench/"
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v xdg-open >/dev/null; then
    for page in /till /display /; do xdg-open "$bench$page" >/dev/null 2>&1 || true; done
else
    echo "Open the three addresses in a browser on this machine."
fi
echo "Ctrl-C ends everything."
# Until one of them ends, which none does by itself.
wait -n "${pids[@]}" || true
echo "till.sh: a program has ended; the logs say:" >&2
tail -n 20 "$folder"/*.log >&2
exit 1
