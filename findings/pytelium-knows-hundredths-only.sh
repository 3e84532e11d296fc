#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): pyTeliumManager 2.4.2 (Telium protocol E, with Debian 12's Python)
#
# Guess: a sum goes out in the minor unit of its currency (1,250 XPF is 00001250), and an answer with any sum can be read.
# What happens: every sum goes out times 100, so a till in Nouméa asks its terminal for a hundred times the price. A sum below
# 1.00 cannot be sold, nor can a whole number that is an int; a terminal that reports 0.50 paid, or a refusal with the sum 0,
# raises an exception: a till that then tries again has been paid once already.
#
# Seen:
# > asked for 12.50 EUR: amount 00001250, currency 978
# > asked for 1250.0 XPF: amount 00125000, currency 953
# > asked for 0.50 EUR: IllegalAmountException
# > asked for 12 EUR: IllegalAmountException
# > answer: paid, 12.50 EUR: True
# > answer: refused, 12.50 EUR: False
# > answer: paid, 0.50 EUR: IllegalAmountException
# > answer: refused, 0.00 EUR: IllegalAmountException
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyserial==3.5 six==1.17.0 pycountry==26.2.16 setuptools==80.9.0
# The pycountry that it asks for does not build any more; the call it makes is the same.
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps pyTeliumManager==2.4.2 payment-card-identifier==0.1.2

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import functools

from telium import TeliumAsk, TeliumResponse


def tried(title, call):
    try:
        print(f"{title}: {call()}")
    except Exception as error:
        print(f"{title}: {type(error).__name__}")


def request(amount, currency):
    text = TeliumAsk.new_payment(amount, target_currency=currency).encode()
    return f"amount {text[3:11]}, currency {text[14:17]}"


def answer(result, cents):
    body = f"01{result}{cents:08}1978{' ' * 10}".encode() + b"\x03"
    lrc = functools.reduce(lambda left, right: left ^ right, body)
    return TeliumResponse.decode(b"\x02" + body + bytes([lrc])).has_succeeded


tried("asked for 12.50 EUR", lambda: request(12.50, "EUR"))
tried("asked for 1250.0 XPF", lambda: request(1250.0, "XPF"))
tried("asked for 0.50 EUR", lambda: request(0.50, "EUR"))
tried("asked for 12 EUR", lambda: request(12, "EUR"))
tried("answer: paid, 12.50 EUR", lambda: answer(0, 1250))
tried("answer: refused, 12.50 EUR", lambda: answer(7, 1250))
tried("answer: paid, 0.50 EUR", lambda: answer(0, 50))
tried("answer: refused, 0.00 EUR", lambda: answer(7, 0))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
