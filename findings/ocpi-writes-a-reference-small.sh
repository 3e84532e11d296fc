#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): extrawest-ocpi 2025.7.16 (OCPI between charge point operators and those who sell charging; imported as `py_ocpi`)
#
# Guess: the reference under which a payment was authorised comes back in the session and in the bill as it was given ("the same value", OCPI
# 2.2.1), as do a card's UID and the country; a time is sent in UTC with the digits that it had; a price is a number.
# What happens: each CiString, compared without regard to its letters' size, is written in small letters: DE becomes de, and a reference
# in mixed letters is no longer the one that the payment has, or is another payment's. Fractions of a second are cut, so that
# `last_updated` lies before the change and whoever asks for what is newer misses it. A time at +01:00 is passed on, and a price may be a text.
# CI_STRING_LOWERCASE_PREFERENCE=false makes them all capitals: there is no setting that leaves them as they are.
#
# Seen:
# > country DE: 'de', with the setting 'DE'
# > authorization_reference 8fKq2Zr: '8fkq2zr', with the setting '8FKQ2ZR'
# > authorization_reference 8FkQ2zR: '8fkq2zr', with the setting '8FKQ2ZR'
# > uid 04a1B2c3: '04a1b2c3', with the setting '04A1B2C3'
# > last_updated 2026-11-28T10:15:00.900Z: '2026-11-28T10:15:00Z'
# > last_updated 2026-11-28T11:15:00+01:00: '2026-11-28T11:15:00+01:00'
# > total_cost '12.50': '12.50'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check extrawest-ocpi==2025.7.16
cat >"$folder/session.py" <<'PYTHON'
import json
import sys

from py_ocpi.modules.sessions.v_2_2_1.schemas import Session

reference, updated, cost = json.loads(sys.argv[1])
token = {"country_code": "DE", "party_id": "EXA", "uid": "04a1B2c3", "type": "AD_HOC_USER", "contract_id": "C1"}
session = Session(
    country_code="DE", party_id="EXA", id="1", start_date_time="2026-11-28T10:00:00Z", kwh=12.5, cdr_token=token, auth_method="COMMAND",
    authorization_reference=reference, location_id="1", evse_uid="1", connector_id="1", currency="EUR", total_cost={"excl_vat": cost}, status="ACTIVE", last_updated=updated,
)
print(session.json())
PYTHON

(cd "$folder" && python3 -) 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import json
import os
import subprocess


def written(reference="1", updated="2026-11-28T10:15:00Z", cost=12.5, small="true"):
    settings = {**os.environ, "CI_STRING_LOWERCASE_PREFERENCE": small}
    run = subprocess.run(["venv/bin/python", "session.py", json.dumps([reference, updated, cost])], env=settings, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.strip().splitlines()[-1])


def both(name, value, take, reference="1"):
    print(f"{name} {value}: {take(written(reference))!r}, with the setting {take(written(reference, small='false'))!r}")


both("country", "DE", lambda session: session["country_code"])
for reference in ("8fKq2Zr", "8FkQ2zR"):
    both("authorization_reference", reference, lambda session: session["authorization_reference"], reference)
both("uid", "04a1B2c3", lambda session: session["cdr_token"]["uid"])
for updated in ("2026-11-28T10:15:00.900Z", "2026-11-28T11:15:00+01:00"):
    print(f"last_updated {updated}: {written(updated=updated)['last_updated']!r}")
print(f"total_cost '12.50': {written(cost='12.50')['total_cost']['excl_vat']!r}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
