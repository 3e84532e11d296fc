# SPDX-License-Identifier: Apache-2.0
"""Runs the `console` blocks of a document in one shell and holds what they print against what the document says.

transcripts.py DOCUMENT FOLDER [--write]    FOLDER stands for /run/nfc-tap; --write puts what was printed into the document

Ids, times and cursors differ from run to run: they are compared by their form only.
"""

import re
import subprocess
import sys

FORMS = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "TIME"),
    (r'("approvalCode": ?")\d{6}"', r'\1CODE"'),
    (r"SANDBOX-\d+", "SANDBOX-N"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d", "DAY AND TIME"),
    (r"(AC +)[0-9A-F]{16}", r"\1CRYPTOGRAM"),
]


def form(text):
    for pattern, name in FORMS:
        text = re.sub(pattern, name, text)
    return text.strip()


def main():
    document, folder = sys.argv[1], sys.argv[2]
    text = open(document, encoding="utf-8").read()
    blocks = list(re.finditer(r"```console\n(.*?)```", text, re.DOTALL))
    commands = [
        [line[2:] for line in block.group(1).splitlines() if line.startswith("$ ")] for block in blocks]
    script = "".join(
        f"{command}\nprintf '\\n--- end of a command\\n'\n" for block in commands for command in block)
    shell = subprocess.run(
        ["bash"], input=script.replace("/run/nfc-tap/", folder + "/"), cwd=folder, capture_output=True, text=True,
        timeout=300, check=False)
    printed = [part.strip("\n") for part in shell.stdout.split("\n--- end of a command\n")][:-1]
    if shell.stderr.strip() or len(printed) != sum(map(len, commands)):
        sys.exit(f"{document}: the commands did not run: {shell.stderr}")

    wrong, answers, rest = 0, iter(printed), []
    for block, lines in zip(blocks, commands):
        ran = "".join(f"$ {line}\n" + (answer + "\n" if (answer := next(answers)) else "") for line in lines)
        if form(ran) != form(block.group(1)):
            wrong += 1
            print(f"{document} says:\n{block.group(1)}and what ran says:\n{ran}")
        rest.append(ran)
    if "--write" in sys.argv:
        parts = iter(rest)
        text = re.sub(r"(```console\n).*?```", lambda match: match.group(1) + next(parts) + "```", text, flags=re.DOTALL)
        open(document, "w", encoding="utf-8").write(text)
        return
    if wrong or not printed:
        sys.exit(f"{document}: {wrong} of {len(blocks)} transcripts are not what happens")
    print(f"check-protocol: {len(printed)} commands in {document} print what it says")


main()
