#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): odoo-addon-l10n-fr-pos-caisse-ap-ip 19.0.1.0.0.3 (Caisse-AP over IP for Odoo)
#
# Guess: the till reads until the terminal's answer is complete, as TCP asks of it; 0.05 EUR is sent as two digits, as its code means to.
# What happens: it reads once. The first segment is the answer: where that ends in the middle of a tag, an approved sale raises an
# exception and the page tells the cashier that the terminal did not answer; where it ends between two tags, the rest is
# missing without a word. The sum is padded to two digits only after it was put into the message.
# Odoo itself is replaced by empty shells: nothing of it is needed on this way. The terminal is a socket on this machine.
#
# Seen:
# > the till sends for 0.05: CB0015
# > approved, in one segment: success, transaction AA-281126|AB-101500|AC-123456|AI-A0000000421010|CD-0
# > approved, two segments that meet inside a tag: ValueError
# > approved, two segments that meet between two tags: success, transaction AA-281126|CD-0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps odoo-addon-l10n-fr-pos-caisse-ap-ip==19.0.1.0.0.3

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import glob
import importlib.util
import re
import socket
import sys
import threading
import time
import types


class Shell:
    def __init__(self, *arguments, **named):
        pass


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)
    return sys.modules[name]


fields = module("odoo.fields", Selection=Shell, Char=Shell, Integer=Shell)
api = module("odoo.api", constrains=lambda *names: lambda method: method, model=lambda method: method)
models = module("odoo.models", Model=object)
module("odoo.exceptions", ValidationError=ValueError)
module("odoo", api=api, fields=fields, models=models)
folder = next(path for path in sys.path if path.endswith("site-packages"))
(path,) = glob.glob(f"{folder}/odoo/addons/l10n_fr_pos_caisse_ap_ip/models/pos_payment_method.py")
specification = importlib.util.spec_from_file_location("till", path)
till = importlib.util.module_from_spec(specification)
specification.loader.exec_module(till)


class Euro:
    name, decimal_places = "EUR", 2

    def compare_amounts(self, left, right):
        return (left > right) - (left < right)


class Environment:
    def __getitem__(self, name):
        return types.SimpleNamespace(browse=lambda key: Euro())

    def _(self, text, *arguments, **named):
        return text


class Method(till.PosPaymentMethod):
    env, fr_caisse_ap_ip_mode, fr_caisse_ap_ip_address = Environment(), "card", "127.0.0.1"

    def browse(self, key):
        return self

    def ensure_one(self):
        return self


def sell(amount, parts):
    listener = socket.create_server(("127.0.0.1", 0))
    asked = []

    def terminal():
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asked.append(connection.recv(1024).decode())
        for part in parts:
            try:
                connection.sendall(part.encode())
            except OSError:
                break
            time.sleep(0.5)
        connection.close()

    threading.Thread(target=terminal, daemon=True).start()
    method = Method()
    method.fr_caisse_ap_ip_port = listener.getsockname()[1]
    data = {"amount": amount, "currency_id": 1, "payment_method_id": 1, "timeout": 60000}
    try:
        result = method.fr_caisse_ap_ip_send_payment(data)
        said = result["payment_status"] + (f", transaction {result['transaction_id']}" if "transaction_id" in result else "")
    except Exception as error:
        said = type(error).__name__
    return asked[0], said


tags = {"CZ": "0300", "AE": "10", "CA": "01", "CB": "1250", "CD": "0", "CE": "978", "AA": "281126"}
head = "".join(f"{tag}{len(value):03}{value}" for tag, value in tags.items())
rest = "AB006101500" + "AC006123456" + "AI014A0000000421010"
refused = "CZ0040300" + "AE00201" + "AF00204"
print("the till sends for 0.05:", re.search("CB[0-9]{4}", sell(0.05, [refused])[0])[0])
print("approved, in one segment:", sell(12.50, [head + rest])[1])
print("approved, two segments that meet inside a tag:", sell(12.50, [head + rest[:1], rest[1:]])[1])
print("approved, two segments that meet between two tags:", sell(12.50, [head, rest])[1])
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
