#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes what a release consists of: make-dist.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER. The Debian package, the sources,
# what has changed, the lists of what it was made with (.buildinfo) and what is inside (.spdx.json), SHA256SUMS of them, and the
# releaser's signature of that. With --ready as its only argument it says whether a release can be made, and builds nothing.
#
# The same commit, programs, toolchain and packages of the system make the same bytes, whenever and wherever that is: the only time
# is the commit's, and the only owner is root. The signature alone has a time of its own.
#
# NFC_TAP_SIGNING_KEY is the fingerprint or the address of the releaser's key, as gpg knows it.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
stop_with() {
    echo "make-dist: $1" >&2
    exit 1
}

version=$(product_version)
[ -n "$version" ] || stop_with "the version is not where product_version in scripts/lib.sh looks for it"
awk -v heading="## $version" '
    /^## / { inside = index($0, heading " ") == 1 || $0 == heading; next }
    inside' CHANGELOG.md >"$folder/changes"
grep -q '[^[:space:]]' "$folder/changes" ||
    stop_with "CHANGELOG.md says nothing of $version. Give its section the heading \"## $version - $(date +%F)\""
grep -q "^nfc-tap ($version)" packaging/debian/changelog ||
    stop_with "packaging/debian/changelog has no entry for $version. Add one: dch --changelog packaging/debian/changelog -v $version"
command -v gpg >/dev/null || stop_with "gpg is not here. Install it: apt-get install gpg"
[ -n "${NFC_TAP_SIGNING_KEY:-}" ] ||
    stop_with "no key to sign with. Set NFC_TAP_SIGNING_KEY to a fingerprint that gpg --list-secret-keys shows"
gpg --batch --list-secret-keys "$NFC_TAP_SIGNING_KEY" >/dev/null 2>&1 ||
    stop_with "gpg has no secret key $NFC_TAP_SIGNING_KEY. Import it, or set NFC_TAP_SIGNING_KEY to one that gpg --list-secret-keys shows"
[ -z "$(git status --porcelain --untracked-files=no)" ] ||
    stop_with "files differ from the last commit. Commit them: a release is made of what is in the history"
[ "${1:-}" != --ready ] || exit 0

bin=$(realpath "${1:?usage: make-dist.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER}")
output=$(realpath -m "${2:?usage: make-dist.sh FOLDER-WITH-RELEASE-PROGRAMS OUTPUT-FOLDER}")
said=$("$bin/nfc-tap" --version)
[[ $said == *"$version"* ]] || stop_with "the programs say they are $said, not $version. Build them again: make release"

commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

rm -rf "$output"
mkdir -p "$output"
scripts/make-deb.sh nfc-tap "$bin" "$output" >/dev/null
lintian --allow-root --fail-on error,warning --suppress-tags debian-changelog-has-wrong-day-of-week "$output"/*.deb
# A commit's archive has its names in order, its time on every file, and root as owner. One thread, so that the machine's size is not in it.
git -c tar.umask=0022 archive --format=tar --prefix="nfc-tap-$version/" HEAD | xz --threads=1 -9 >"$output/nfc-tap-$version.tar.xz"
sed -e '/./,$!d' "$folder/changes" >"$output/CHANGES-$version.md"
python3 packaging/release-lists.py "$version" "$commit" "$SOURCE_DATE_EPOCH" "$output"
(cd "$output" && sha256sum -- * >"$folder/SHA256SUMS" && mv "$folder/SHA256SUMS" .)
gpg --batch --yes --local-user "$NFC_TAP_SIGNING_KEY" --armor --detach-sign "$output/SHA256SUMS"
ls -1 "$output"
echo "make-dist: $version in $output. Check it with: gpg --verify SHA256SUMS.asc SHA256SUMS && sha256sum --check SHA256SUMS"
