#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python client: make-python-client.sh PYTHON FOLDER puts the package nfc_tap into FOLDER, its functions and models made
# from the contract by the openapi-python-client of that Python, and a wheel beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1 folder=$2

rm -rf "$folder"
mkdir -p "$folder"
cp -r clients/python/. "$folder"
sed -n 's/^  version: //p' docs/openapi.yaml | head -n 1 >"$folder/VERSION"
# What it says of answers that are no JSON, and of a formatter that is not there, changes nothing.
"$python" -m openapi_python_client generate --path docs/openapi.yaml --output-path "$folder/made" --meta none \
    --config /dev/stdin >"$folder/log" 2>&1 <<<'post_hooks: []' || {
    cat "$folder/log" >&2
    exit 1
}
mv "$folder"/made/{api,models,client.py,errors.py,types.py} "$folder/nfc_tap/"
rm -r "$folder/made"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$folder" "$folder"
wheel=$(echo "$folder"/*.whl)
echo "made the package nfc_tap in $folder, and its wheel; install it with: python3 -m pip install $wheel"
