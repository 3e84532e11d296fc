#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How programs are built that are installed: release-flags.sh prints it for `swift build`, release-flags.sh link for the linker alone.
#
# Nobody links against a program, debugs it or reads its symbols, so none are exported, debug information is not made, and what nothing calls
# is left out: each function has a section of its own. Those that a daemon at rest runs lie together, and those of its start (docs/internals/decisions/0058, 0064). Only x86-64 is
# linked by gold, which knows how to order sections. C files name themselves in what they report: without the checkout's path, so that a
# program has the same bytes wherever it is built. For the same reason no hash of each module's intermediate code is kept, which has paths in it.
set -euo pipefail
root=$(realpath "$(dirname "$0")/..")
order=$root/packaging/function-order.txt
link="-Xlinker -z -Xlinker now -Xlinker --no-export-dynamic -Xlinker --gc-sections"
[ "$(uname -m)" != x86_64 ] || link+=" -Xlinker --section-ordering-file=$order"
[ "${1:-}" = link ] || echo -n "-c release -debug-info-format none --static-swift-stdlib --disable-local-rpath -Xswiftc -no-emit-module-separately-wmo -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen -Xcc -ffunction-sections -Xcc -ffile-prefix-map=$root=. "
echo "$link"
