#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages: librhonabwy-dev 1.1.11-1 (Debian 12; the library of the command rnbyc and of Glewlwyd); joserfc 1.8.0 (PyPI), a second hand
#
# Guess: a library that opens messages by ECDH-ES opens them whatever key the sender drew. The agreed secret is the point's coordinate
# in 32 bytes, leading zeros and all (RFC 7518 4.6.2, NIST SP 800-56A).
# What happens: where the secret begins with a zero byte, which one in 256 does, rhonabwy derives from the 31 bytes that are left, and
# the message is "invalid". Alone it seems right, for it seals the same way, and a test with a few messages finds nothing: behind
# nfc-tap one payment in 256 would have an envelope that cannot be opened, and the same payment sealed anew can.
# The senders are 1 to 512 times the generator, the receiver is fixed, so that the same two messages fail each time.
#
# Seen:
# > secrets that begin with a zero byte: those of senders 11, 500
# > ECDH-ES, 512 messages: joserfc opens 512, rhonabwy all but those of senders 11, 500
# > ECDH-ES+A256KW, 512 messages: joserfc opens 512, rhonabwy all but those of senders 11, 500
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

/* rhonabwy JWK: tokens on lines, and for each whether it opens to the text. */
int main(int count, char **words) {
    static char line[4096];
    jwk_t *key;
    if (count != 2 || r_global_init() != RHN_OK) return 2;
    r_jwk_init(&key);
    if (r_jwk_import_from_json_str(key, words[1]) != RHN_OK) return 2;
    while (fgets(line, sizeof line, stdin) != NULL) {
        jwe_t *message;
        size_t length = 0;
        line[strcspn(line, "\n")] = 0;
        r_jwe_init(&message);
        int result = r_jwe_parse(message, line, 0);
        if (result == RHN_OK) result = r_jwe_decrypt(message, key, 0);
        const unsigned char *payload = r_jwe_get_payload(message, &length);
        puts(result == RHN_OK && length == 15 && memcmp(payload, "{\"amount\":1250}", 15) == 0 ? "yes" : "no");
        r_jwe_free(message);
    }
    return 0;
}
C
gcc -o "$folder/rhonabwy" "$folder/rhonabwy.c" -lrhonabwy

"$folder/venv/bin/python" - "$folder/rhonabwy" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import base64
import hashlib
import json
import struct
import subprocess
import sys

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import aes_key_wrap
from joserfc import jwe
from joserfc.jwk import ECKey

TEXT = b'{"amount":1250}'


def url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def pair(number):
    key = ec.derive_private_key(number, ec.SECP256R1())
    point = key.public_key().public_numbers()
    return key, {"kty": "EC", "crv": "P-256", "x": url(point.x.to_bytes(32, "big")), "y": url(point.y.to_bytes(32, "big"))}


def sealed(algorithm, sender):
    """RFC 7518, 4.6, step by step: the sender's key is chosen here, which no library lets one do."""
    key, public = pair(sender)
    secret = key.exchange(ec.ECDH(), receiver.public_key())
    if secret[0] == 0 and sender not in short:
        short.append(sender)
    header = url(json.dumps({"alg": algorithm, "enc": "A256GCM", "epk": public}).encode())
    name = (algorithm if "+" in algorithm else "A256GCM").encode()
    other = struct.pack(">I", len(name)) + name + bytes(8) + struct.pack(">I", 256)
    derived = hashlib.sha256(struct.pack(">I", 1) + secret + other).digest()
    content, wrapped = (bytes(range(32)), aes_key_wrap(derived, bytes(range(32)))) if "+" in algorithm else (derived, b"")
    text = AESGCM(content).encrypt(bytes(12), TEXT, header.encode())
    return ".".join([header, url(wrapped), url(bytes(12)), url(text[:-16]), url(text[-16:])])


NUMBER = 0x1234567890ABCDEF1234567890ABCDEF1234567890ABCDEF1234567890ABCDEF
SENDERS = range(1, 513)
receiver, jwk = pair(NUMBER)
jwk["d"] = url(NUMBER.to_bytes(32, "big"))
short, lines = [], []
for algorithm in ("ECDH-ES", "ECDH-ES+A256KW"):
    tokens = [sealed(algorithm, sender) for sender in SENDERS]
    key = ECKey.import_key(jwk)
    opened = sum(jwe.decrypt_compact(token, key, algorithms=[algorithm, "A256GCM"]).plaintext == TEXT for token in tokens)
    said = subprocess.run([sys.argv[1], json.dumps(jwk)], input="\n".join(tokens), capture_output=True, text=True, check=True).stdout.split()
    not_opened = [str(sender) for sender, word in zip(SENDERS, said, strict=True) if word == "no"]
    lines.append(f"{algorithm}, {len(tokens)} messages: joserfc opens {opened}, rhonabwy all but those of senders {', '.join(not_opened)}")
print("secrets that begin with a zero byte: those of senders", ", ".join(map(str, short)))
print("\n".join(lines))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
