#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes one executable of several programs that were built: link-programs.sh FOLDER-WITH-RELEASE-PROGRAMS PROGRAM… It is
# nfc-tap-programs in that folder, and is each program under that program's name. See docs/internals/decisions/0010.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${1:?usage: link-programs.sh FOLDER-WITH-RELEASE-PROGRAMS PROGRAM…}")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

entries=""
for program in "$@"; do
    module=${program//-/_}
    entries+="PROGRAM($module, \"$program\") "
    # The compiler calls an asynchronous main function async_Main in every module, and derives names from it that the
    # linker would take for one and the same.
    for object in $(grep "/$module\.build/" "$bin/$program.product/Objects.LinkFileList"); do
        nm --format=posix "$object" | sed -nE "s/^([^ ]*async_Main[^ ]*) .*/\1 \1.$module/p" | sort -u >"$folder/names"
        [ -s "$folder/names" ] || continue
        objcopy --redefine-syms="$folder/names" "$object" "$folder/$module-$(basename "$object")"
        echo "$object" >>"$folder/replaced"
    done
done
clang -O2 -Wall -Werror -c -D"PROGRAMS=$entries" -o "$folder/programs.o" packaging/programs.c

read -ra flags < <(scripts/release-flags.sh link)
# The objects of each program as the package manager links them, those that several have once. Those of the first program
# lie together, so that it has no more pages in memory than by itself.
for program in "$@"; do cat "$bin/$program.product/Objects.LinkFileList"; done | awk '!known[$0]++' |
    grep -vxFf <(cat "$folder/replaced" 2>/dev/null || echo none) >"$folder/objects"
# A start looks up 2,700 names of a libstdc++ that is loaded, and none of one that is inside (docs/internals/decisions/0064).
archive=$(clang -print-file-name=libstdc++.a)
[ -f "$archive" ] || {
    echo "link-programs: libstdc++.a is missing; install libstdc++-12-dev" >&2
    exit 1
}
mkdir "$folder/static"
ln -s "$archive" "$folder/static/"
swiftc -emit-executable -static-stdlib -o "$bin/nfc-tap-programs" "$folder"/*.o "@$folder/objects" \
    -L"$folder/static" -lpcsclite -lqrencode -lsqlite3 -lstdc++ \
    "${flags[@]}" >"$folder/log" 2>&1 || {
    cat "$folder/log" >&2
    exit 1
}
# Each name is the program that it was, and no other. Two programs that say nothing are not the same.
for program in "$@"; do
    help=$("$bin/$program" --help)
    [ -n "$help" ] && [ "$help" = "$(exec -a "$program" "$bin/nfc-tap-programs" --help)" ] || {
        echo "link-programs: under the name $program another program starts" >&2
        exit 1
    }
done
printf '%s\n' "$@" >"$bin/nfc-tap-programs.names"
