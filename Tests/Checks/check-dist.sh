#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A release made with a key that lives for the length of this script: check-dist.sh FOLDER-WITH-RELEASE-PROGRAMS. Its
# signature and its sums hold, no longer hold once a byte has changed, and without a key nothing is made.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(realpath "${1:?usage: check-dist.sh FOLDER-WITH-RELEASE-PROGRAMS}")
. scripts/lib.sh
fail() {
    echo "check-dist: $1" >&2
    exit 1
}

if NFC_TAP_SIGNING_KEY='' scripts/make-dist.sh --ready 2>"$folder/said"; then fail "a release needs no key"; fi
grep -q 'Set NFC_TAP_SIGNING_KEY' "$folder/said" || fail "without a key it says $(cat "$folder/said")"

mkdir -m 700 "$folder/keys"
export GNUPGHOME=$folder/keys NFC_TAP_SIGNING_KEY=releaser@example.invalid
if scripts/make-dist.sh --ready 2>"$folder/said"; then fail "a release needs no key of its own"; fi
gpg --batch --quiet --passphrase '' --quick-generate-key "$NFC_TAP_SIGNING_KEY" ed25519 sign 1d
scripts/make-dist.sh "$bin" "$folder/dist" >"$folder/log" || fail "$(cat "$folder/log")"

cd "$folder/dist"
gpg --batch --quiet --verify SHA256SUMS.asc SHA256SUMS 2>"$folder/said" || fail "$(cat "$folder/said")"
sha256sum --check --quiet SHA256SUMS
[ "$(wc -l <SHA256SUMS)" -eq 3 ] || fail "SHA256SUMS does not name package, sources and changes: $(cat SHA256SUMS)"
printf x >>CHANGES-*.md
if sha256sum --check --status SHA256SUMS; then fail "a changed file has the same sum"; fi
printf x >>SHA256SUMS
if gpg --batch --quiet --verify SHA256SUMS.asc SHA256SUMS 2>/dev/null; then fail "changed sums have the same signature"; fi
gpgconf --kill all
echo "check-dist: package, sources, changes and their signed sums"
