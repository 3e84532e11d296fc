#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Python with the independent implementations that tests hold ours against, and prints its path: joserfc opens our
# envelopes; nfcpy drives the emulated PN532 as libnfc does; pyiso8583 packs and reads an acquirer's messages, pyemv makes
# cryptograms, cryptography is under the second hand for kernel 8; two modules of OCA
# for Odoo, pypostelium and pyTeliumManager are tills; paho-mqtt and standardwebhooks are receivers; ocpp is a charger's central system; openapi-python-client makes the Python client from the contract. None is part of the product.
set -euo pipefail
cd "$(dirname "$0")/.."

joserfc=1.6.5
pyemv=1.5.0
cryptography=50.0.2
nfcpy=1.0.4
pyiso8583=4.0.1
caisse_ap=19.0.1.0.0.3
payment_terminal=18.0.1.0.0.4
postelium=0.0.5
telium=2.4.2
openapi_client=0.29.1
httpx=0.28.1
paho=2.2.0
standardwebhooks=1.1.0
ocpp=2.1.0
websockets=16.0
python=.build/peers/bin/python3
if ! "$python" -c "import joserfc, cryptography, nfc, iso8583, pyemv, pycountry, pypostelium, telium, openapi_python_client, httpx, wheel" >/dev/null 2>&1; then
    rm -rf .build/peers
    python3 -m venv .build/peers >&2
    "$python" -m pip install --quiet --disable-pip-version-check "joserfc==$joserfc" "nfcpy==$nfcpy" \
        "pyiso8583==$pyiso8583" "pyemv==$pyemv" "cryptography==$cryptography" "pypostelium==$postelium" "openapi-python-client==$openapi_client" "httpx==$httpx" \
        simplejson pyserial pycountry six setuptools wheel >&2
    # Without Odoo itself, which their code does not need for this, and without an old pycountry.
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps \
        "odoo-addon-l10n-fr-pos-caisse-ap-ip==$caisse_ap" "odoo-addon-pos-payment-terminal==$payment_terminal" \
        "pyTeliumManager==$telium" payment-card-identifier==0.1.2 >&2
fi
# The hub's receivers, for make check-hub alone.
if [ "${1:-}" = hub ] && ! "$python" -c "import paho.mqtt, standardwebhooks" >/dev/null 2>&1; then
    "$python" -m pip install --quiet --disable-pip-version-check "paho-mqtt==$paho" "standardwebhooks==$standardwebhooks" >&2
fi
# A charger's central system, for make check-ocpp alone.
if [ "${1:-}" = ocpp ] && ! "$python" -c "import ocpp, websockets" >/dev/null 2>&1; then
    "$python" -m pip install --quiet --disable-pip-version-check "ocpp==$ocpp" "websockets==$websockets" >&2
fi
echo "$PWD/$python"
