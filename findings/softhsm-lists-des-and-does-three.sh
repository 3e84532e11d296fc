#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: softhsm2 2.6.1-2.1 (Debian 12); python-pkcs11 0.10.1 (PyPI)
#
# Guess: a token that lists CKM_DES_ECB with CKF_ENCRYPT, and takes a DES key, encrypts with it; the retail MAC (ISO 9797-1 algorithm 3) chains so.
# What happens: single DES is listed with every flag, its key is taken, and C_EncryptInit answers CKR_MECHANISM_INVALID: the library below it keeps DES
# in a provider that is not loaded, and the list does not ask. DES with three keys works, and with three times the same key it is single DES.
#
# Seen:
# > CKM_DES_ECB is listed with ENCRYPT: True
# > a DES key is taken: True
# > CKM_DES_ECB with it: MechanismInvalid
# > CKM_DES3_ECB with one key three times: 3fa40e8a984d48156a271787ab8883f9893d51ec4b563b53
# > which is FIPS 81's text for DES: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3-venv softhsm2=2.6.1-2.1 libsofthsm2=2.6.1-2.1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-pkcs11==0.10.1
mkdir "$folder/tokens"
printf 'directories.tokendir = %s/tokens\nobjectstore.backend = file\n' "$folder" >"$folder/softhsm2.conf"
export SOFTHSM2_CONF="$folder/softhsm2.conf"
softhsm2-util --init-token --free --label findings --pin 1234 --so-pin 5678 >"$folder/token"

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import pkcs11
from pkcs11 import Attribute, KeyType, Mechanism, MechanismFlag, ObjectClass

token = pkcs11.lib("/usr/lib/softhsm/libsofthsm2.so").get_token(token_label="findings")
flags = token.slot.get_mechanism_info(Mechanism._DES_ECB).flags
print("CKM_DES_ECB is listed with ENCRYPT:", Mechanism._DES_ECB in token.slot.get_mechanisms() and bool(flags & MechanismFlag.ENCRYPT))
text = b"Now is the time for all "
with token.open(rw=True, user_pin="1234") as session:
    key = session.create_object({
        Attribute.CLASS: ObjectClass.SECRET_KEY, Attribute.KEY_TYPE: KeyType._DES, Attribute.ENCRYPT: True, Attribute.TOKEN: False,
        Attribute.VALUE: bytes.fromhex("0123456789abcdef")})
    print("a DES key is taken:", key.key_type == KeyType._DES)
    try:
        said = key.encrypt(text, mechanism=Mechanism._DES_ECB).hex()
    except pkcs11.PKCS11Error as error:
        said = type(error).__name__
    print("CKM_DES_ECB with it:", said)
    three = session.create_object({
        Attribute.CLASS: ObjectClass.SECRET_KEY, Attribute.KEY_TYPE: KeyType.DES3, Attribute.ENCRYPT: True, Attribute.TOKEN: False,
        Attribute.VALUE: bytes.fromhex("0123456789abcdef" * 3)})
    sealed = three.encrypt(text, mechanism=Mechanism.DES3_ECB).hex()
    print("CKM_DES3_ECB with one key three times:", sealed)
    # FIPS 81, table B1, with the key 0123456789abcdef.
    print("which is FIPS 81's text for DES:", sealed == "3fa40e8a984d48156a271787ab8883f9893d51ec4b563b53")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
