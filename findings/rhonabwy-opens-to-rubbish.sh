#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages: librhonabwy-dev 1.1.11-1 (Debian 12; the library of the command rnbyc and of Glewlwyd); joserfc 1.8.0 (PyPI) on the other side
#
# Guess: what an authenticated encryption opens without an error is what was sealed; a library that opens its own messages in all five
# encryptions of RFC 7518 that it was asked for opens another's.
# What happens: with ECDH-ES straight into A192CBC-HS384 or A256CBC-HS512 the key is longer than one SHA-256, and the second round of the
# derivation (RFC 7518 4.6.2) is not done. The half that authenticates is right, the half that encrypts is not: the check passes, the
# call says RHN_OK, and the payload is sixteen bytes of rubbish, padding and all. Its own messages are opened, and nobody else opens them.
# With GCM, A128CBC-HS256 or a key wrap it agrees with joserfc (but for one message in 256: rhonabwy-drops-a-zero.sh).
#
# Seen:
# > joserfc seals A128GCM: RHN_OK, {"amount":1250}
# > joserfc seals A256GCM: RHN_OK, {"amount":1250}
# > joserfc seals A128CBC-HS256: RHN_OK, {"amount":1250}
# > joserfc seals A192CBC-HS384: RHN_OK, 16 bytes of something else
# > joserfc seals A256CBC-HS512: RHN_OK, 16 bytes of something else
# > rhonabwy seals A128GCM: RHN_OK, {"amount":1250}; joserfc {"amount":1250}
# > rhonabwy seals A256GCM: RHN_OK, {"amount":1250}; joserfc {"amount":1250}
# > rhonabwy seals A128CBC-HS256: RHN_OK, {"amount":1250}; joserfc {"amount":1250}
# > rhonabwy seals A192CBC-HS384: RHN_OK, {"amount":1250}; joserfc ValueError
# > rhonabwy seals A256CBC-HS512: RHN_OK, {"amount":1250}; joserfc ValueError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends librhonabwy-dev gcc libc6-dev python3-venv \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
[ "$(dpkg-query -W -f '${Version}' librhonabwy-dev)" = 1.1.11-1 ] || { echo "$(basename "$0"): another version of librhonabwy" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check joserfc==1.8.0
cat >"$folder/rhonabwy.c" <<'C'
#include <rhonabwy.h>
#include <stdio.h>
#include <string.h>

/* rhonabwy JWK seal ENC: a token. rhonabwy JWK open TOKEN: the result in numbers, and the payload in hexadecimal. */
int main(int count, char **words) {
    jwk_t *key, *public;
    jwe_t *message;
    size_t length = 0;
    if (count != 4 || r_global_init() != RHN_OK) return 2;
    r_jwk_init(&key), r_jwk_init(&public), r_jwe_init(&message);
    if (r_jwk_import_from_json_str(key, words[1]) != RHN_OK) return 2;
    if (strcmp(words[2], "seal") == 0) {
        r_jwk_extract_pubkey(key, public, 0);
        r_jwe_set_alg(message, R_JWA_ALG_ECDH_ES);
        r_jwe_set_enc(message, r_str_to_jwa_enc(words[3]));
        r_jwe_set_payload(message, (const unsigned char *)"{\"amount\":1250}", 15);
        puts(r_jwe_serialize(message, public, 0));
        return 0;
    }
    int result = r_jwe_parse(message, words[3], 0);
    if (result == RHN_OK) result = r_jwe_decrypt(message, key, 0);
    const unsigned char *payload = r_jwe_get_payload(message, &length);
    printf("%s ", result == RHN_OK ? "RHN_OK" : "error");
    for (size_t index = 0; index < length; index++) printf("%02x", payload[index]);
    puts("");
    return 0;
}
C
gcc -o "$folder/rhonabwy" "$folder/rhonabwy.c" -lrhonabwy

"$folder/venv/bin/python" - "$folder/rhonabwy" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import base64
import json
import subprocess
import sys

from cryptography.hazmat.primitives.asymmetric import ec
from joserfc import jwe
from joserfc.jwk import ECKey

ENCRYPTIONS = ["A128GCM", "A256GCM", "A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512"]
TEXT = b'{"amount":1250}'
key = ECKey.generate_key("P-256")
registry = jwe.JWERegistry(algorithms=["ECDH-ES", *ENCRYPTIONS])


def rhonabwy(*words):
    said = subprocess.run([sys.argv[1], json.dumps(key.as_dict(private=True)), *words], capture_output=True, text=True, check=True)
    return said.stdout.strip()


def opened(token):
    result, _, payload = rhonabwy("open", token).partition(" ")
    payload = bytes.fromhex(payload)
    return f"{result}, {payload.decode() if payload == TEXT else f'{len(payload)} bytes of something else'}"


def usual(seal):
    """A token whose agreed secret has no leading zero byte."""
    while True:
        token = seal()
        header = token.split(".")[0]
        sender = ECKey.import_key(json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))["epk"])
        if key.private_key.exchange(ec.ECDH(), sender.public_key)[0] != 0:
            return token


for encryption in ENCRYPTIONS:
    header = {"alg": "ECDH-ES", "enc": encryption}
    token = usual(lambda: jwe.encrypt_compact(dict(header), TEXT, key, registry=registry))
    print(f"joserfc seals {encryption}: {opened(token)}")
for encryption in ENCRYPTIONS:
    token = usual(lambda: rhonabwy("seal", encryption))
    try:
        other = jwe.decrypt_compact(token, key, registry=registry).plaintext.decode()
    except ValueError:
        other = "ValueError"
    print(f"rhonabwy seals {encryption}: {opened(token)}; joserfc {other}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
