#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: libcrypt-jwt-perl 0.034-1 (Debian 12); jwcrypto 1.6.1, joserfc 1.8.0 (PyPI) on the other side
#
# Guess: a library that seals by ECDH-ES and opens what it sealed seals for others as well; what fails to open dies.
# What happens: Perl's Crypt::JWT writes the ephemeral key as a text that holds JSON where RFC 7518 4.6.1.1 wants an object, and reads both. No other library opens its
# messages, while it opens theirs. It puts `apu` and `apv` into the key's derivation as they stand in the header, not
# decoded, so that it opens nobody else's that has them; with GCM it then gives undef and does not die.
#
# Seen:
# > Perl seals, epk is a str
# > Perl opens it: 4111
# > jwcrypto opens it: InvalidJWEData
# > joserfc opens it: InvalidHeaderValueError
# > jwcrypto seals with {"enc": "A256GCM"}, Perl opens it: 4111
# > jwcrypto seals with {"enc": "A256GCM", "apv": "Qm9i"}, Perl opens it: undef, and does not die
# > jwcrypto seals with {"enc": "A128CBC-HS256", "apv": "Qm9i"}, Perl opens it: dies: JWE: tag mismatch
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv libcrypt-jwt-perl=0.034-1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check jwcrypto==1.6.1 joserfc==1.8.0
cat >"$folder/seal.pl" <<'PERL'
use Crypt::JWT qw(encode_jwt);
print encode_jwt(payload => "4111", alg => "ECDH-ES", enc => "A256GCM", key => \$ARGV[0]);
PERL
cat >"$folder/open.pl" <<'PERL'
use Crypt::JWT qw(decode_jwt);
my $opened = eval { decode_jwt(token => $ARGV[1], key => \$ARGV[0], decode_payload => 0) };
print defined $opened ? $opened : $@ =~ /^(.*?) at / ? "dies: $1" : "undef, and does not die";
PERL

"$folder/venv/bin/python" - "$folder" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import base64
import json
import subprocess
import sys

from joserfc import jwe as joserfc_jwe
from joserfc.jwk import ECKey
from jwcrypto import jwe, jwk

key = jwk.JWK.generate(kty="EC", crv="P-256")


def perl(script, *arguments):
    return subprocess.run(("perl", f"{sys.argv[1]}/{script}", *arguments), capture_output=True, text=True, check=True).stdout


def said(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__


message = perl("seal.pl", key.export_public())
head = message.split(".")[0]
print("Perl seals, epk is a", type(json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["epk"]).__name__)
print("Perl opens it:", perl("open.pl", key.export(), message))
print("jwcrypto opens it:", said(lambda: jwe.JWE.from_jose_token(message).decrypt(key)))
print("joserfc opens it:", said(lambda: joserfc_jwe.decrypt_compact(message, ECKey.import_key(key.export(as_dict=True)), algorithms=["ECDH-ES", "A256GCM"])))
for header in ({"enc": "A256GCM"}, {"enc": "A256GCM", "apv": "Qm9i"}, {"enc": "A128CBC-HS256", "apv": "Qm9i"}):
    message = jwe.JWE(b"4111", protected=json.dumps({"alg": "ECDH-ES"} | header), recipient=key).serialize(compact=True)
    print(f"jwcrypto seals with {json.dumps(header)}, Perl opens it: {perl('open.pl', key.export(), message)}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
