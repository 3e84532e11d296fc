#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): cryptojwt 1.11.0 (under many OpenID Connect servers), jwskate 0.12.2, beside joserfc 1.8.0
#
# Guess: ECDH-ES with a key wrap and AES-GCM are RFC 7518's, so that what one library seals another one opens; a library that opens its
# own messages in all sixteen combinations has them right.
# What happens: cryptojwt opens all of its own and no wrapped one of joserfc's, nor the other way round: both of its sides derive another
# key to wrap with. With AES-GCM it writes an IV of 16 bytes, where RFC 7518 5.3 asks for 12, so that its unwrapped
# messages are refused as well. jwskate opens everything until a message with a key wrap names its parties by apu and apv.
#
# Seen:
# > joserfc seals, cryptojwt opens: ECDH-ES; not ECDH-ES+A128KW, ECDH-ES+A256KW; with apu and apv: ECDH-ES; not ECDH-ES+A128KW, ECDH-ES+A256KW
# > joserfc seals, jwskate opens: ECDH-ES, ECDH-ES+A128KW, ECDH-ES+A256KW; with apu and apv: ECDH-ES; not ECDH-ES+A128KW, ECDH-ES+A256KW
# > cryptojwt seals, cryptojwt opens: ECDH-ES, ECDH-ES+A128KW, ECDH-ES+A256KW
# > cryptojwt seals with A256GCM, joserfc opens: not ECDH-ES, ECDH-ES+A128KW, ECDH-ES+A256KW
# > cryptojwt seals with A128CBC-HS256, joserfc opens: ECDH-ES; not ECDH-ES+A128KW, ECDH-ES+A256KW
# > bytes of cryptojwt's IV with A256GCM: 16
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check cryptojwt==1.11.0 jwskate==0.12.2 joserfc==1.8.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import base64

from cryptojwt.jwe.jwe import JWE
from cryptojwt.jwk.jwk import key_from_jwk_dict
from joserfc import jwe
from joserfc.jwk import ECKey
from jwskate import JweCompact

ALGORITHMS = ("ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A256KW")
registry = jwe.JWERegistry(algorithms=[*ALGORITHMS, "A256GCM", "A128CBC-HS256"])
key = ECKey.generate_key("P-256", private=True)
private, public = key.as_dict(private=True), key.as_dict(private=False)


def joserfc_seals(algorithm, parties):
    header = {"alg": algorithm, "enc": "A256GCM"} | ({"apu": "dGlsbA", "apv": "cHNw"} if parties else {})
    return jwe.encrypt_compact(header, b"sale", key, registry=registry)


def cryptojwt_seals(algorithm, encryption):
    return JWE(b"sale", alg=algorithm, enc=encryption).encrypt([key_from_jwk_dict(public)])


def cryptojwt_opens(text):
    return JWE().decrypt(text, keys=[key_from_jwk_dict(private)])


def jwskate_opens(text):
    return JweCompact(text).decrypt(private)


def joserfc_opens(text):
    return jwe.decrypt_compact(text, key, registry=registry).plaintext


def verdict(messages, opens):
    good, bad = [], []
    for algorithm, text in messages.items():
        try:
            (good if opens(text) == b"sale" else bad).append(algorithm)
        except Exception:
            bad.append(algorithm)
    return "; ".join(part for part in (", ".join(good), "not " + ", ".join(bad) if bad else "") if part)


for name, opens in (("cryptojwt", cryptojwt_opens), ("jwskate", jwskate_opens)):
    plain, named = ({algorithm: joserfc_seals(algorithm, parties) for algorithm in ALGORITHMS} for parties in (False, True))
    print(f"joserfc seals, {name} opens: {verdict(plain, opens)}; with apu and apv: {verdict(named, opens)}")
own = {algorithm: cryptojwt_seals(algorithm, "A256GCM") for algorithm in ALGORITHMS}
print(f"cryptojwt seals, cryptojwt opens: {verdict(own, cryptojwt_opens)}")
print(f"cryptojwt seals with A256GCM, joserfc opens: {verdict(own, joserfc_opens)}")
print(f"cryptojwt seals with A128CBC-HS256, joserfc opens: {verdict({a: cryptojwt_seals(a, 'A128CBC-HS256') for a in ALGORITHMS}, joserfc_opens)}")
vector = own["ECDH-ES"].split(".")[2]
print("bytes of cryptojwt's IV with A256GCM:", len(base64.urlsafe_b64decode(vector + "=" * (-len(vector) % 4))))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
