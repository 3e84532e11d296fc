#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (Debian 12): liblocale-currency-format-perl 1.35-3
#
# Guess: 12.5 Tunisian dinars are "12.500 TND", as 12.5 Kuwaiti dinars are "12.500 KWD": the number and the currency go in, a receipt's
# line comes out.
# What happens: for four currencies the decimals are printed and the point is not: 12.5 dinars of Tunis and Baghdad are 12500, those of
# Serbia and the manat of Azerbaijan 1250. Lira and forint are rounded to whole ones, so that 12.50 TRY are printed as 13 TRY; Iceland
# and Vietnam get hundredths that they do not have. Currencies of the last twenty years are undefined.
#
# Seen:
# > EUR 12,50 EUR
# > KWD 12.500 KWD
# > TND 12500 TND
# > IQD 12500 IQD
# > RSD 1250 RSD
# > AZN 1250 AZN
# > TRY 13 TRY
# > HUF 13 HUF
# > ISK 12,50 ISK
# > VND 12,50 VND
# > MGA undefined
# > BYN undefined
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends liblocale-currency-format-perl=1.35-3 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

perl - 2>"$folder/errors" <<'PERL' | tee "$folder/now" || true
use strict;
use warnings;
use Locale::Currency::Format;

for my $code (qw(EUR KWD TND IQD RSD AZN TRY HUF ISK VND MGA BYN)) {
    my $text = eval { currency_format($code, 12.5) };
    print "$code ", defined $text ? $text : "undefined", "\n";
}
PERL

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
