#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (Debian 12): softhsm2 2.6.1-2.1, opensc 0.23.0-0.3+deb12u* (pkcs11-tool); python-pkcs11 0.10.1 (PyPI)
#
# Guess: a secret key that is made with --usage-sign signs, and one with --usage-wrap wraps; --list-objects says what each may do.
# What happens: the options only add. What a template leaves out is the token's choice, and SoftHSM's is yes: each of these keys encrypts, decrypts, signs,
# verifies, wraps and unwraps. So does the one of softhsm2-util --import, which has no option for it. python-pkcs11 names all uses, and its key does one.
# The list is no help: it leaves "sign" out, so that the key which may sign and nothing else has the usage "none", and one that signs besides does not show it.
#
# Seen:
# > pkcs11-tool --keygen --usage-wrap: encrypt, decrypt, sign, verify, wrap, unwrap; listed: encrypt, decrypt, verify, wrap, unwrap
# > pkcs11-tool --write-object --usage-sign: encrypt, decrypt, sign, verify, wrap, unwrap; listed: encrypt, decrypt, verify, wrap, unwrap
# > softhsm2-util --import --aes: encrypt, decrypt, sign, verify, wrap, unwrap; listed: encrypt, decrypt, verify, wrap, unwrap
# > python-pkcs11, for signing: sign; listed: none
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3-venv opensc softhsm2=2.6.1-2.1 libsofthsm2=2.6.1-2.1 >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
[[ $(dpkg-query -W -f '${Version}' opensc) == 0.23.0-0.3+deb12u* ]] || { echo "$(basename "$0"): another version of opensc" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-pkcs11==0.10.1
mkdir "$folder/tokens"
printf 'directories.tokendir = %s/tokens\nobjectstore.backend = file\n' "$folder" >"$folder/softhsm2.conf"
export SOFTHSM2_CONF="$folder/softhsm2.conf"
tool() { pkcs11-tool --module /usr/lib/softhsm/libsofthsm2.so --login --pin 1234 "$@"; }
head -c 32 /dev/urandom >"$folder/key"
{
    softhsm2-util --init-token --free --label findings --pin 1234 --so-pin 5678
    tool --keygen --key-type AES:32 --usage-wrap --sensitive --id 01 --label "pkcs11-tool --keygen --usage-wrap"
    tool --write-object "$folder/key" --type secrkey --key-type AES:32 --usage-sign --sensitive --id 02 --label "pkcs11-tool --write-object --usage-sign"
    softhsm2-util --import "$folder/key" --aes --token findings --pin 1234 --id 03 --label "softhsm2-util --import --aes"
} >"$folder/made" 2>&1 || { cat "$folder/made" >&2; exit 1; }

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import re
import subprocess

import pkcs11
from pkcs11 import Attribute, KeyType, MechanismFlag, ObjectClass

MODULE = "/usr/lib/softhsm/libsofthsm2.so"

with pkcs11.lib(MODULE).get_token(token_label="findings").open(rw=True, user_pin="1234") as session:
    session.generate_key(KeyType.AES, 256, id=b"\x04", label="python-pkcs11, for signing", store=True, capabilities=MechanismFlag.SIGN)
    listed = dict(re.findall(r"label: +(.+)\n(?:.*\n)*?  Usage: +(.+)\n", subprocess.run(
        ("pkcs11-tool", "--module", MODULE, "--login", "--pin", "1234", "--list-objects", "--type", "secrkey"), capture_output=True, text=True).stdout))
    for number in range(1, 5):
        key = session.get_key(object_class=ObjectClass.SECRET_KEY, id=bytes([number]))
        may = [use.lower() for use in ("ENCRYPT", "DECRYPT", "SIGN", "VERIFY", "WRAP", "UNWRAP", "DERIVE") if key[Attribute[use]]]
        print(f"{key.label}: {', '.join(may)}; listed: {listed[key.label]}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
