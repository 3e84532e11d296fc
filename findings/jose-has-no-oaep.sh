#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): jose 11-2+deb12u1, libjose0 11-2+deb12u1, libssl3 (3.0)
#
# Guess: a JOSE tool of a current Debian wraps a key with RSA-OAEP; what it may lack is RSA1_5, which RFC 8725 advises against.
# What happens: it is the other way round. RSA1_5 is the only RSA algorithm for keys, in the list and at work; RSA-OAEP, RSA-OAEP-224 … 512
# are gone. A key for RSA-OAEP cannot be made, and sealing says no more than "Wrapping failed!", as for a broken key.
# With no algorithm asked for, an RSA key of 2048 bits gets RSA1_5.
#
# Seen:
# > algorithms that wrap with RSA: RSA1_5
# > a key for RSA1_5: made
# > a key for RSA-OAEP: JWK generation failed!
# > a key for RSA-OAEP-256: JWK generation failed!
# > sealed with RSA1_5: opened
# > sealed with RSA-OAEP: Wrapping failed!
# > sealed with what the tool chooses for the key: RSA1_5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    jose=11-2+deb12u1 libjose0=11-2+deb12u1 python3 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

made() { if jose jwk gen -i "{\"alg\":\"$1\"}" -o "$folder/$1.jwk" 2>"$folder/said"; then echo made; else head -n 1 "$folder/said"; fi; }
printf 'a card record' >"$folder/plain"
jose jwk gen -i '{"kty":"RSA","bits":2048}' -o "$folder/rsa.jwk"
# sealed HEADER: what happens to the record that is sealed to the key and opened again.
sealed() {
    if jose jwe enc -c -i "$1" -I "$folder/plain" -k "$folder/rsa.jwk" -o "$folder/sealed" 2>"$folder/said"; then
        [ "$(jose jwe dec -i "$folder/sealed" -k "$folder/rsa.jwk")" = "a card record" ] && echo opened
    else
        head -n 1 "$folder/said"
    fi
}
{
    echo "algorithms that wrap with RSA: $(jose alg -k wrap | grep RSA | paste -sd ' ')"
    for name in RSA1_5 RSA-OAEP RSA-OAEP-256; do echo "a key for $name: $(made "$name")"; done
    for name in RSA1_5 RSA-OAEP; do echo "sealed with $name: $(sealed "{\"protected\":{\"alg\":\"$name\",\"enc\":\"A256GCM\"}}")"; done
    sealed '{}' >"$folder/said"
    chosen=$(cut -d. -f1 "$folder/sealed" | jose b64 dec -i - | python3 -c 'import json, sys; print(json.load(sys.stdin)["alg"])')
    echo "sealed with what the tool chooses for the key: $chosen"
} 2>"$folder/errors" | tee "$folder/now" || true

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
