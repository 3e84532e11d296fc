#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: locales 2.36-9+deb12u* (Debian 12's C library); iso4217 1.16.20260101, babel 2.19.0 (PyPI)
#
# Guess: how many decimals a currency has is one fact (ISO 4217's minor unit), and who formats money by locale prints it.
# What happens: there are three lists. glibc gives the dirham, the Egyptian pound and the Qatari riyal three decimals, so strfmon and
# Python's locale print 12.50 AED as 12.500, as if it had 1,000 fils. The Chilean peso and the Ugandan shilling have two. CLDR
# (babel, and with it ICU) has none for fifteen currencies of the list: 12.500 IQD is printed as 12, and 990.50 HUF as 990.
#
# Seen:
# > CLDR has 0 where ISO has 2: AFN ALL COP HUF IDR IRR KPW LAK LBP MGA MMK SOS SYP YER
# > CLDR has 0 where ISO has 3: IQD
# > babel prints 12.500 IQD: IQD12
# > babel prints 990.50 HUF: HUF990
# > glibc has 3 where ISO has 2: AED ALL BTN DZD EGP LBP MAD QAR SDG SSP SYP YER
# > glibc has 2 where ISO has 0: CLP DJF PYG RWF UGX VUV XOF
# > glibc has 0 where ISO has 2: AFN ERN EUR IRR RSD
# > Python's locale.currency(12.50, international=True), ar_AE: AED  12.500
# > the same, es_CL: CLP  12,50
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends locales python3-venv \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' locales) in 2.36-9+deb12u*) ;; *) echo "$(basename "$0"): another version of locales" >&2; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check iso4217==1.16.20260101 babel==2.19.0
mkdir "$folder/locales"
for name in ar_AE es_CL; do localedef -i "$name" -f UTF-8 "$folder/locales/$name.UTF-8"; done

LOCPATH="$folder/locales" "$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import glob
import locale
import re
from decimal import Decimal

from babel.numbers import format_currency, get_currency_precision
from iso4217 import Currency

iso = {currency.code: currency.exponent for currency in Currency if currency.exponent is not None}


def compare(title, pairs):
    kinds = {}
    for code, digits in pairs:
        if code in iso and digits != iso[code]:
            kinds.setdefault((digits, iso[code]), set()).add(code)
    for (digits, right), codes in sorted(kinds.items(), key=lambda kind: (-kind[0][0], kind[0][1])):
        print(f"{title} has {digits} where ISO has {right}:", *sorted(codes))


compare("CLDR", [(code, get_currency_precision(code)) for code in iso])
for amount, code in (("12.500", "IQD"), ("990.50", "HUF")):
    text = format_currency(Decimal(amount), code, locale="en").replace("\u00a0", " ")
    print(f"babel prints {amount} {code}: {text}")
pairs = []
for path in glob.glob("/usr/share/i18n/locales/*"):
    text = open(path, errors="replace").read()
    symbol = re.search(r'^int_curr_symbol\s+"([^"]*)"', text, re.MULTILINE)
    digits = re.search(r"^int_frac_digits\s+(-?\d+)", text, re.MULTILINE)
    if symbol and digits:
        pairs.append((re.sub(r"<U(\w+)>", lambda found: chr(int(found[1], 16)), symbol[1]).strip(), int(digits[1])))
compare("glibc", pairs)
for title, name in (("Python's locale.currency(12.50, international=True), ar_AE", "ar_AE"), ("the same, es_CL", "es_CL")):
    locale.setlocale(locale.LC_ALL, f"{name}.UTF-8")
    print(f"{title}: {locale.currency(12.50, international=True)}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
