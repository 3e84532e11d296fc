#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns a page's links of the checkout into those of the package: package-links.py FOLDER PAGE…

A link to docs/PAGE leads to PAGE beside it where the folder has it; docs/README.md, the list of pages, is pages.md there. A link to what the folder lacks
becomes its words, a picture goes.
Links to other machines stay.
"""

import pathlib
import re
import sys


def rewritten(text, folder):
    def link(match):
        mark, words, target = match.groups()
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match.group(0)
        path, _, fragment = target.replace("docs/README.md", "docs/pages.md").removeprefix("docs/").partition("#")
        if (folder / path).exists():
            return f"{mark}[{words}]({path}{'#' + fragment if fragment else ''})"
        return "" if mark else words

    return re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", link, text)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:]:
        page = folder / name
        page.write_text(rewritten(page.read_text(encoding="utf-8"), folder), encoding="utf-8")


if __name__ == "__main__":
    main()
