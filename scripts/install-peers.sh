#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Python with the independent JOSE implementation that tests hold our envelope against; prints its path.
set -euo pipefail
cd "$(dirname "$0")/.."

joserfc=1.6.5
python=.build/peers/bin/python3
if ! "$python" -c "import joserfc" >/dev/null 2>&1; then
    rm -rf .build/peers
    python3 -m venv .build/peers >&2
    "$python" -m pip install --quiet --disable-pip-version-check "joserfc==$joserfc" >&2
fi
echo "$PWD/$python"
