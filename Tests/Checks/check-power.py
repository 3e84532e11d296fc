#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Power cuts: a shop's day is recorded with every write, sync, name and send of its programs, in one order. A model makes from it what a
disk may hold after a cut at any moment, and the programs are started on that.

    Tests/Checks/check-power.py FOLDER-WITH-THE-PROGRAMS --count 1000 --seed 1

Each image has to start; what was told and asked is known, with the same end; nobody is charged twice; the audit chain holds; the next
sale pays. Ends with 1 where something is lost, and keeps the day and each such image: with `--day` and `--image` it is made again.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Rigs/Disk"))
import model  # noqa: E402
from faults import Fault, flipped  # noqa: E402
from judge import Facts, judge  # noqa: E402
from shop import Shop  # noqa: E402

# Seconds for which the power is away: a till's time to confirm is over or not, and a clock without a battery goes back.
AWAY = (0, 0, 3, 45, 7_200, -3_600)
DISKS = ("state", "ecr", "psp")


def compiled(folder):
    for name in ("Disk/disk", "Clock/clock"):
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", f"{folder}/{name[-4:]}.so", f"{ROOT}/Tests/Rigs/{name}.c"], check=True)


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
        """What is lost or kept changes with syncs, names and sends; what is in between, with each write."""
        return dice.choice(self.moments if kind.startswith("strict") or kind == "ext4" or dice.random() < 0.5 else self.writes)

    def is_noted(self, sold, moment):
        """That its till was told stands in the bridge's ledger after the answer. A cut in between is told of, and takes the payment
        back: docs/integrating/till-protocols.md."""
        begun = [it.offset for it in self.records if it.kind == "B" and it.path.startswith("ecr/") and it.number > sold]
        return sold > 0 and any(it.kind == "E" and it.offset == begun[0] and it.number < moment for it in self.records if begun)

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
        log, ledger = "state/journal.sqlite-wal", "ecr/web.ledger"
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
            "the till's ledger, after its till was told": {
                it.offset for it in self.records if it.kind == "E" and it.path == ledger}}


def record(binaries, folder, seed):
    shop = Shop(binaries, place(folder / "shop"), recording(folder, folder / "shop" / "log"))
    model.control(folder / "shop" / "log")
    try:
        shop.play(random.Random(seed) if seed else None)
    finally:
        shop.end()
    day = replayed(folder)
    disk = model.Disk()
    for it in day.records:
        disk.play(it)
    disk.image("all", random.Random(0), place(folder / "end"))
    for disk in ("state", "ecr"):
        subprocess.run(["diff", "-r", "-x", "*-shm", folder / "shop" / disk, folder / "end" / disk], check=True)
    return day


def replayed(folder):
    return Recording(model.records(folder / "shop" / "log", os.path.realpath(folder / "shop")))


class Check:
    """One image: it is made, started, and judged."""

    def __init__(self, arguments, folder, day, dropped=()):
        self.arguments, self.folder, self.day, self.dropped = arguments, folder, day, dropped

    def run(self, number):
        dice = random.Random(f"{self.arguments.seed}/{number}")
        kind, away = dice.choice(model.KINDS), dice.choice(AWAY)
        moment = self.day.moment(dice, kind)
        is_cut_again = dice.random() < 0.15
        path = place(self.folder / f"image-{number}")
        name = f"image {number}: {kind} at {moment}, away for {away} s{', cut again' if is_cut_again else ''}"
        shop = None
        try:
            self.day.image(kind, moment, dice, path, self.dropped)
            facts = Facts()
            facts.listen(self.day.said, moment)
            is_sold = self.day.is_noted(facts.sold, moment)
            if is_cut_again:
                path = self.cut_again(path, dice, facts)
            (path / "wall").write_text(f"{away}\n")
            shop = Shop(self.arguments.binaries, path, {"LD_PRELOAD": f"{self.folder}/lock.so", "SHIFTED": str(path / "wall")})
            faults = self.start(shop, facts, is_sold)
        except (RuntimeError, OSError, ValueError, KeyError) as error:
            faults = [f"{error!r}"]
        finally:
            if shop:
                shop.end()
        if not faults or self.dropped:
            for rest in self.folder.glob(f"image-{number}*"):
                shutil.rmtree(rest)
        return name, faults

    def cut_again(self, path, dice, facts):
        """The power comes back for a moment, and is away again while the books are being brought to order."""
        log = path / "log"
        model.control(log, 1 << 25)
        again = pathlib.Path(f"{path}-again")
        shutil.copytree(path, pathlib.Path(f"{path}-base"), ignore=shutil.ignore_patterns("log"))
        numbers = {os.path.relpath(file, path): file.stat().st_ino for file in path.rglob("*")}
        shop = Shop(self.arguments.binaries, path, recording(self.folder, log))
        try:
            shop.begin()
            time.sleep(dice.choice([0, 0, 0.1, 0.5]))
        finally:
            shop.end()
        second = Recording(model.records(log, os.path.realpath(path)), pathlib.Path(f"{path}-base"), numbers)
        kind = dice.choice(model.KINDS)
        moment = second.moment(dice, kind)
        second.image(kind, moment, dice, place(again))
        facts.listen(second.said, moment)
        return again

    def start(self, shop, facts, is_sold):
        shop.begin()
        # A clock that went back with the power is put right by a time server, once there is a network.
        pathlib.Path(shop.folder, "wall").write_text("0\n")
        for program in ("nfc-tapd", "nfc-tap-ecr"):
            if shop.ended(program):
                return [f"{program} does not start: {shop.said(program)[-400:]}"]
        faults = judge(shop, facts, is_sold)
        if shop.stop("nfc-tapd") != 0:
            faults.append("the daemon does not stop as it should")
        verify = subprocess.run([f"{self.arguments.binaries}/nfc-tap", "audit", "verify", "--file", f"{shop.folder}/state/journal.sqlite"],
                                capture_output=True, text=True)
        if verify.returncode != 0:
            faults.append(f"the chain does not hold: {verify.stdout}{verify.stderr}")
        return faults


