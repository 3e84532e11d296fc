#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: opencryptoki, libopencryptoki0 3.8.1+dfsg-3.2, opensc 0.23.0-0.3+deb12u* (Debian 12); python-pkcs11 0.10.1, cryptography 50.0.2 (PyPI)
#
# Guess: a second software token does what the first one, SoftHSM, does; its upstream has had curves for years. A private key
# that a maker says nothing about cannot be taken out.
# What happens: Debian's has no elliptic curve, no AES-GCM and no CMAC, so that of an envelope's algorithms RSA-OAEP is left. That one it
# does with SHA-256, where SoftHSM answers "bad arguments". A new private key is extractable. PKCS #1 signatures end at SHA-1, while PSS
# has SHA-256 to SHA-512.
#
# Seen:
# > mechanisms with EC in their names: 0, with GCM: 0, with CMAC: 0
# > signatures with RSA-PKCS: MD5 SHA1, with RSA-PKCS-PSS: SHA1 SHA256 SHA384 SHA512
# > OAEP with SHA-1: opened
# > OAEP with SHA-256: opened
# > OAEP with SHA-256 and a label: opened
# > a new private key: sensitive True, extractable True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
policy=/usr/sbin/policy-rc.d
# Nothing is started by the installation.
made=
[ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod 755 "$policy"; made=$policy; trap 'rm -rf "$folder" "$made"' EXIT; }
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends opencryptoki libopencryptoki0 opensc python3-venv \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' libopencryptoki0) in 3.8.1+dfsg-3.2*) ;; *) echo "$(basename "$0"): another version of opencryptoki" >&2; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-pkcs11==0.10.1 cryptography==50.0.2

# A process and an IPC space of its own: the token's daemon and its shared memory end with it. The token itself goes at the end.
trap 'rm -rf "$folder" "$made" /var/lib/opencryptoki/swtok /run/lock/opencryptoki; mv "$folder.tokens" /var/lib/opencryptoki/swtok' EXIT
cp -a /var/lib/opencryptoki/swtok "$folder.tokens"
timeout -s KILL 600 unshare -i -p -f --kill-child "$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import glob
import os
import re
import subprocess
import time

import pkcs11
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from pkcs11 import MGF, Attribute, KeyType, Mechanism

MODULE = sorted(glob.glob("/usr/lib/*/libopencryptoki.so.0"))[0]
os.makedirs("/run/lock/opencryptoki/swtok", exist_ok=True)
subprocess.run(["chgrp", "-R", "pkcs11", "/run/lock/opencryptoki"], check=True)
subprocess.run(["chmod", "-R", "770", "/run/lock/opencryptoki"], check=True)
subprocess.run(["/usr/sbin/pkcsslotd"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def tool(*words):
    return subprocess.run(["pkcs11-tool", "--module", MODULE, *words], capture_output=True, text=True)


for _ in range(600):
    if "Slot" in tool("-L").stdout:
        break
    time.sleep(0.1)
tool("--slot", "3", "--init-token", "--label", "rig", "--so-pin", "87654321")
tool("--slot", "3", "--login", "--login-type", "so", "--so-pin", "87654321", "--init-pin", "--pin", "12345678")
names = re.findall(r"^  ([A-Za-z0-9-]+)", tool("--slot", "3", "-M").stdout, re.M)
counts = [sum(part in re.split("-", name) for name in names) for part in ("GCM", "CMAC")]
curves = sum(name.startswith(("EC", "ECDSA", "ECDH")) for name in names)
print(f"mechanisms with EC in their names: {curves}, with GCM: {counts[0]}, with CMAC: {counts[1]}")
plain, pss = (" ".join(name.split("-")[0] for name in names if re.fullmatch(rf"(MD5|SHA\d+)-{kind}", name)) for kind in ("RSA-PKCS", "RSA-PKCS-PSS"))
print(f"signatures with RSA-PKCS: {plain}, with RSA-PKCS-PSS: {pss}")

with pkcs11.lib(MODULE).get_token(token_label="rig").open(user_pin="12345678", rw=True) as session:
    public, private = session.generate_keypair(KeyType.RSA, 2048, store=True)
    numbers = [int.from_bytes(public[name], "big") for name in (Attribute.PUBLIC_EXPONENT, Attribute.MODULUS)]
    key = rsa.RSAPublicNumbers(*numbers).public_key()
    for title, digest, mechanism, mask, label in (
        ("SHA-1", hashes.SHA1(), Mechanism.SHA_1, MGF.SHA1, None),
        ("SHA-256", hashes.SHA256(), Mechanism.SHA256, MGF.SHA256, None),
        ("SHA-256 and a label", hashes.SHA256(), Mechanism.SHA256, MGF.SHA256, b"sale"),
    ):
        sealed = key.encrypt(b"content key", padding.OAEP(padding.MGF1(digest), digest, label))
        try:
            opened = private.decrypt(sealed, mechanism=Mechanism.RSA_PKCS_OAEP, mechanism_param=(mechanism, mask, label))
            print(f"OAEP with {title}:", "opened" if opened == b"content key" else opened)
        except pkcs11.PKCS11Error as error:
            print(f"OAEP with {title}: {type(error).__name__}")
    print(f"a new private key: sensitive {private[Attribute.SENSITIVE]}, extractable {private[Attribute.EXTRACTABLE]}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
