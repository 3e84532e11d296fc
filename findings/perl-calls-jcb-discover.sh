#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (Debian 12): libbusiness-creditcard-perl 0.39-2
#
# Guess: the name of a card's network depends on its number.
# What happens: it depends on a country, too, which is "US" until a program says otherwise: a JCB card in Berlin is "Discover card", and
# UnionPay is one network or the other. Wherever the shop is, Diners Club's 36 is "Discover card", and its 30 of 14 digits is
# "Unknown", as are UnionPay's 6200, Mir, Troy and a Maestro of 50; Maestro's 6759 is "Switch", its name until 2002.
# Receipts and fees that go by this name are wrong for every second network.
#
# The numbers are those that payment services publish for tests.
#
# Seen:
# > JCB 3530111333300000: US "Discover card", DE "JCB"
# > UnionPay 6221558812340000: US "Discover card", DE "China Union Pay"
# > UnionPay 6200000000000005: US "Unknown", DE "Unknown"
# > Diners Club 36227206271667: US "Discover card", DE "Discover card"
# > Diners Club 30569309025904: US "Unknown", DE "Unknown"
# > Maestro 6759649826438453: US "Switch", DE "Switch"
# > Maestro 5000550000000029: US "Unknown", DE "Unknown"
# > Mir 2200000000000004: US "Unknown", DE "Unknown"
# > Troy 9792030394440796: US "Unknown", DE "Unknown"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libbusiness-creditcard-perl=0.39-2 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

perl - 2>"$folder/errors" <<'PERL' | tee "$folder/now" || true
use strict;
use warnings;
use Business::CreditCard;

for (
    ["JCB", "3530111333300000"], ["UnionPay", "6221558812340000"], ["UnionPay", "6200000000000005"], ["Diners Club", "36227206271667"],
    ["Diners Club", "30569309025904"], ["Maestro", "6759649826438453"], ["Maestro", "5000550000000029"], ["Mir", "2200000000000004"],
    ["Troy", "9792030394440796"],
) {
    my ($network, $number) = @$_;
    my @names;
    for my $country ("US", "DE") {
        $Business::CreditCard::Country = $country;
        push @names, "$country \"" . cardtype($number) . "\"";
    }
    print "$network $number: ", join(", ", @names), "\n";
}
PERL

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
