# SPDX-License-Identifier: Apache-2.0
"""The second host's own book: what it has booked and taken back, line by line in a file that a death leaves whole. Whoever holds it against other books
reads the same file by the same rules."""
import json
import os


class Entry:
    """One message that asked for money."""

    def __init__(self, key, kind, card, amount, value, code, reference, day):
        self.key, self.kind, self.card, self.amount, self.code, self.reference, self.day = key, kind, card, amount, code, reference, day
        self.original = None  # Of a capture: the hold's key.
        # What the card's holder has paid (below nothing: got), and what is held of his money.
        self.taken = self.held = 0
        self.is_reversed = self.is_forgotten = False
        self.answers = []
        if kind == "hold":
            self.held = value
        else:
            self.taken = -value if kind == "credit" else value


class Book:
    def __init__(self, path):
        self.path, self.entries, self.voided, self.advices, self.days = path, {}, set(), {}, []
        # Booked, and the switch may not have heard of it: until then the host takes it back by itself if line or host die.
        self.unsure = set()
        self.lies, self.violations, self.counts, self.cut_overs = {}, [], {}, 0
        if os.path.exists(path):
            with open(path, encoding="utf-8") as lines:
                for line in lines:
                    if line.endswith("\n"):
                        self.apply(json.loads(line))
        self.file = None

    def write(self, **line):
        """On its way to the disk before it counts: a host that is killed has booked what it has written."""
        if self.file is None:
            self.file = open(self.path, "a", encoding="utf-8")
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()
        return self.apply(line)

    def apply(self, line):
        do = line["do"]
        self.counts[do] = self.counts.get(do, 0) + 1
        return getattr(self, "do_" + do)(**{name: value for name, value in line.items() if name != "do"})

    # Keys are terminal, trace number and transmission time of the request, with "/" between them.

    def do_book(self, key, kind, card, amount, value, code, reference, day):
        self.entries[key] = Entry(key, kind, card, amount, value, code, reference, day)
        return self.entries[key]

    def do_answered(self, key, code, day):
        self.entries[key].answers.append((code, day))

    def do_reverse(self, key, original):
        self.advices[key] = "00"
        entry = self.entries[original]
        entry.is_reversed, entry.taken, entry.held = True, 0, 0

    def do_void(self, key, original):
        """A reversal of what is not here: it will not be booked when it comes."""
        self.voided.add(original)

    def do_capture(self, key, original, amount):
        self.advices[key] = "00"
        hold = self.entries[original]
        hold.held = max(0, hold.held - amount)
        self.entries[key] = Entry(key, "capture", hold.card, amount, amount, "00", hold.reference, hold.day)
        self.entries[key].original = original

    def do_release(self, key, original, remaining):
        self.advices[key] = "00"
        hold = self.entries[original]
        hold.held = min(hold.held, remaining)

    def do_refuse(self, key, code):
        """An advice that is not carried out, for good."""
        self.advices[key] = code

    def do_unsure(self, key):
        self.unsure.add(key)

    def do_sure(self, key):
        self.unsure.discard(key)

    def do_forget(self, key):
        """The host lost what it had approved."""
        self.unsure.discard(key)
        # Its repeat is carried out anew.
        self.advices.pop(key, None)
        entry = self.entries[key]
        hold = self.entries.get(entry.original)
        if hold and not (entry.is_forgotten or hold.is_forgotten or hold.is_reversed):
            hold.held += entry.amount
        entry.is_forgotten, entry.taken, entry.held = True, 0, 0

    def do_lie(self, key, what):
        self.lies.setdefault(key, []).append(what)

    def do_violation(self, what):
        self.violations.append(what)

    def do_cutover(self, day):
        self.cut_overs += 1

    def do_day(self, credits, debits, told, code):
        self.days.append((credits, debits, told, code))

    def do_fault(self, what):
        self.counts["fault: " + what] = self.counts.get("fault: " + what, 0) + 1

    def net(self):
        """What the shops get: above nothing, or below it."""
        return sum(entry.taken for entry in self.entries.values())

    def doubles(self):
        """Cards whose one cryptogram has paid twice."""
        seen, found = {}, []
        for entry in self.entries.values():
            if entry.kind in ("debit", "hold") and entry.card and (entry.taken or entry.held):
                if entry.card in seen:
                    found.append((seen[entry.card], entry.key))
                seen[entry.card] = entry.key
        return found
