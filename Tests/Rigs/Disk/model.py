# SPDX-License-Identifier: Apache-2.0
"""From what disk.c has recorded, the disks that a power cut may leave at any moment, and what had been said until then.

POSIX promises of a file what was written before a sync of it began, and of a name what was done before a sync of its folder. All
else may be there, or not, or in part: a disk writes sectors, in whatever order it likes.
"""
import json
import os
import pathlib
import random
import struct

SECTOR = 512
HEAD = struct.Struct("<11q")
RECORD = struct.Struct("<IHHic3sqqq")
# Folders that are there before anything is recorded: disks of their own.
ROOTS = ("state", "ecr", "psp")
KINDS = ("strict", "strict names", "ext4", "random", "torn", "zeros", "all")


class Record:
    """A record's fields are those of `struct record`; `number` is its place in the order, `end` the bytes that were recorded with it."""

    __slots__ = ("number", "kind", "program", "process", "file", "offset", "length", "path", "other", "data", "end")

    def __repr__(self):
        return f"{self.number} {self.program} {self.kind} {self.path}{self.other and ' ' + self.other} {self.offset} {self.length}"


def control(path, room=1 << 28, **values):
    """Makes the file that programs record into."""
    names = ("owner", "used", "size", "syncs", "writes", "fail_sync", "fail_write", "error", "times", "drop_sync", "delay")
    with open(path, "wb") as file:
        file.truncate(HEAD.size + room)
        file.write(HEAD.pack(*[({"size": room} | values).get(name, 0) for name in names]))


def records(path, folder):
    """All that was recorded; paths are told from `folder` on."""
    with open(path, "rb") as file:
        used = HEAD.unpack(file.read(HEAD.size))[1]
        data = file.read(used)
    found, at = [], 0
    while at < used:
        size, one, other, process, kind, program, number, offset, length = RECORD.unpack_from(data, at)
        body = at + RECORD.size
        it = Record()
        it.number, it.kind, it.program, it.process = len(found), kind.decode(), program.decode(), process
        it.file, it.offset, it.length = number, offset, length
        it.path = os.path.relpath(data[body:body + one].decode(), folder) if one else ""
        it.other = os.path.relpath(data[body + one:body + one + other].decode(), folder) if other else ""
        it.data, it.end = data[body + one + other:at + size], at + size
        found.append(it)
        at += size
    return found


class File:
    """`durable` is on the disk whatever happens; `pending` are changes that are not, oldest first: their number, and what they do."""

    def __init__(self, durable=b"", mode=0o600):
        self.durable, self.pending, self.mode, self.begun = bytearray(durable), [], mode, {}

    def sync(self, number):
        """All before that number is on the disk."""
        for change in self.pending:
            if change[0] < number and change[1] != "lost":
                apply(self.durable, change)
        self.pending = [change for change in self.pending if change[0] >= number]

    def content(self, kind, dice, last):
        """What a cut leaves of it. `last` is the number of the change that is torn, and of the last that is done."""
        content = bytearray(self.durable)
        for change in self.pending:
            number, what, offset, data = change
            if kind in ("strict", "ext4") or what == "lost":
                continue
            if kind in ("all", "strict names"):
                apply(content, change)
            elif kind == "zeros":
                end = offset + len(data) if what == "write" else offset
                if what == "write" or end > len(content):
                    content.extend(bytes(max(0, end - len(content))))
            elif kind == "torn":
                if number < last:
                    apply(content, change)
                elif number == last and what == "write":
                    apply(content, (number, what, offset, data[:boundary(offset, len(data), dice)]))
            elif what == "write":
                for at in sectors(offset, len(data)):
                    if dice.random() < 0.5:
                        apply(content, (number, what, offset + at[0], data[at[0]:at[1]]))
            elif dice.random() < 0.5:
                apply(content, change)
        return bytes(content)


def apply(content, change):
    _, what, offset, data = change
    if what == "write":
        content.extend(bytes(max(0, offset - len(content))))
        content[offset:offset + len(data)] = data
    elif what == "size":
        del content[offset:]
        content.extend(bytes(offset - len(content)))
    elif what == "room":
        content.extend(bytes(max(0, offset - len(content))))


def sectors(offset, length):
    """The parts of a write that a disk writes at once."""
    at = 0
    while at < length:
        end = min(length, at + SECTOR - (offset + at) % SECTOR)
        yield at, end
        at = end


def boundary(offset, length, dice):
    return dice.choice([0, *(end for _, end in sectors(offset, length))])


