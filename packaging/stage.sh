#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts everything that the Debian package holds into a folder: stage.sh DESTDIR FOLDER-WITH-RELEASE-PROGRAMS. What every
# installation has comes from scripts/install.sh; here are Debian's places, manuals, completions and documents.
set -euo pipefail
cd "$(dirname "$0")/.."
destination=${1:?usage: stage.sh DESTDIR FOLDER-WITH-RELEASE-PROGRAMS}
bin=${2:?usage: stage.sh DESTDIR FOLDER-WITH-RELEASE-PROGRAMS}
share=$destination/usr/share

scripts/install.sh "$destination" /usr "$bin" >/dev/null
# The worker is no command for people.
install -d "$destination/usr/libexec/nfc-tap"
mv "$destination/usr/bin/nfc-tap-libnfc-worker" "$destination/usr/libexec/nfc-tap/"
# Debian 12 keeps these under /lib.
for folder in systemd/system udev modprobe.d; do
    install -d "$destination/lib/$(dirname "$folder")"
    mv "$destination/usr/lib/$folder" "$destination/lib/$folder"
done
rmdir "$destination/usr/lib/systemd"
# The socket is enabled for itself. With Also= an upgrade would restart it with the daemon, and clients see it gone.
sed -i '/^Also=/d' "$destination/lib/systemd/system/nfc-tapd.service" "$destination/lib/systemd/system/nfc-tap-gateway.service"

# The example has lanes for readers that a fresh machine does not have; this one takes whichever is there.
{
    sed '/^\[\[lane\]\]$/,$d' docs/examples/nfc-tapd.toml
    printf '[[lane]]\nname = "main"\nreader = "pcsc"\n'
} >"$destination/etc/nfc-tap/nfc-tapd.toml"

examples=$(find docs/examples -type f -printf '%P\n')
for file in $examples; do
    install -D -m 0644 "docs/examples/$file" "$share/doc/nfc-tap/examples/$file"
done
install -D -m 0644 docs/README.md "$share/doc/nfc-tap/pages.md"
install -D -m 0644 -t "$share/doc/nfc-tap" README.md NOTICE
for file in docs/getting-started.md docs/*.yaml docs/*/*.md; do
    install -D -m 0644 "$file" "$share/doc/nfc-tap/${file#docs/}"
done
# In the checkout README stands above docs, here beside them. What the package leaves out is told without a link, what it puts elsewhere by its place.
(cd "$share/doc/nfc-tap" && printf '%s\n' *.md */*.md) | xargs python3 packaging/package-links.py "$share/doc/nfc-tap" docs

# Manuals and completions come from the programs themselves.
install -d "$share/man/man1" "$share/man/man5" "$share/man/man8"
manual() { python3 packaging/make-manual.py "$@"; }
manual program "$bin/nfc-tap" 1 >"$share/man/man1/nfc-tap.1"
manual program "$bin/nfc-tap-psp-sandbox" 1 >"$share/man/man1/nfc-tap-psp-sandbox.1"
manual program "$bin/nfc-tap-ecr" 8 >"$share/man/man8/nfc-tap-ecr.8"
manual program "$bin/nfc-tap-hub" 8 >"$share/man/man8/nfc-tap-hub.8"
manual program "$bin/nfc-tap-remote" 8 >"$share/man/man8/nfc-tap-remote.8"
manual program "$bin/nfc-tap-gateway" 8 >"$share/man/man8/nfc-tap-gateway.8"
manual program "$bin/nfc-tapd" 8 >"$share/man/man8/nfc-tapd.8"
for program in nfc-tapd nfc-tap-gateway nfc-tap-ecr nfc-tap-hub nfc-tap-remote; do
    manual configuration "$program" "docs/examples/$program.toml" >"$share/man/man5/$program.conf.5"
done
install -d "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
for program in nfc-tap nfc-tapd nfc-tap-psp-sandbox nfc-tap-ecr nfc-tap-gateway nfc-tap-hub nfc-tap-remote; do
    # Sourced, not run: without the line that names an interpreter.
    "$bin/$program" --generate-completion-script bash | sed '1{/^#!/d}' >"$share/bash-completion/completions/$program"
    "$bin/$program" --generate-completion-script zsh >"$share/zsh/vendor-completions/_$program"
    "$bin/$program" --generate-completion-script fish >"$share/fish/vendor_completions.d/$program.fish"
done

# What lets a software centre offer the package for a reader that is plugged in: the ids of the rules.
install -d "$share/metainfo"
{
    cat packaging/metainfo-head.xml
    sed -e ':a' -e '/\\$/N; s/\\\n *//; ta' udev/72-nfc-tap.rules |
        sed -nE 's/^ATTR\{idVendor\}=="([0-9a-f]{4})", ATTR\{idProduct\}=="([0-9a-f|]+)".*/\1 \2/p' |
        while read -r vendor products; do
            for product in ${products//|/ }; do
                printf '    <modalias>usb:v%sp%sd*</modalias>\n' "${vendor^^}" "${product^^}"
            done
        done
    printf '  </provides>\n</component>\n'
} >"$share/metainfo/nfc-tap.metainfo.xml"
