#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): py-moneyed 3.0 (behind django-money); biip 5.2.0 (GS1 codes)
#
# Guess: the numeric code of ISO 4217 is a number: what finds 978 finds 36, the Australian dollar, and each currency that has a code has a number.
# What happens: `get_currency(iso=…)` is declared for int and str, and takes 978; of 36, and of "0036" as EMV's tag 5F2A has it, it says
# "No currency with code None is defined." The key is the text "036". Four currencies (MRU, VES, STN, UYW) have no number at all.
# biip, which reads a price with its currency in a GS1 code (3932), passes that exception on in place of its own.
#
# Seen:
# > 978: EUR
# > 392: JPY
# > 36: CurrencyDoesNotExist: No currency with code None is defined.
# > '036': AUD
# > '0036': CurrencyDoesNotExist: No currency with code None is defined.
# > 929: CurrencyDoesNotExist: No currency with code None is defined.
# > 930: CurrencyDoesNotExist: No currency with code None is defined.
# > 928: CurrencyDoesNotExist: No currency with code None is defined.
# > 927: CurrencyDoesNotExist: No currency with code None is defined.
# > (01)04006381333931(3932)9781250: € 12.50
# > (01)04006381333931(3932)9291250: CurrencyDoesNotExist: No currency with code None is defined.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check py-moneyed==3.0 biip==5.2.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import biip
from moneyed import get_currency


def said(call):
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


for number in (978, 392, 36, "036", "0036", 929, 930, 928, 927):
    print(f"{number!r}: {said(lambda: get_currency(iso=number).code)}")
for price in ("9781250", "9291250"):
    print(f"(01)04006381333931(3932){price}:", said(lambda: biip.parse("]d201040063813339313932" + price).gs1_message.element_strings[1].money))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
