#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: jose 11-2+deb12u1 (Debian 12); jwcrypto 1.6.1, joserfc 1.8.0, cryptography 50.0.2 (PyPI)
#
# Guess: a key for ECDH-ES has the `key_ops` deriveKey or deriveBits, as browsers write it, and each library that honours `key_ops` seals to it.
# What happens: jwcrypto refuses deriveKey and deriveBits and asks for wrapKey, also where ECDH-ES wraps no key at all. joserfc asks
# for deriveKey and refuses wrapKey. Debian's `jose jwk gen` writes wrapKey, so joserfc cannot seal to its keys, and jwcrypto
# not to a browser's; no `key_ops` of one member suits both. Besides, `jose` takes P-521 for a key whose curve is not said.
#
# Seen:
# > made by jose for ECDH-ES: P-521, private wrapKey unwrapKey, public wrapKey
# > no key_ops: jwcrypto seals, joserfc seals
# > key_ops deriveKey: jwcrypto InvalidJWKOperation, joserfc seals
# > key_ops deriveBits: jwcrypto InvalidJWKOperation, joserfc UnsupportedKeyOperationError
# > key_ops wrapKey: jwcrypto seals, joserfc UnsupportedKeyOperationError
# > key_ops deriveKey wrapKey: jwcrypto seals, joserfc seals
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    jose=11-2+deb12u1 libjose0=11-2+deb12u1 python3-venv \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check jwcrypto==1.6.1 joserfc==1.8.0 cryptography==50.0.2
jose jwk gen -i '{"alg":"ECDH-ES"}' -o "$folder/private.jwk"
jose jwk pub -i "$folder/private.jwk" -o "$folder/public.jwk"

"$folder/venv/bin/python" - "$folder" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import json
import sys

from joserfc import jwe as joserfc_jwe
from joserfc.jwk import ECKey
from jwcrypto.jwe import JWE
from jwcrypto.jwk import JWK

HEADER = {"alg": "ECDH-ES", "enc": "A256GCM"}
private, public = (json.load(open(f"{sys.argv[1]}/{name}.jwk")) for name in ("private", "public"))
print(f"made by jose for ECDH-ES: {public['crv']}, private {' '.join(private['key_ops'])}, public {' '.join(public['key_ops'])}")


def said(seal):
    try:
        seal()
        return "seals"
    except Exception as error:
        return type(error).__name__


bare = json.loads(JWK.generate(kty="EC", crv="P-256").export_public())
for operations in ([], ["deriveKey"], ["deriveBits"], ["wrapKey"], ["deriveKey", "wrapKey"]):
    key = {**bare, "key_ops": operations} if operations else bare
    by_jwcrypto = said(lambda: JWE(b"record", protected=json.dumps(HEADER), recipient=JWK(**key)).serialize(compact=True))
    by_joserfc = said(lambda: joserfc_jwe.encrypt_compact(dict(HEADER), b"record", ECKey.import_key(key)))
    print(f"{'key_ops ' + ' '.join(operations) if operations else 'no key_ops'}: jwcrypto {by_jwcrypto}, joserfc {by_joserfc}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
