#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the TypeScript client: make-typescript-client.sh PYTHON FOLDER puts the package nfc-tap into FOLDER, its types made from the
# contract, compiled to modules and declarations. The example of its README and what the types must refuse are compiled with it.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1 folder=$2

rm -rf "$folder"
mkdir -p "$folder"
cp -r clients/typescript/. "$folder"
"$python" clients/typescript-types.py docs/openapi.yaml >"$folder/contract.ts"
sed -n '/^```ts$/,/^```$/p; /^```$/q' clients/typescript/README.md | grep -v '^```' >"$folder/example.ts"
version=$(sed -n 's/^  version: //p' docs/openapi.yaml | head -n 1)
sed -i "s/^  \"name\": .*/&\n  \"version\": \"$version\",/" "$folder/package.json"
tsc --project "$folder"
