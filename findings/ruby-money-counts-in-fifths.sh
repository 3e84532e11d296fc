#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package: ruby-money 6.16.0-1 (Debian 12)
#
# Guess: minor units as a terminal or a payment service counts them (ISO 4217) give the same amount in Ruby; a difference, if any,
# is a currency nobody pays with.
# What happens: forints have no hundredths there, so that 12.50 HUF are 1,250. Ariary and ouguiya are counted in fifths, as their coins are:
# 25.00 MGA are 500.0, and 2.50 become 2.6. The new leone, bolívar and dobra (SLE, VED, STN) and the Caribbean guilder (XCG)
# do not exist; the number 288 is still a cedi.
#
# Seen:
# > 2500 minor units of EUR are 25, read as 25.00
# > 25 minor units of JPY are 25, read as 25
# > 25000 minor units of KWD are 25, read as 25.000
# > 2500 minor units of HUF are 25, read as 2500
# > 2500 minor units of MGA are 25, read as 500.0
# > 2500 minor units of MRU are 25, read as 500.0
# > 2.50 MGA written as 2.6
# > SLE: nil
# > VED: nil
# > STN: nil
# > XCG: nil
# > number 288: Ghanaian Cedi, number 925: nil
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ruby-money=6.16.0-1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

ruby - 2>"$folder/errors" <<'RUBY' | tee "$folder/now" || true
require "money"
Money.locale_backend = nil
Money.rounding_mode = BigDecimal::ROUND_HALF_UP

# ISO 4217's decimals.
{ "EUR" => 2, "JPY" => 0, "KWD" => 3, "HUF" => 2, "MGA" => 2, "MRU" => 2 }.each do |code, decimals|
  amount = BigDecimal("25")
  minor = (amount * 10**decimals).to_i
  puts "#{minor} minor units of #{code} are 25, read as #{Money.new(minor, code)}"
end
puts "2.50 MGA written as #{Money.from_amount(BigDecimal("2.5"), "MGA")}"
%w[SLE VED STN XCG].each { |code| puts "#{code}: #{Money::Currency.find(code).inspect}" }
puts "number 288: #{Money::Currency.find_by_iso_numeric("288").name}, number 925: #{Money::Currency.find_by_iso_numeric("925").inspect}"
RUBY

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
