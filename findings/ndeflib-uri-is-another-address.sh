#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): ndeflib 0.3.3
#
# Guess: of a URI record, `uri` is the address that the tag holds, or the same one in ASCII, as RFC 3987 (3.1) maps it.
# What happens: everything behind the host is quoted again as if it were a path: "=" and "&" of a query become %3D and %26, and each %20 becomes
# %2520. A server asked for it sees one parameter without a value, so a pass or a receipt is not found. `iri` is what the tag
# holds; a URI without a host (tel:, mailto:) is left alone.
#
# Seen:
# > the tag holds https://shop.example/pass?id=42&shop=7
# > .iri https://shop.example/pass?id=42&shop=7
# > .uri https://shop.example/pass?id%3D42%26shop%3D7
# > its query as a server reads it: from .iri id 42, shop 7; from .uri nothing
# > the tag holds https://shop.example/a%20b: .uri https://shop.example/a%2520b
# > the tag holds tel:+33123;ext=5: .uri tel:+33123;ext=5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ndeflib==0.3.3

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from urllib.parse import parse_qsl, urlsplit

import ndef


def record(prefix, rest):
    body = bytes([prefix]) + rest.encode()
    (read,) = ndef.message_decoder(bytes([0xD1, 1, len(body)]) + b"U" + body)
    return read


def query(address):
    return ", ".join(f"{name} {value}" for name, value in parse_qsl(urlsplit(address).query)) or "nothing"


read = record(4, "shop.example/pass?id=42&shop=7")
print("the tag holds https://shop.example/pass?id=42&shop=7")
print(".iri", read.iri)
print(".uri", read.uri)
print(f"its query as a server reads it: from .iri {query(read.iri)}; from .uri {query(read.uri)}")
for title, prefix, rest in (("https://shop.example/a%20b", 4, "shop.example/a%20b"), ("tel:+33123;ext=5", 5, "+33123;ext=5")):
    print(f"the tag holds {title}: .uri {record(prefix, rest).uri}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
