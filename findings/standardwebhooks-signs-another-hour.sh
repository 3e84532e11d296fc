#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): standardwebhooks 1.1.0, svix 2.9.1, eep-signer 0.1.0 ("Standard Webhooks HMAC-SHA256 signing and verification")
#
# Guess: a library that takes a `datetime` signs the moment that it is, in whichever zone, and what it signs it verifies. A key that begins
# with whsec_ is Base64, and libraries for one standard verify each other's messages.
# What happens: standardwebhooks, and svix above it, put UTC in place of the zone and keep the clock's hands: 11:15 in Berlin is signed as
# 11:15 UTC. A receiver's test that signs with `datetime.now()`, or with a time in its own zone, is told "No matching signature found".
# In UTC all is well, so that it passes on most servers. eep-signer takes the letters of whsec_… themselves for the key, and 60 seconds
# where the others have five minutes: it refuses each message of theirs, and they refuse each of its.
#
# Seen:
# > standardwebhooks, signed with a time in UTC: verified
# > standardwebhooks, signed with the same moment in Berlin: No matching signature found
# > standardwebhooks, signed with datetime.now() on a machine in Berlin: No matching signature found
# > standardwebhooks, signed with datetime.now() on a machine in UTC: verified
# > svix, signed with the same moment in Berlin: No matching signature found
# > eep-signer verifies what standardwebhooks signed: False
# > eep-signer verifies what it signed itself: True, after 90 seconds: outside the 60s tolerance
# > standardwebhooks verifies what eep-signer signed: No matching signature found
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check standardwebhooks==1.1.0 svix==2.9.1 eep-signer==0.1.0 tzdata==2026.6

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import os
import time
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

import standardwebhooks
import svix.webhooks
from eep_signer import EEPSignatureError, EEPSigner

key = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
body = '{"type":"tap","lane":"1"}'
moment = datetime.now(timezone.utc).replace(microsecond=0)


def verified(library, signature, when):
    headers = {"webhook-id": "msg_1", "webhook-timestamp": str(int(when.timestamp())), "webhook-signature": signature}
    try:
        library(key).verify(body, headers)
        return "verified"
    except standardwebhooks.WebhookVerificationError as error:
        return str(error)


def told(library, name, when, how):
    print(f"{name}, signed with {how}: {verified(library, library(key).sign('msg_1', when, body), when)}")


official = standardwebhooks.Webhook
told(official, "standardwebhooks", moment, "a time in UTC")
told(official, "standardwebhooks", moment.astimezone(ZoneInfo("Europe/Berlin")), "the same moment in Berlin")
for zone in ("Europe/Berlin", "UTC"):
    os.environ["TZ"] = zone
    time.tzset()
    told(official, "standardwebhooks", datetime.now(), f"datetime.now() on a machine in {zone.split('/')[-1]}")
told(svix.webhooks.Webhook, "svix", moment.astimezone(ZoneInfo("Europe/Berlin")), "the same moment in Berlin")
other, now = EEPSigner(key), str(int(moment.timestamp()))
print("eep-signer verifies what standardwebhooks signed:", other.verify("msg_1", now, official(key).sign("msg_1", moment, body), body))
late = str(int(moment.timestamp()) - 90)
try:
    said = str(other.verify("msg_1", late, other.sign("msg_1", late, body), body))
except EEPSignatureError as error:
    said = "outside the 60s tolerance" if "outside the 60s tolerance" in str(error) else str(error)
print(f"eep-signer verifies what it signed itself: {other.verify('msg_1', now, other.sign('msg_1', now, body), body)}, after 90 seconds: {said}")
print("standardwebhooks verifies what eep-signer signed:", verified(official, other.sign("msg_1", now, body), moment))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
