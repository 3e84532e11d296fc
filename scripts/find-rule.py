#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a rule of docs/internals/conformance.md to its lines and its tests, as CONTRIBUTING.md says.

find-rule.py WORDS            the rows whose rule has these words (a clause, a number of this project, or its subject)
find-rule.py --lot SEED [N]   N rows drawn by lot, each timed, as a table
find-rule.py --all            all rows; ends with 1 where a named test is nowhere, and where a row names neither clause nor code
"""

import random
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOKS = {"Kernel 2": "C-2", "Kernel 3": "C-3", "Kernel 8": "C-8", "Decisions": "Book 3", "Offline": "Book 2"}
# The same number is another clause in each book.
ROOMS = {
    "Offline": ["Sources/Card/EMVCrypto", "Sources/Card/EMV/Authentication", "Sources/Card/EMV"],
    "Loyalty": ["Sources/Card/Loyalty"],
    "": ["Sources/Card/EMV", "Sources/Card/EMVCrypto"],
}
CLAUSE = re.compile(r"\bK\d-\d+|\bS\d+[A-Z]?(?:\.\d+)?\b|\bGAC\.\d+|§?\b\d+(?:\.\d+)+\b")
NAME = re.compile(r"`(\w+)[^`]*`")
TAG = re.compile(r"\b[0-9A-F]{4,6}\b")


class Row:
    def __init__(self, section, rule, done, checked):
        self.section, self.rule, self.done, self.checked = section, rule, done, checked
        self.searched, self.lines, self.tests, self.missing = [], [], [], []


def rows():
    section = ""
    for line in (ROOT / "docs/internals/conformance.md").read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) > 2 and re.match(r"(yes|part)\b", cells[1]):
            yield Row(section, cells[0], cells[1], cells[2])


def matches(folder, pattern, names="*.swift"):
    """What grep -rn finds, in the order of paths."""
    for path in sorted((ROOT / folder).rglob(names)):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if pattern.search(line):
                yield f"{path.relative_to(ROOT)}:{number}"


def words_of(row):
    """What a reader would search for, the surest first: the clause with its book, the clause, a name of the code, a tag, the subject."""
    clauses = [clause.lstrip("§") for clause in CLAUSE.findall(row.rule)]
    book = next((book for title, book in BOOKS.items() if row.section.startswith(title)), None)
    if book:
        yield from (f"{book} {clause}" for clause in clauses)
    yield from clauses
    for name in NAME.findall(row.rule):
        yield f"`{name}`"
        yield f"var {name}"
    yield from TAG.findall(row.rule)
    plain = re.findall(r"\w{2,}", CLAUSE.sub("", row.rule))
    for length in (3, 2):
        runs = (plain[start : start + length] for start in range(len(plain) - length + 1))
        yield from (" ".join(run) for run in runs if sum(len(word) > 3 for word in run) > 1)
    yield from sorted(plain, key=len, reverse=True)


def pattern_of(words):
    if words.startswith("`"):
        return re.compile(r"\b(?:actor|class|enum|func|protocol|struct) " + words.strip("`") + r"\b")
    ends = r"(?![\d.]\d|\d)" if words[-1].isdigit() else ""
    joined = r"[ -]?§?".join(re.escape(word) for word in words.split(" "))
    return re.compile(r"(?<![\d.])" + joined + ends, 0 if CLAUSE.search(words) or TAG.search(words) else re.I)


def find_lines(row):
    folders = next(folders for title, folders in ROOMS.items() if row.section.startswith(title))
    for words in words_of(row):
        row.searched.append(words)
        # A name may stand in any room.
        places = ["Sources"] if words.startswith("`") else folders
        row.lines = [found for folder in places for found in matches(folder, pattern_of(words))]
        if row.lines:
            return


def find_tests(row):
    """Each `Suite › first words …, other words …`: the declaration of the test in the suite's file."""
    for part in row.checked.split("; "):
        suite, _, named = part.partition(" › ")
        suite = re.match(r"\w*", suite.strip()).group()
        if not suite.endswith("Tests"):
            continue
        for name in re.split(r" …,? ?|, (?=2E)", named.partition(" (")[0]) if named else [""]:
            test = name.strip(" ,…")
            if not test and named:
                continue
            # The name stands in backticks after func, or in quotes that may begin a line of their own.
            named_so = re.compile("[`\"]" + re.escape(test), re.I)
            found = next(matches("Tests", named_so if test else re.compile("@Test"), suite + ".swift"), None)
            (row.tests if found else row.missing).append(found or f"{suite} › {test}")


def timed(row):
    begin = time.monotonic()
    find_lines(row)
    find_tests(row)
    return time.monotonic() - begin


def main():
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(__doc__)
    found = list(rows())
    if arguments[0] == "--lot":
        count = int(arguments[2]) if len(arguments) > 2 else 10
        print("| rule | searched for | line | test | seconds |\n|---|---|---|---|---|")
        for row in random.Random(int(arguments[1])).sample(found, count):
            seconds = timed(row)
            line, test = (places[0] if places else "not found" for places in (row.lines, row.tests))
            print(f"| {row.rule[:60]} | `{row.searched[-1]}` | `{line}` | `{test}` | {seconds:.2f} |")
    elif arguments[0] == "--all":
        seconds = sum(timed(row) for row in found)
        for row in found:
            for what in row.missing:
                print(f"no test {what!r} for {row.rule!r}")
        unlined = [row.rule for row in found if not row.lines]
        unsure = [row.rule for row in found if not (CLAUSE.search(row.rule) or NAME.search(row.rule))]
        print(f"{len(found)} rules in {seconds:.1f} s, {len(unlined)} without a line: {unlined}")
        if unsure:
            print(f"name a clause, a number of this project, or a type or function in backticks: {unsure}")
        sys.exit(bool(unlined or unsure) or any(row.missing for row in found))
    else:
        wanted = pattern_of(" ".join(arguments))
        for row in (row for row in found if wanted.search(row.rule)):
            seconds = timed(row)
            print(f"{row.rule}\n  searched for {row.searched[-1]!r}, {seconds:.2f} s")
            print("".join(f"  line {line}\n" for line in row.lines[:5]), end="")
            print("".join(f"  test {test}\n" for test in row.tests), end="")


main()
