#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): softhsm2 2.6.1-2.1, opensc 0.23.0-0.3+deb12u* (pkcs11-tool), gnutls-bin 3.7.9-2+deb12u* (p11tool); python-pkcs11 0.10.1 (PyPI)
#
# Guess: an EC key in a token does ECDH whichever of the common tools put it there; a key pair that was made for signing as well is at most less strict.
# What happens: only pkcs11-tool's --keypairgen sets CKA_DERIVE. The key of p11tool --generate-ecc may decrypt and unwrap, which no EC key can, and not derive.
# softhsm2-util --import makes a key that only signs, pkcs11-tool --write-object needs --usage-derive. The key looks well until the first message
# comes. It can be mended in its place: the attribute may be changed afterwards, by C_SetAttributeValue.
#
# Seen:
# > pkcs11-tool --keypairgen: decrypt, sign, unwrap, derive; ECDH: a secret
# > p11tool --generate-ecc: decrypt, sign, unwrap; ECDH: CKR_KEY_FUNCTION_NOT_PERMITTED
# > softhsm2-util --import: sign; ECDH: CKR_KEY_FUNCTION_NOT_PERMITTED
# > pkcs11-tool --write-object: decrypt, sign, unwrap; ECDH: CKR_KEY_FUNCTION_NOT_PERMITTED
# > pkcs11-tool --write-object --usage-derive: decrypt, sign, unwrap, derive; ECDH: a secret
# > softhsm2-util --import, CKA_DERIVE set afterwards: a secret
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3-venv openssl opensc gnutls-bin softhsm2=2.6.1-2.1 libsofthsm2=2.6.1-2.1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
for package in opensc=0.23.0-0.3+deb12u gnutls-bin=3.7.9-2+deb12u; do
    [[ $(dpkg-query -W -f '${Version}' "${package%%=*}") == "${package#*=}"* ]] || { echo "$(basename "$0"): another version of ${package%%=*}" >&2; exit 1; }
done
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-pkcs11==0.10.1
mkdir "$folder/tokens"
printf 'directories.tokendir = %s/tokens\nobjectstore.backend = file\n' "$folder" >"$folder/softhsm2.conf"
export SOFTHSM2_CONF="$folder/softhsm2.conf"
module=/usr/lib/softhsm/libsofthsm2.so
tool() { pkcs11-tool --module $module --login --pin 1234 "$@"; }
softhsm2-util --init-token --free --label findings --pin 1234 --so-pin 5678 >"$folder/token"
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$folder/key.pem" 2>"$folder/openssl"
openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout -outform der -out "$folder/peer" 2>"$folder/openssl"
{
    tool --keypairgen --key-type EC:prime256v1 --id 01 --label "pkcs11-tool --keypairgen"
    p11tool --provider $module --login --set-pin 1234 --generate-ecc --curve secp256r1 --id 02 --label "p11tool --generate-ecc" "pkcs11:token=findings"
    softhsm2-util --import "$folder/key.pem" --token findings --pin 1234 --id 03 --label "softhsm2-util --import"
    tool --write-object "$folder/key.pem" --type privkey --id 04 --label "pkcs11-tool --write-object"
    tool --write-object "$folder/key.pem" --type privkey --usage-derive --id 05 --label "pkcs11-tool --write-object --usage-derive"
} >"$folder/made" 2>&1 || { cat "$folder/made" >&2; exit 1; }

"$folder/venv/bin/python" - "$folder/peer" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import re
import subprocess
import sys

import pkcs11
from pkcs11 import Attribute, ObjectClass

MODULE = "/usr/lib/softhsm/libsofthsm2.so"


def ecdh(number):
    said = subprocess.run(
        ("pkcs11-tool", "--module", MODULE, "--login", "--pin", "1234", "--derive", "-m", "ECDH1-DERIVE", "--id", f"{number:02}", "-i", sys.argv[1]),
        capture_output=True, text=True, errors="replace")
    return "a secret" if said.returncode == 0 else re.search("CKR_[A-Z_]*", said.stderr)[0]


with pkcs11.lib(MODULE).get_token(token_label="findings").open(rw=True, user_pin="1234") as session:
    for number in range(1, 6):
        key = session.get_key(object_class=ObjectClass.PRIVATE_KEY, id=bytes([number]))
        may = [use.lower() for use in ("DECRYPT", "SIGN", "UNWRAP", "DERIVE") if key[Attribute[use]]]
        print(f"{key.label}: {', '.join(may)}; ECDH: {ecdh(number)}")
    key = session.get_key(object_class=ObjectClass.PRIVATE_KEY, id=b"\x03")
    key[Attribute.DERIVE] = True
    print(f"{key.label}, CKA_DERIVE set afterwards: {ecdh(3)}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
