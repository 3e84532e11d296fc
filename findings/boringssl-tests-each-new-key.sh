#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): android-libboringssl(-dev) 13.0.0+r24-2; gcc 4:12.2.0-3; valgrind 1:3.19.0-1 counts
#
# Guess: a P-256 key for one ECDH agreement costs one multiplication of the base point, as making it from 32 random bytes does.
# What happens: swift-crypto 4.5.2 (NISTCurvesKeys_boring.swift) calls EC_KEY_check_fips on each key that it makes, which multiplies once more,
# signs with the key and verifies the signature, whatever the key is for: 945,000 of the 1,885,000 instructions of a sealed envelope, counted
# in a program that has 4.5.2. Debian's build, without assembly, counts 473,614 for a key, 3,162,194 with its test, 473,274 from bytes.
# P256.KeyAgreement.PrivateKey(rawRepresentation:) does without the test; it checks that the number is in range.
#
# Seen:
# > the test of a new key: more than 4 times the instructions of making it
# > a key from 32 bytes: the instructions of one that is generated, within a tenth
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    android-libboringssl=13.0.0+r24-2 android-libboringssl-dev=13.0.0+r24-2 gcc=4:12.2.0-3 libc6-dev valgrind=1:3.19.0-1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

cat >"$folder/program.c" <<'C'
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ec_key.h>
#include <openssl/nid.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words) {
    if (count != 3) return 2;
    unsigned char bytes[32];
    for (int index = 0; index < 32; index++) bytes[index] = index + 1;
    for (int left = atoi(words[2]); left > 0; left--) {
        EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
        if (strcmp(words[1], "bytes") == 0) {
            const EC_GROUP *group = EC_KEY_get0_group(key);
            BIGNUM *number = BN_bin2bn(bytes, 32, NULL);
            EC_POINT *point = EC_POINT_new(group);
            if (!EC_KEY_set_private_key(key, number) || !EC_POINT_mul(group, point, number, NULL, NULL, NULL)) return 1;
            if (!EC_KEY_set_public_key(key, point)) return 1;
            EC_POINT_free(point);
            BN_clear_free(number);
        } else {
            if (!EC_KEY_generate_key(key)) return 1;
            if (strcmp(words[1], "tested") == 0 && !EC_KEY_check_fips(key)) return 1;
        }
        EC_KEY_free(key);
    }
    return 0;
}
C
library=/usr/lib/x86_64-linux-gnu/android
gcc -O2 -I/usr/include/android "$folder/program.c" -o "$folder/program" -L"$library" -Wl,-rpath,"$library" -lcrypto

# cost KIND: instructions of one key, from the difference between 20 and 40.
cost() {
    for times in 20 40; do
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$folder/program" "$1" "$times" 2>&1 | sed -n 's/.*Collected : //p'
    done | { read -r once && read -r twice && echo $(((twice - once) / 20)); }
}
generated=$(cost generated) tested=$(cost tested) bytes=$(cost bytes)
echo "generated $generated, generated and tested $tested, from bytes $bytes" >"$folder/errors"
{
    [ $((tested - generated)) -le $((generated * 4)) ] || echo "the test of a new key: more than 4 times the instructions of making it"
    [ $((bytes * 10)) -gt $((generated * 11)) ] || [ $((bytes * 11)) -lt $((generated * 10)) ] ||
        echo "a key from 32 bytes: the instructions of one that is generated, within a tenth"
} | tee "$folder/now"

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
