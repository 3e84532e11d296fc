#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How programs are built that are installed: release-flags.sh prints it for `swift build`, release-flags.sh link for the linker alone.
#
# Nobody links against a program, debugs it or reads its symbols, so none are exported, debug information is not made, and what nothing calls
# is left out: each function has a section of its own. Those that a daemon at rest runs lie together, and those of its start (docs/decisions/0058, 0064). Only x86-64 is
# linked by gold, which knows how to order sections.
set -euo pipefail
order=$(realpath "$(dirname "$0")/../packaging/function-order.txt")
link="-Xlinker -z -Xlinker now -Xlinker --no-export-dynamic -Xlinker --gc-sections"
[ "$(uname -m)" != x86_64 ] || link+=" -Xlinker --section-ordering-file=$order"
[ "${1:-}" = link ] || echo -n "-c release -debug-info-format none --static-swift-stdlib --disable-local-rpath -Xswiftc -Xfrontend -Xswiftc -function-sections -Xcc -ffunction-sections "
echo "$link"
