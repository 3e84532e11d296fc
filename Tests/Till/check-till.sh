#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of share/till under node, without a browser. The pages have no package.json of their own, and older versions of node take a
# file without one for CommonJS: therefore both folders are copied beside one.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/install-packages.sh nodejs

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/share" "$folder/Tests"
cp -r share/till "$folder/share/till"
cp -r Tests/Till "$folder/Tests/Till"
install -D -t "$folder/docs" docs/openapi.yaml
install -D -t "$folder/docs/shop" docs/shop/money.md docs/shop/browser-till.md
echo '{"type": "module"}' >"$folder/package.json"
node --test "$folder"/Tests/Till/*.test.js
