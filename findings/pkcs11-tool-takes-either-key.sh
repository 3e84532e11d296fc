#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages: softhsm2 2.6.1-2.1, opensc 0.23.0-0.3+deb12u* (Debian 12); python-pkcs11 0.10.1 (PyPI)
#
# Guess: a key that is renewed under the label of the old one is the one that is used from then on, or the old one is, or the tool says that there are two;
# two tokens that were made by the same commands do the same.
# What happens: pkcs11-tool takes the first key that the token finds and says nothing, and SoftHSM finds them in the order of their files' names, which are
# random: one token works with the old key and its twin with the new one, each time in the same way, so that a test on one proves nothing for the other.
# python-pkcs11 refuses.
#
# Seen:
# > 12 tokens, an old and a new key each, both named "zone": the new one is used in some True, the old one in others True
# > it is the one whose file's name sorts first: 12 of 12
# > asked three times, the same key each time: 12 of 12
# > pkcs11-tool says that there are two: 0 of 12
# > python-pkcs11: MultipleObjectsReturned
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3-venv openssl opensc softhsm2=2.6.1-2.1 libsofthsm2=2.6.1-2.1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' opensc) in 0.23.0-0.3+deb12u*) ;; *) echo "$(basename "$0"): another version of opensc" >&2; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-pkcs11==0.10.1
mkdir "$folder/tokens"
printf 'directories.tokendir = %s/tokens\nobjectstore.backend = file\n' "$folder" >"$folder/softhsm2.conf"
export SOFTHSM2_CONF="$folder/softhsm2.conf"

(cd "$folder" && venv/bin/python -) 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import os
import re
import subprocess

import pkcs11

MODULE = "/usr/lib/softhsm/libsofthsm2.so"
KEYS = {"old": b"a" * 16, "new": b"b" * 16}
TOKENS = 12


def run(*command):
    return subprocess.run(command, capture_output=True, check=True)


def tool(token, *words):
    return run("pkcs11-tool", "--module", MODULE, "--token-label", token, "--login", "--pin", "1234", *words)


def objects():
    found = (os.path.join(place, name) for place, _, names in os.walk("tokens") for name in names)
    return {path for path in found if path.endswith(".object") and not path.endswith("token.object")}


with open("text", "wb") as text:
    text.write(bytes(16))
sealed = {}
for name, key in KEYS.items():
    with open(name, "wb") as file:
        file.write(key)
    sealed[run("openssl", "enc", "-aes-128-ecb", "-nopad", "-K", key.hex(), "-in", "text").stdout] = name

taken, by_name, stable, warned = [], 0, 0, 0
for number in range(TOKENS):
    token = f"token{number}"
    run("softhsm2-util", "--init-token", "--free", "--label", token, "--pin", "1234", "--so-pin", "5678")
    files = {}
    for place, name in enumerate(KEYS, 1):
        before = objects()
        tool(token, "--write-object", name, "--type", "secrkey", "--key-type", "AES:16", "--label", "zone", "--id", f"0{place}", "--usage-decrypt")
        (path,) = objects() - before
        files[path] = name
    used = []
    for _ in range(3):
        said = tool(token, "--encrypt", "--mechanism", "AES-ECB", "--label", "zone", "--input-file", "text", "--output-file", "sealed")
        with open("sealed", "rb") as file:
            used.append(sealed[file.read()])
        os.remove("sealed")
    words = (said.stdout + said.stderr).decode().lower()
    taken.append(used[0])
    stable += len(set(used)) == 1
    by_name += used[0] == files[min(files)]
    warned += bool(re.search(r"multiple|ambiguous|more than one|several|two keys", words))
some = f'the new one is used in some {"new" in taken}, the old one in others {"old" in taken}'
print(f'{TOKENS} tokens, an old and a new key each, both named "zone": {some}')
print(f"it is the one whose file's name sorts first: {by_name} of {TOKENS}")
print(f"asked three times, the same key each time: {stable} of {TOKENS}")
print(f"pkcs11-tool says that there are two: {warned} of {TOKENS}")
with pkcs11.lib(MODULE).get_token(token_label="token0").open(user_pin="1234") as session:
    try:
        said = session.get_key(label="zone").id
    except pkcs11.PKCS11Error as error:
        said = type(error).__name__
print("python-pkcs11:", said)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