def plants(arguments, folder, day):
    """How many images it takes until each planted fault is found."""
    missed = 0
    for name, dropped in day.plants().items():
        check, found = Check(arguments, folder, day, dropped), None
        with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
            for first in range(0, arguments.count, arguments.workers):
                images = range(first, min(first + arguments.workers, arguments.count))
                found = next(((number + 1, faults) for number, (_, faults) in zip(images, pool.map(check.run, images)) if faults), None)
                if found:
                    break
        missed += found is None
        what = f"image {found[0]}: {found[1][0][:150]}" if found else f"not found in {arguments.count} images"
        print(f"{name} ({len(dropped)} syncs): {what}", flush=True)
    return 1 if missed else 0


def faults(arguments, folder, day):
    """Errors of the disk, and bits that flip in what a power cut has left."""
    noticed = {}

    def run(number):
        dice = random.Random(f"{arguments.seed}/{number}")
        path = place(folder / f"fault-{number}")
        if number % 2 == 0:
            fault = Fault(dice)
            found, is_met = fault.run(arguments.binaries, path, recording(folder, path / "log"), path / "log")
            name, result = str(fault), "met" if is_met else "not met"
        else:
            moment = day.moment(dice, "strict")
            day.image("all", moment, dice, path)
            told = Facts()
            told.listen(day.said, moment)
            try:
                (file, bit), result, found = flipped(arguments.binaries, path, dice, told, day.is_noted(told.sold, moment))
                name = f"bit {bit} of {file} at {moment}"
            except (RuntimeError, OSError, ValueError, KeyError) as error:
                name, result, found = f"a bit at {moment}", "failed", [repr(error)]
        if not found:
            shutil.rmtree(path)
        return f"fault {number}: {name}", result, found

    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        losses = 0
        for name, result, found in pool.map(run, range(arguments.count) if arguments.image is None else [arguments.image]):
            noticed[result] = noticed.get(result, 0) + 1
            losses += bool(found)
            for fault in found:
                print(f"{name}: {fault}", flush=True)
    print("check-power:", ", ".join(f"{count} {result}" for result, count in sorted(noticed.items())))
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1, help="of the images, and of the day's order; 0 for the order of the script")
    parser.add_argument("--day", type=pathlib.Path, help="a folder that was kept: its day, recorded before, and the same images")
    parser.add_argument("--image", type=int, help="this one alone")
    parser.add_argument("--plants", action="store_true", help="leave syncs out, and say after how many images that is found")
    parser.add_argument("--faults", action="store_true", help="no cuts, but errors of the disk and bits that flip")
    parser.add_argument("--workers", type=int, default=2 * os.cpu_count())
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="power-"))
    begin, losses = time.monotonic(), 1
    try:
        compiled(folder)
        day = replayed(arguments.day) if arguments.day else record(arguments.binaries, folder, arguments.seed)
        print(f"check-power: a day of {len(day.records)} acts, {sum(it.kind == 'E' for it in day.records)} syncs")
        if arguments.plants:
            losses = plants(arguments, folder, day)
        elif arguments.faults:
            losses = faults(arguments, folder, day)
        else:
            check = Check(arguments, folder, day)
            images = range(arguments.count) if arguments.image is None else [arguments.image]
            with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
                found = [(name, fault) for name, faults in pool.map(check.run, images) for fault in faults]
            losses = len({name for name, _ in found})
            print(*(f"{name}: {fault}" for name, fault in found), sep="\n", end="\n" if found else "")
        print(f"check-power: {arguments.count} {'faults' if arguments.faults else 'images'}, {losses} losses, seed {arguments.seed}, {time.monotonic() - begin:.0f} s")
    finally:
        if losses:
            print(f"check-power: kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
