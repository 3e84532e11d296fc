#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages: softhsm2 2.6.1-2.1 (Debian 12); python-pkcs11 0.10.1, cryptography 50.0.2 (PyPI)
#
# Guess: the check value that a token shows is the one that stands on the paper of a key ceremony; the same sixteen bytes have one check value, and a key that
# came in wrapped has one above all, for there it is compared.
# What happens: ANSI X9.24-1:2017 takes the CMAC of a block of zeros for AES, and PKCS #11 the block encrypted: two houses that do all right hold different
# papers. For DES they are the same, so that a trial with DES proves nothing. The same bytes as a key for HMAC, "generic secret", have the beginning of
# their SHA-1. After an unwrapping the check value is there and empty. A CMAC that the token makes of zeros is the paper's value.
#
# Seen:
# > AES-128: CKA_CHECK_VALUE c6a13b, encrypted c6a13b, CMAC be7ed6
# > AES-256: CKA_CHECK_VALUE f29000, encrypted f29000, CMAC 377822
# > two keys of DES: CKA_CHECK_VALUE d5d44f
# > the bytes of AES-128 as a generic secret: CKA_CHECK_VALUE 56178b, SHA-1 56178b
# > AES-128 wrapped by AES-256 and unwrapped: the same key True, CKA_CHECK_VALUE ''
# > CMAC of zeros by the token: be7ed6
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
import hashlib

import pkcs11
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC
from pkcs11 import Attribute, KeyType, Mechanism, ObjectClass

ZEROS = bytes(16)
USES = {
    Attribute.TOKEN: False, Attribute.SENSITIVE: False, Attribute.EXTRACTABLE: True, Attribute.SIGN: True,
    Attribute.WRAP: True, Attribute.UNWRAP: True,
}


def encrypted(key):
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(ZEROS)[:3].hex()


def code(key):
    cmac = CMAC(algorithms.AES(key))
    cmac.update(ZEROS)
    return cmac.finalize()[:3].hex()


with pkcs11.lib("/usr/lib/softhsm/libsofthsm2.so").get_token(token_label="findings").open(rw=True, user_pin="1234") as session:

    def create(kind, value):
        return session.create_object({Attribute.CLASS: ObjectClass.SECRET_KEY, Attribute.KEY_TYPE: kind, Attribute.VALUE: value, **USES})

    def shown(key):
        return key[Attribute.CHECK_VALUE].hex()

    short, long = bytes(range(16)), bytes(range(32))
    key, zone = create(KeyType.AES, short), create(KeyType.AES, long)
    for title, held, value in (("AES-128", key, short), ("AES-256", zone, long)):
        print(f"{title}: CKA_CHECK_VALUE {shown(held)}, encrypted {encrypted(value)}, CMAC {code(value)}")
    # FIPS 81's key twice: single DES, whose check value is D5D44F.
    print("two keys of DES: CKA_CHECK_VALUE", shown(create(KeyType.DES2, bytes.fromhex("0123456789abcdef" * 2))))
    secret = shown(create(KeyType.GENERIC_SECRET, short))
    print(f"the bytes of AES-128 as a generic secret: CKA_CHECK_VALUE {secret}, SHA-1 {hashlib.sha1(short).hexdigest()[:6]}")
    wrapped = zone.wrap_key(key, mechanism=Mechanism.AES_KEY_WRAP)
    back = zone.unwrap_key(ObjectClass.SECRET_KEY, KeyType.AES, wrapped, mechanism=Mechanism.AES_KEY_WRAP, template=USES)
    print(f"AES-128 wrapped by AES-256 and unwrapped: the same key {back[Attribute.VALUE] == short}, CKA_CHECK_VALUE {shown(back)!r}")
    print("CMAC of zeros by the token:", back.sign(ZEROS, mechanism=Mechanism.AES_CMAC)[:3].hex())
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
