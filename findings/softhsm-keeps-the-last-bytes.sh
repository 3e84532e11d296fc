#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: softhsm2 2.6.1-2.1 (Debian 12); python-pkcs11 0.10.1, cryptography 50.0.2 (PyPI)
#
# Guess: an AES-128 key agreed by CKM_ECDH1_DERIVE is the first 16 bytes of the shared secret, as a KDF takes its bytes from the front; and a key
# of any length makes an HMAC, as RFC 2104 has it.
# What happens: the key is the last 16 bytes. PKCS #11 asks for it: the mechanism removes bytes from the leading end. A peer that takes the first
# ones has another key, and neither side is told. An HMAC key shorter than the hash is refused, so the 24 bytes of a webhook
# secret (Standard Webhooks) are CKR_KEY_SIZE_RANGE for HMAC-SHA-256.
#
# Seen:
# > AES-256 agreed: all 32 bytes of the secret
# > AES-128 agreed: bytes 17 to 32 of the secret
# > HMAC-SHA-256, key of 32 bytes: the same as Python's
# > HMAC-SHA-256, key of 24 bytes: KeySizeRange
# > HMAC-SHA-1, key of 20 bytes: the same as Python's
# > HMAC-SHA-1, key of 16 bytes: KeySizeRange
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3-venv softhsm2=2.6.1-2.1 libsofthsm2=2.6.1-2.1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-pkcs11==0.10.1 cryptography==50.0.2
mkdir "$folder/tokens"
printf 'directories.tokendir = %s/tokens\nobjectstore.backend = file\n' "$folder" >"$folder/softhsm2.conf"
export SOFTHSM2_CONF="$folder/softhsm2.conf"
softhsm2-util --init-token --free --label findings --pin 1234 --so-pin 5678 >"$folder/token"

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import hmac

import pkcs11
from cryptography.hazmat.primitives.asymmetric import ec
from pkcs11 import KDF, Attribute, KeyType, Mechanism, ObjectClass
from pkcs11.util.ec import encode_named_curve_parameters

READABLE = {Attribute.SENSITIVE: False, Attribute.EXTRACTABLE: True}
token = pkcs11.lib("/usr/lib/softhsm/libsofthsm2.so").get_token(token_label="findings")
with token.open(rw=True, user_pin="1234") as session:
    curve = {Attribute.EC_PARAMS: encode_named_curve_parameters("secp256r1")}
    public, private = session.create_domain_parameters(KeyType.EC, curve, local=True).generate_keypair()
    peer = ec.generate_private_key(ec.SECP256R1())
    point = peer.public_key().public_numbers()
    point = b"\x04" + point.x.to_bytes(32, "big") + point.y.to_bytes(32, "big")
    ours = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public[Attribute.EC_POINT][2:])
    secret = peer.exchange(ec.ECDH(), ours)
    for bits in (256, 128):
        agreed = private.derive_key(KeyType.AES, bits, mechanism_param=(KDF.NULL, None, point), template=READABLE)
        value = agreed[Attribute.VALUE]
        places = {secret: "all 32 bytes", secret[:16]: "bytes 1 to 16", secret[16:]: "bytes 17 to 32"}
        print(f"AES-{bits} agreed: {places.get(value, 'nothing')} of the secret")
    for title, mechanism, hash, sizes in (
        ("SHA-256", Mechanism.SHA256_HMAC, "sha256", (32, 24)),
        ("SHA-1", Mechanism.SHA_1_HMAC, "sha1", (20, 16)),
    ):
        for size in sizes:
            value = bytes(range(1, size + 1))
            template = {Attribute.CLASS: ObjectClass.SECRET_KEY, Attribute.KEY_TYPE: KeyType.GENERIC_SECRET}
            template |= {Attribute.VALUE: value, Attribute.TOKEN: False, Attribute.SIGN: True}
            try:
                code = session.create_object(template).sign(b"event", mechanism=mechanism)
                said = "the same as Python's" if code == hmac.digest(value, b"event", hash) else "another code"
            except pkcs11.PKCS11Error as error:
                said = type(error).__name__
            print(f"HMAC-{title}, key of {size} bytes: {said}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
