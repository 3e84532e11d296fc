#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pays through a Caisse-AP terminal with the code of OCA's module for Odoo, as it is published, and without Odoo.

    oca-caisse.py HOST PORT AMOUNT[:card|check]…

The module has to be installed for this Python. Prints what the module answers to its point of sale, a line of JSON for each
amount in euros; a negative one is a credit.
"""
import importlib.util
import json
import logging
import pathlib
import sys
import sysconfig
import types

MODULE = "odoo/addons/l10n_fr_pos_caisse_ap_ip/models/pos_payment_method.py"


class Model:
    """What is left of a model of Odoo when nobody keeps any data."""

    def browse(self, _):
        return self

    def ensure_one(self):
        return self


class Currency:
    name, decimal_places = "EUR", 2

    def browse(self, _):
        return self

    @staticmethod
    def compare_amounts(one, other):
        return (round(one * 100) > round(other * 100)) - (round(one * 100) < round(other * 100))


class Environment(dict):
    lang = "fr_FR"

    @staticmethod
    def _(text, *words, **names):
        return text % (words or names) if words or names else text


def odoo():
    """Takes Odoo's place for whoever imports it."""
    package, errors = types.ModuleType("odoo"), types.ModuleType("odoo.exceptions")
    same = lambda function: function  # noqa: E731
    package.api = types.SimpleNamespace(constrains=lambda *_: same, model=same)
    package.fields = types.SimpleNamespace(Selection=lambda *_, **__: None, Char=lambda *_, **__: None,
                                           Integer=lambda *_, **__: None)
    package.models = types.SimpleNamespace(Model=Model)
    errors.ValidationError = type("ValidationError", (Exception,), {})
    package.exceptions = errors
    sys.modules["odoo"], sys.modules["odoo.exceptions"] = package, errors


def method(host, port, mode):
    odoo()
    path = pathlib.Path(sysconfig.get_paths()["purelib"]) / MODULE
    spec = importlib.util.spec_from_file_location("pos_payment_method", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    method = module.PosPaymentMethod()
    method.env = Environment({"res.currency": Currency()})
    method.id, method.display_name = 7, "Carte"
    method.fr_caisse_ap_ip_mode = mode
    method.fr_caisse_ap_ip_address, method.fr_caisse_ap_ip_port = host, int(port)
    return method


def main():
    logging.basicConfig(level=logging.ERROR)
    host, port, *amounts = sys.argv[1:]
    for text in amounts:
        amount, _, mode = text.partition(":")
        answer = method(host, port, mode or "card").fr_caisse_ap_ip_send_payment(
            {"amount": float(amount), "currency_id": 1, "payment_method_id": 7, "timeout": 180_000})
        print(json.dumps(answer), flush=True)


main()
