#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): Authlib 1.6.5, joserfc 1.8.0, jwcrypto 1.6.1, cryptography 50.0.2
#
# Guess: every JOSE library writes a P-256 coordinate as 32 bytes (RFC 7518, 6.2.1.2), so one key has one thumbprint (RFC 7638).
# What happens: Authlib writes a coordinate without its leading zero bytes. One key in 128 gets a JWK that is too short, and
# Authlib's own thumbprint and `kid` of it differ from what joserfc and jwcrypto make of the same PEM. Nobody who reads that JWK
# complains: both take 31 bytes and keep them, so the wrong thumbprint travels on.
# The key is 43 times the generator: the smallest number whose point has a coordinate with a leading zero byte.
#
# Seen:
# > the point: x has 32 bytes, y has 31
# > written by Authlib: x has 32 bytes, y has 31
# > written by joserfc: x has 32 bytes, y has 32
# > written by jwcrypto: x has 32 bytes, y has 32
# > thumbprint of the PEM by Authlib: oynto_iDk7BbC1TpDhAjGoiBUFY63hdrK_AAqhuXqX8
# > thumbprint of the PEM by joserfc: WZsjbh58q8kl1WsGShqtiycImZtCgGbukDn4RAacMig
# > thumbprint of the PEM by jwcrypto: WZsjbh58q8kl1WsGShqtiycImZtCgGbukDn4RAacMig
# > thumbprint of Authlib's JWK by joserfc: oynto_iDk7BbC1TpDhAjGoiBUFY63hdrK_AAqhuXqX8
# > thumbprint of Authlib's JWK by jwcrypto: oynto_iDk7BbC1TpDhAjGoiBUFY63hdrK_AAqhuXqX8
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check Authlib==1.6.5 joserfc==1.8.0 jwcrypto==1.6.1 cryptography==50.0.2

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import base64

from authlib.jose import JsonWebKey
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from joserfc.jwk import ECKey
from jwcrypto.jwk import JWK

public = ec.derive_private_key(43, ec.SECP256R1()).public_key()
pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
point = public.public_numbers()
sizes = [(number.bit_length() + 7) // 8 for number in (point.x, point.y)]
print(f"the point: x has {sizes[0]} bytes, y has {sizes[1]}")

authlib, joserfc, jwcrypto = JsonWebKey.import_key(pem, {"kty": "EC"}), ECKey.import_key(pem), JWK.from_pem(pem)
written = {"Authlib": authlib.as_dict(), "joserfc": joserfc.as_dict(), "jwcrypto": jwcrypto.export_public(as_dict=True)}
for name, jwk in written.items():
    sizes = [len(base64.urlsafe_b64decode(jwk[part] + "=" * (-len(jwk[part]) % 4))) for part in ("x", "y")]
    print(f"written by {name}: x has {sizes[0]} bytes, y has {sizes[1]}")
for name, key in (("Authlib", authlib), ("joserfc", joserfc), ("jwcrypto", jwcrypto)):
    print(f"thumbprint of the PEM by {name}: {key.thumbprint()}")
bare = {member: written["Authlib"][member] for member in ("kty", "crv", "x", "y")}
print(f"thumbprint of Authlib's JWK by joserfc: {ECKey.import_key(bare).thumbprint()}")
print(f"thumbprint of Authlib's JWK by jwcrypto: {JWK(**bare).thumbprint()}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
