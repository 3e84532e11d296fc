#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): p11-kit 0.24.1-2, p11-kit-modules 0.24.1-2, softhsm2 2.6.1-2.1, opensc (pkcs11-tool)
#
# Guess: a token that is shared over a socket by `p11-kit server` can do over there what it can do here.
# What happens: half of the token's mechanisms are gone from the list, without a message: the protocol passes on only those that it knows.
# ECDH, AES-GCM, AES-CMAC and the key wraps are gone; RSA, OAEP too, and plain ECDSA remain. A key made for ECDH
# is there and allows derivation, and its use is "mechanism invalid".
#
# Seen:
# > here: 70 mechanisms
# > there: 36 mechanisms
# > RSA-PKCS-OAEP: here 1, there 1
# > ECDSA: here 1, there 1
# > ECDH1-DERIVE: here 1, there 0
# > AES-GCM: here 1, there 0
# > AES-CMAC: here 1, there 0
# > AES-KEY-WRAP: here 1, there 0
# > ECDH with the key, here: a secret of 32 bytes
# > ECDH with the key, there: CKR_MECHANISM_INVALID
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    openssl opensc softhsm2=2.6.1-2.1 libsofthsm2=2.6.1-2.1 p11-kit=0.24.1-2 p11-kit-modules=0.24.1-2 libp11-kit0=0.24.1-2 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
mkdir "$folder/tokens"
printf 'directories.tokendir = %s/tokens\nobjectstore.backend = file\n' "$folder" >"$folder/softhsm2.conf"
export SOFTHSM2_CONF="$folder/softhsm2.conf"
declare -A modules=([here]=/usr/lib/softhsm/libsofthsm2.so [there]=/usr/lib/x86_64-linux-gnu/pkcs11/p11-kit-client.so)
softhsm2-util --init-token --free --label findings --pin 1234 --so-pin 5678 >"$folder/token"
openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout -outform der -out "$folder/peer" 2>"$folder/openssl"
pkcs11-tool --module "${modules[here]}" --login --pin 1234 --keypairgen --key-type EC:prime256v1 --id 01 --usage-derive >"$folder/made" 2>&1

eval "$(p11-kit server --provider "${modules[here]}" "pkcs11:token=findings" -n "$folder/socket" 2>"$folder/server")"
trap 'kill "$P11_KIT_SERVER_PID"; rm -rf "$folder"' EXIT
{
    for side in here there; do
        pkcs11-tool --module "${modules[$side]}" -M 2>"$folder/$side.messages" | sed -n 's/^  \([^,]*\).*/\1/p' | sort >"$folder/$side"
        echo "$side: $(wc -l <"$folder/$side") mechanisms"
    done
    for name in RSA-PKCS-OAEP ECDSA ECDH1-DERIVE AES-GCM AES-CMAC AES-KEY-WRAP; do
        echo "$name: here $(grep -cx "$name" "$folder/here" || true), there $(grep -cx "$name" "$folder/there" || true)"
    done
    for side in here there; do
        said=$(pkcs11-tool --module "${modules[$side]}" --login --pin 1234 --derive -m ECDH1-DERIVE --id 01 -i "$folder/peer" -o "$folder/secret" 2>&1) \
            && said="a secret of $(wc -c <"$folder/secret") bytes" || said=$(grep -o 'CKR_[A-Z_]*' <<<"$said" | head -1)
        echo "ECDH with the key, $side: $said"
    done
} 2>"$folder/errors" | tee "$folder/now" || true

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
