#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: libcjose-dev 0.6.2.1-1+deb12u1 (Debian 12; the library of mod_auth_openidc); jwcrypto 1.6.1 (PyPI) seals
#
# Guess: a library for JWE that opens a message opens what it says in its header, `zip` included ("MUST be understood", RFC 7516 4.1.3), or gives an error.
# What happens: the message is opened without an error, and what the caller gets is the compressed bytes.
# Of the agreements of RFC 7518 it has ECDH-ES alone: with a key wrap behind it the message is an "invalid argument".
#
# Seen:
# > sealed: 7b22616d6f756e74223a313235307d
# > deflated: ab564acccd2fcd2b51b232343235a80500
# > {"alg": "ECDH-ES", "enc": "A256GCM"} 7b22616d6f756e74223a313235307d
# > {"alg": "ECDH-ES", "enc": "A256GCM", "zip": "DEF"} ab564acccd2fcd2b51b232343235a80500
# > {"alg": "ECDH-ES+A256KW", "enc": "A256GCM"} error: invalid argument
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3-venv gcc libc6-dev libssl-dev libjansson-dev libcjose-dev=0.6.2.1-1+deb12u1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check jwcrypto==1.6.1
cat >"$folder/open.c" <<'C'
#include <cjose/cjose.h>
#include <stdio.h>
#include <string.h>

// Opens the message of the second argument with the key of the first and writes what is in it as hexadecimal digits.
int main(int count, char **arguments) {
    cjose_err error = {0};
    size_t size = 0;
    if (count != 3) return 2;
    cjose_jwk_t *key = cjose_jwk_import(arguments[1], strlen(arguments[1]), &error);
    cjose_jwe_t *message = key ? cjose_jwe_import(arguments[2], strlen(arguments[2]), &error) : NULL;
    uint8_t *opened = message ? cjose_jwe_decrypt(message, key, &size, &error) : NULL;
    if (!opened) return printf("error: %s", error.message), 0;
    for (size_t byte = 0; byte < size; byte++) printf("%02x", opened[byte]);
    return 0;
}
C
gcc -w -o "$folder/open" "$folder/open.c" -lcjose

"$folder/venv/bin/python" - "$folder/open" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import json
import subprocess
import sys
import zlib

from jwcrypto import jwe, jwk

key = jwk.JWK.generate(kty="EC", crv="P-256")
text = b'{"amount":1250}'
print("sealed:", text.hex())
print("deflated:", zlib.compress(text, wbits=-15).hex())
for header in (
    {"alg": "ECDH-ES", "enc": "A256GCM"}, {"alg": "ECDH-ES", "enc": "A256GCM", "zip": "DEF"}, {"alg": "ECDH-ES+A256KW", "enc": "A256GCM"},
):
    message = jwe.JWE(text, protected=json.dumps(header), recipient=key).serialize(compact=True)
    print(json.dumps(header), subprocess.run((sys.argv[1], key.export(), message), capture_output=True, text=True, check=True).stdout)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
