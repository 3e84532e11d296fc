#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: softhsm2 2.6.1-2.1 (Debian 12); python-pkcs11 0.10.1, cryptography 50.0.2 (PyPI)
#
# Guess: a token that lists CKM_RSA_PKCS_OAEP opens what JWE's RSA-OAEP-256 seals, as the hash is a parameter of the mechanism.
# What happens: SHA-1 is the only hash it takes, for OAEP and its MGF1. SHA-256 is CKR_ARGUMENTS_BAD, which reads like a fault in the call;
# no mechanism and no flag tells it beforehand. RSA-OAEP (SHA-1) of the same key is opened.
#
# Seen:
# > CKM_RSA_PKCS_OAEP is listed: True
# > CKM_SHA256 is listed: True
# > sealed with OAEP and SHA-1: opened
# > sealed with OAEP and SHA-256: ArgumentsBad
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
import pkcs11
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from pkcs11 import MGF, Attribute, KeyType, Mechanism

token = pkcs11.lib("/usr/lib/softhsm/libsofthsm2.so").get_token(token_label="findings")
listed = token.slot.get_mechanisms()
print("CKM_RSA_PKCS_OAEP is listed:", Mechanism.RSA_PKCS_OAEP in listed)
print("CKM_SHA256 is listed:", Mechanism.SHA256 in listed)
with token.open(rw=True, user_pin="1234") as session:
    public, private = session.generate_keypair(KeyType.RSA, 2048)
    modulus, exponent = (int.from_bytes(public[part], "big") for part in (Attribute.MODULUS, Attribute.PUBLIC_EXPONENT))
    sealer = rsa.RSAPublicNumbers(exponent, modulus).public_key()
    for title, hash, parameter in (
        ("SHA-1", hashes.SHA1(), (Mechanism.SHA_1, MGF.SHA1, None)),
        ("SHA-256", hashes.SHA256(), (Mechanism.SHA256, MGF.SHA256, None)),
    ):
        sealed = sealer.encrypt(b"a key of 32 bytes for A256GCM...", padding.OAEP(padding.MGF1(hash), hash, None))
        try:
            opened = private.decrypt(sealed, mechanism=Mechanism.RSA_PKCS_OAEP, mechanism_param=parameter)
            said = "opened" if opened == b"a key of 32 bytes for A256GCM..." else "another plaintext"
        except pkcs11.PKCS11Error as error:
            said = type(error).__name__
        print(f"sealed with OAEP and {title}: {said}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
