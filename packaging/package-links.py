#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns a page's links of the checkout into those of the package: package-links.py FOLDER SOURCE PAGE…

FOLDER of the package has what SOURCE of the checkout has, by the same names. README of the checkout is there beside it, docs/README.md is
pages.md, and docs/examples is examples. A link to what the folder lacks becomes its words, a picture goes. Links to other machines stay.
"""

import os
import pathlib
import re
import sys

ELSEWHERE = {"README.md": "README.md", "pages.md": "docs/README.md"}


def packaged(path, source):
    """The place in the package of a path of the checkout; None where it has none."""
    for place, there in ELSEWHERE.items():
        if path == there:
            return place
    for there, place in ((f"{source}/", ""), ("docs/examples", "examples")):
        if path.startswith(there):
            return place + path.removeprefix(there)
    return None


def rewritten(text, folder, source, page):
    here = os.path.dirname(ELSEWHERE.get(page, f"{source}/{page}"))

    def link(match):
        mark, words, target = match.groups()
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match.group(0)
        path, _, fragment = target.partition("#")
        place = packaged(os.path.normpath(os.path.join(here, path)), source)
        if place is not None and (folder / place).exists():
            leads = os.path.relpath(place, os.path.dirname(page) or ".")
            return f"{mark}[{words}]({leads}{'#' + fragment if fragment else ''})"
        return "" if mark else words

    return re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", link, text)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in sys.argv[3:]:
        page = folder / name
        page.write_text(rewritten(page.read_text(encoding="utf-8"), folder, sys.argv[2], name), encoding="utf-8")


if __name__ == "__main__":
    main()
