# SPDX-License-Identifier: Apache-2.0
"""Which function of the sources asked for a sync: the record has the places of all that were being called, and the program has names for
them. What only passes a wish on, such as a transaction, a descriptor or a thread, is not who asked.
"""
import bisect
import re
import struct
import subprocess

PROGRAMS = {"tap": "nfc-tapd", "ecr": "nfc-tap-ecr"}
# Module and type of what passes a wish on.
PASSING = re.compile(r"^(Linux\.|Journal\.(Database|Statement)\.|Journal\.csqlite|TapDaemon\.JournalThread\.)")
PRIVATE = re.compile(r"\((\w+) in _[0-9A-F]+\)")
OURS = re.compile(r"^(?:[a-z ]*(?:of|in) )*((?:Journal|Linux|TapDaemon|TillBridge|ECR|Envelope|Transactions)\.[\w.]+)")


class Callers:
    def __init__(self, binaries):
        self.binaries, self.tables, self.names = binaries, {}, {}

    def table(self, program):
        if program not in self.tables:
            said = subprocess.run(["nm", "-n", "--defined-only", f"{self.binaries}/{PROGRAMS[program]}"], capture_output=True, text=True)
            rows = [line.split() for line in said.stdout.splitlines()]
            rows = [(int(row[0], 16), row[2]) for row in rows if len(row) == 3 and row[1] in "tTwW"]
            self.tables[program] = [row[0] for row in rows], [row[1] for row in rows]
        return self.tables[program]

    def demangled(self, symbols):
        new = sorted({symbol for symbol in symbols if symbol not in self.names})
        if new:
            said = subprocess.run(["swift", "demangle", "--compact"], input="\n".join(new), capture_output=True, text=True)
            self.names.update(zip(new, said.stdout.splitlines()))
        return [self.names[symbol] for symbol in symbols]

    def stack(self, it):
        """Our own functions, the innermost first."""
        places, symbols = self.table(it.program)
        frames = [place for place, in struct.iter_unpack("<q", it.data)]
        found = [symbols[at] for at in (bisect.bisect_right(places, frame) - 1 for frame in frames) if at >= 0]
        own = [OURS.match(PRIVATE.sub(r"\1", name)) for name in self.demangled(found)]
        return list(dict.fromkeys(name[1] for name in own if name))

    def who(self, it):
        stack = self.stack(it)
        return next((name for name in stack if not PASSING.match(name)), stack[0] if stack else "?")