class Disk:
    """Of one folder. A name's changes are a list of (number, its folder, name, file or `None`); what a rename does is one."""

    def __init__(self, base=None, numbers=None):
        self.names, self.durable, self.changes, self.numbers, self.begun = {}, {}, [], {}, {}
        # What an ordered file system has written of its names: all before the last sync, whatever it was of.
        self.committed = 0
        if base is not None:
            for path in sorted(pathlib.Path(base).rglob("*")):
                name = os.path.relpath(path, base)
                if path.is_dir():
                    self.names[name] = self.durable[name] = "folder"
                elif path.is_file():
                    it = File(path.read_bytes(), path.stat().st_mode & 0o7777)
                    self.names[name] = self.durable[name] = it
                    self.numbers[numbers[name]] = it

    def play(self, it, dropped=()):
        """One record; a sync whose number is in `dropped` is left out."""
        file = self.numbers.get(it.file)
        if it.kind == "C":
            self.numbers[it.file] = File(mode=it.length)
            self.rename(it.number, [(it.path, self.numbers[it.file])])
        elif it.kind == "M":
            self.rename(it.number, [(it.path, "folder")])
        elif it.kind == "U":
            self.rename(it.number, [(it.path, None)])
        elif it.kind == "L":
            self.rename(it.number, [(it.other, self.names.get(it.path))])
        elif it.kind == "R":
            moved = [(name, target) for name, target in self.names.items() if name == it.path or name.startswith(it.path + "/")]
            self.rename(it.number, [(it.other + name[len(it.path):], target) for name, target in moved] +
                        [(name, None) for name, _ in moved])
        elif it.kind in "WTA" and file is not None:
            what = {"W": "write", "T": "size", "A": "room"}[it.kind]
            file.pending.append((it.number, what, it.offset if it.kind == "W" else it.length, it.data))
        elif it.kind == "X" and file is not None:
            # Dropped, and taken for written by every later sync.
            file.pending = [(number, "lost", *rest) for number, _, *rest in file.pending]
        elif it.kind == "B":
            self.begun[it.offset] = it.number
        elif it.kind == "E" and it.offset not in dropped:
            begin = self.begun.get(it.offset, it.number)
            self.committed = max(self.committed, begin)
            if it.length == ord("d"):
                self.settle(lambda number, name: number < begin and (os.path.dirname(name) or ".") == it.path)
            elif file is not None:
                file.sync(begin)

    def rename(self, number, targets):
        for name, target in targets:
            if target is None:
                self.names.pop(name, None)
            else:
                self.names[name] = target
        self.changes.append((number, targets))

    def settle(self, is_meant):
        """What was done to names is on the disk; what a rename takes from a folder goes with what it puts into the other."""
        left = []
        for number, targets in self.changes:
            if any(is_meant(number, name) for name, _ in targets):
                put(self.durable, targets)
            else:
                left.append((number, targets))
        self.changes = left

    def image(self, kind, token, is_meant=lambda name: True):
        """What a cut leaves now, by name: content and mode, or `None` for a folder. Whatever lies in a folder that is not there is lost
        with it. `token` is all that chance decides; each file has its own, so that one can be left out."""
        dice = random.Random(token)
        names, pending = dict(self.durable), [number for number, _ in self.changes]
        for target in set(self.names.values()) | set(self.durable.values()):
            if target != "folder":
                pending += [change[0] for change in target.pending]
        last = dice.choice(sorted(set(pending)) or [0])
        for number, targets in self.changes:
            until = {"ext4": self.committed, "torn": last + 1, "random": last, "zeros": number + 1, "all": number + 1}.get(kind, 0)
            if number < until:
                put(names, targets)
        found = {}
        for name, target in sorted(names.items()):
            above = os.path.dirname(name)
            if above and above not in found and above not in ROOTS:
                continue
            if target == "folder":
                found[name] = None
            elif is_meant(name):
                found[name] = target.content(kind, random.Random(f"{token}/{name}"), last), target.mode
        return found


def write(image, folder):
    for name, content in image.items():
        path = pathlib.Path(folder, name)
        if content is None:
            path.mkdir(mode=0o700, exist_ok=True)
        else:
            path.write_bytes(content[0])
            path.chmod(content[1])


def put(names, targets):
    for name, target in targets:
        if target is None:
            names.pop(name, None)
        else:
            names[name] = target


class Message:
    """Of HTTP, and the number of the record with which it was sent whole."""

    def __init__(self, number, program, head, body):
        self.number, self.program = number, program
        lines = head.decode("latin-1").split("\r\n")
        self.line = lines[0]
        self.fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        try:
            self.body = json.loads(body) if body else None
        except ValueError:
            self.body = None


def messages(all):
    """What programs have said to each other: requests and answers with a length."""
    open_ones, found = {}, []
    for it in all:
        if it.kind != "S":
            continue
        buffer = open_ones.setdefault((it.process, it.file), bytearray())
        buffer += it.data
        while True:
            end = buffer.find(b"\r\n\r\n")
            if end < 0:
                break
            lower = bytes(buffer[:end]).lower()
            at = lower.find(b"content-length:")
            length = int(lower[at + 15:].split(b"\r\n")[0]) if at >= 0 else 0
            if len(buffer) < end + 4 + length:
                break
            found.append(Message(it.number, it.program, bytes(buffer[:end]), bytes(buffer[end + 4:end + 4 + length])))
            del buffer[:end + 4 + length]
    return found
