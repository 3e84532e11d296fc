# SPDX-License-Identifier: Apache-2.0
"""A story that was played on a recorded disk: what was said in it, and the image that a power cut leaves at any of its moments."""
import bisect
import copy
import os
import pathlib
import random

import model
from judge import Facts
from shop import TILLS

DISKS = model.ROOTS


def place(path):
    path = pathlib.Path(path)
    for disk in DISKS:
        (path / disk).mkdir(parents=True, mode=0o700)
    return path


def recording(folder, log):
    return {"LD_PRELOAD": f"{folder}/disk.so", "DISK_RECORD": str(log), "DISK_FOLDER": os.path.realpath(log.parent)}


class Recording:
    """A day that was played: its records, what was said, and the moments at which something changes."""

    def __init__(self, records, *base):
        """`base` is what was there before: a folder, and the inodes that its files had, by name."""
        self.records, self.said, self.base = records, model.messages(records), base
        of_shop = [it for it in records if it.program != "san" and it.path.split("/")[0] not in ("psp",)]
        self.moments = sorted({it.number + after for it in of_shop if it.kind in "BECRUMLS" for after in (0, 1)} |
                              {it.number for it in records if it.program == "san" and it.kind == "S"})
        self.writes = [it.number for it in of_shop if it.kind in "WTA"]
        # What the payment service was asked, and when it has answered.
        self.asked = [it.number for it in self.said if it.program == "tap" and it.line.startswith("POST")]
        self.answered = [it.number for it in self.said if it.program == "san"]
        self.of_service = [it for it in records if it.program == "san" and it.kind != "S"]
        ends = {it.offset: it.number for it in records if it.kind == "E"}
        # Syncs of the tills' ledgers: the number of their beginning, and of their end.
        self.synced = {till: [(it.number, ends[it.offset]) for it in records
                              if it.kind == "B" and it.path == f"ecr/{till}.ledger" and it.offset in ends] for till in TILLS}

    def moment(self, dice, kind):
        """What is lost or kept changes with syncs, names and sends; what is in between, with each write. Nothing changes before a program
        has come to its first write, as it may be where the power is back for a moment only."""
        return dice.choice((self.moments if kind.startswith("strict") or kind == "ext4" or dice.random() < 0.5 else self.writes) or [0])

    def noted(self, facts, moment):
        """How often tills have a payment as paid: that stands in the bridge's ledger after the answer. A cut in between is told of, and
        takes the payment back: docs/integrating/till-protocols.md."""
        found = {}
        for till, all_sold in facts.sold.items():
            ends = [next((end for begin, end in self.synced[till] if begin > sold), None) for sold in all_sold]
            if count := sum(end is not None and end < moment for end in ends):
                found[till] = count
        return found

    def answer_to_last(self, moment):
        """The number with which the last request before that moment is answered."""
        at = bisect.bisect_left(self.asked, moment)
        later = bisect.bisect_right(self.answered, self.asked[at - 1]) if at else len(self.answered)
        return self.answered[later] if later < len(self.answered) else moment

    def at(self, moment):
        walk = Walk(self)
        walk.to(moment)
        return walk

    def asked_for(self, callers):
        """Syncs of the books by file and by the function that asked for them: their numbers."""
        found = {}
        done = {it.offset for it in self.records if it.kind == "E"}
        for it in self.records:
            if it.kind == "B" and it.program != "san" and it.offset in done:
                found.setdefault((it.path, callers.who(it)), set()).add(it.offset)
        return found

    def concerned(self, dropped):
        """Moments at which a disk may be another one without these syncs: until the next one of the same file or folder."""
        done = [it for it in self.records if it.kind == "E"]
        found = []
        for it in done:
            if it.offset in dropped:
                until = next((other.number for other in done if other.file == it.file and other.number > it.number
                              and other.offset not in dropped), len(self.records))
                found += [moment for moment in self.moments if it.number < moment <= until]
        return sorted(set(found))

    # Faults that are planted: syncs that are left out

    def before(self, path, is_meant):
        """The last sync of that file before each message that is meant."""
        syncs = [it for it in self.records if it.kind == "E" and it.path == path]
        found = set()
        for message in self.said:
            if is_meant(message):
                found |= {it.offset for it in [it for it in syncs if it.number < message.number][-1:]}
        return found

    def plants(self):
        log, ledgers = "state/journal.sqlite-wal", {f"ecr/{till}.ledger" for till in TILLS}
        start = next(it.number for it in self.records if it.kind == "R" and it.other == "state/installation.key")

        def told(state):
            return lambda it: it.program == "tap" and it.line.startswith("HTTP/1.1 20") and isinstance(it.body, dict) and \
                it.body.get("state") == state

        def asks(it, is_sale):
            return it.program == "tap" and it.line.startswith("POST") and (
                it.line.endswith("/v1/authorizations HTTP/1.1") == is_sale)

        return {
            "the log, before the payment service is asked": self.before(log, lambda it: asks(it, True)),
            "the log, before an operation is asked for": self.before(
                log, lambda it: asks(it, False) and "/reversals" not in it.line),
            "the log, before `approved` is told": self.before(log, told("approved")),
            "the log, before `stored` is told": self.before(log, told("stored")),
            "the log, before a closed day is told": self.before(log, lambda it: it.program == "tap" and "totals" in (it.body or {})),
            "the folder, after the key was renamed": {
                it.offset for it in self.records if it.kind == "E" and it.path == "state" and it.number > start},
            "the journal, before its log is used anew": {
                it.offset for it in self.records if it.kind == "E" and it.path == "state/journal.sqlite" and it.number > start},
            "the tills' ledgers": {
                it.offset for it in self.records if it.kind == "E" and it.path in ledgers}}


class Walk:
    """Goes through a recording from moment to moment: what had been said, and the image that a cut leaves there."""

    def __init__(self, recording, dropped=(), facts=None):
        self.recording, self.dropped, self.facts, self.moment = recording, dropped, copy.deepcopy(facts) or Facts(), 0
        self.disk, self.service, self.later = (model.Disk(*recording.base) for _ in range(3))
        self.heard, self.served = 0, [0, 0]
        self.sold = {}

    def to(self, moment):
        """Never back."""
        records, said = self.recording.records, self.recording.said
        for it in records[self.moment:moment]:
            if it.program != "san":
                self.disk.play(it, self.dropped)
        self.facts.watch(records[self.moment:moment])
        until = bisect.bisect_left(said, moment, key=lambda it: it.number)
        self.facts.listen(said[self.heard:until])
        self.moment, self.heard = moment, until
        self.sold = self.recording.noted(self.facts, moment)

    def image(self, kind, token, is_meant=lambda name: True):
        """Of the disks of daemon and bridge: see `model.Disk.image`."""
        return self.disk.image(kind, token, lambda name: not name.startswith("psp") and is_meant(name))

    def book(self, token):
        """The payment service loses no power. What was on its way is booked, or was lost with the line.

        Returns how many of its records that are, and its files."""
        is_booked = random.Random(token).random() < 0.5
        until = max(self.moment, self.recording.answer_to_last(self.moment)) if is_booked else self.moment
        disk, acts = self.later if is_booked else self.service, self.recording.of_service
        for it in acts[self.served[is_booked]:]:
            if it.number >= until:
                break
            disk.play(it)
            self.served[is_booked] += 1
        return self.served[is_booked], disk.image("all", token, lambda name: name.startswith("psp"))

    def whole(self, kind, token):
        return self.image(kind, token) | self.book(token)[1]
