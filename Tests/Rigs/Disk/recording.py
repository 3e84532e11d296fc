# SPDX-License-Identifier: Apache-2.0
"""A story that was played on a recorded disk: what was said in it, and the image that a power cut leaves at any of its moments."""
import os
import pathlib

import model
from judge import Facts
from shop import TILLS

DISKS = ("state", "ecr", "psp")


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

    def moment(self, dice, kind):
        """What is lost or kept changes with syncs, names and sends; what is in between, with each write. Nothing changes before a program
        has come to its first write, as it may be where the power is back for a moment only."""
        return dice.choice((self.moments if kind.startswith("strict") or kind == "ext4" or dice.random() < 0.5 else self.writes) or [0])

    def facts(self, moment):
        found = Facts()
        found.listen(self.said, moment)
        found.watch(self.records, moment)
        return found

    def noted(self, facts, moment):
        """Tills that have a payment as paid: that stands in the bridge's ledger after the answer. A cut in between is told of, and takes
        the payment back: docs/integrating/till-protocols.md."""
        return [till for till, sold in facts.sold.items() if self.is_synced(f"ecr/{till}.ledger", sold, moment)]

    def is_synced(self, path, after, until):
        begun = next((it.offset for it in self.records if it.kind == "B" and it.path == path and it.number > after), None)
        return any(it.kind == "E" and it.offset == begun and it.number < until for it in self.records)

    def image(self, kind, moment, dice, folder, dropped=()):
        disk = model.Disk(*self.base)
        for it in self.records[:moment]:
            if not it.path.startswith("psp"):
                disk.play(it, dropped)
        disk.image(kind, dice, folder, lambda name: not name.startswith("psp"))
        # The payment service loses no power. What was on its way is booked, or was lost with the line.
        asked = [it.number for it in self.said if it.program == "tap" and it.line.startswith("POST") and it.number < moment]
        answered = [it.number for it in self.said if it.program == "san" and asked and it.number > asked[-1]]
        until = answered[0] if answered and answered[0] >= moment and dice.random() < 0.5 else moment
        service = model.Disk(*self.base)
        for it in self.records[:until]:
            service.play(it)
        service.image("all", dice, folder, lambda name: name.startswith("psp"))


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
