#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A release made with a key that lives for the length of this script: check-dist.sh FOLDER-WITH-RELEASE-PROGRAMS. Its signature and
# its sums hold, no longer hold once a byte has changed, and without a key nothing is made. Made in two clean clones it has the same
# bytes, and its list of what is inside is SPDX in the eyes of another program. With REBUILD=1 the second clone builds programs of its
# own, which takes as long as make release on a machine that never built anything.
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

# made N [FOLDER-WITH-RELEASE-PROGRAMS]: a clone of the last commit, and a release of it in dist-N. The versions of other packages are those
# of this checkout, which the release names: a rebuild takes them from there.
made() {
    git clone --quiet . "$folder/clone-$1"
    cp Package.resolved "$folder/clone-$1/"
    (
        cd "$folder/clone-$1"
        if [ $# -eq 1 ]; then make --no-print-directory release; fi
        scripts/make-dist.sh "${2:-$(swift build -c release --show-bin-path)}" "$folder/dist-$1"
    ) >"$folder/log" 2>&1 || fail "$(tail -n 60 "$folder/log")"
}
made 1 "$bin"
# Nothing of the second may come from the time, the rights or the language of the first.
sleep 2
again=("$bin")
[ -z "${REBUILD:-}" ] || again=()
(umask 077 && TZ=Asia/Tokyo LANG=C.UTF-8 made 2 "${again[@]}")
for file in "$folder"/dist-1/*; do
    name=$(basename "$file")
    # The signature says when it was made.
    [ "$name" != SHA256SUMS.asc ] || continue
    cmp "$file" "$folder/dist-2/$name" || fail "two releases of the same commit differ in $name. Compare them with diffoscope"
done

cd "$folder/dist-1"
gpg --batch --quiet --verify SHA256SUMS.asc SHA256SUMS 2>"$folder/said" || fail "$(cat "$folder/said")"
gpg --batch --quiet --verify ../dist-2/SHA256SUMS.asc SHA256SUMS 2>"$folder/said" || fail "$(cat "$folder/said")"
sha256sum --check --quiet SHA256SUMS
[ "$(wc -l <SHA256SUMS)" -eq 5 ] || fail "SHA256SUMS does not name package, sources, changes and two lists: $(cat SHA256SUMS)"
python3 -m venv "$folder/tools"
"$folder/tools/bin/python3" -m pip install --quiet --disable-pip-version-check spdx-tools==0.8.3
"$folder/tools/bin/pyspdxtools" --infile nfc-tap_*.spdx.json >"$folder/said" 2>&1 || fail "$(cat "$folder/said")"
grep -q '^Swift-Toolchain: Swift version' nfc-tap_*.buildinfo || fail "the .buildinfo names no toolchain"
# Every library that a program of the package asks the loader for is in the list, by the system's package that holds it.
dpkg-deb --extract nfc-tap_*.deb "$folder/root"
for program in "$folder"/root/usr/bin/nfc-tap "$folder"/root/usr/libexec/nfc-tap/nfc-tap-libnfc-worker; do
    for library in $(readelf --dynamic "$program" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p'); do
        owners=$(dpkg-query --search "*/$library" 2>/dev/null | cut -d : -f 1 | sort -u || true)
        grep -qFf <(printf '"Debian package %s"\n' $owners) nfc-tap_*.spdx.json ||
            fail "$(basename "$program") loads $library (${owners:-of no package}), which the list of what is inside does not name. Add it to NOTICE"
    done
done
printf x >>CHANGES-*.md
if sha256sum --check --status SHA256SUMS; then fail "a changed file has the same sum"; fi
printf x >>SHA256SUMS
if gpg --batch --quiet --verify SHA256SUMS.asc SHA256SUMS 2>/dev/null; then fail "changed sums have the same signature"; fi
gpgconf --kill all
echo "check-dist: package, sources, changes, what is inside and what it was made with: the same bytes twice, and their signed sums"
