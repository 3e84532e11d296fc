#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether the licence is where it belongs: its line in every source file, and every package that is linked in NOTICE and in
# the Debian package's copyright.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0

scripts/add-spdx.sh --check || status=1
[ -s LICENSE ] || {
    echo "check-licence: LICENSE is missing; it is the text of the Apache License, Version 2.0" >&2
    status=1
}
packages=$(sed -n 's/.*"identity" : "\(.*\)",*/\1/p' Package.resolved 2>/dev/null || true)
[ -n "$packages" ] || {
    echo "check-licence: Package.resolved is missing or names no package; run swift package resolve" >&2
    exit 1
}
for package in $packages; do
    for file in NOTICE packaging/debian/copyright; do
        grep -qiwF -- "$package" "$file" || {
            echo "check-licence: $file does not name $package; read its licence in .build/checkouts and add it" >&2
            status=1
        }
    done
done
[ "$status" -eq 0 ] && echo "check-licence: licence lines, NOTICE and copyright are complete"
exit "$status"
