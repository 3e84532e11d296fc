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
from callers import Callers  # noqa: E402
from faults import Fault, flipped  # noqa: E402
from judge import judge  # noqa: E402
from recording import Recording, place, recording  # noqa: E402
from shop import Shop  # noqa: E402
from stages import STAGES, played  # noqa: E402

# Seconds for which the power is away: a till's time to confirm is over or not, and a clock without a battery goes back.
AWAY = (0, 0, 3, 45, 7_200, -3_600)


def compiled(folder):
    for name in ("Disk/disk", "Clock/clock"):
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", f"{folder}/{name[-4:]}.so", f"{ROOT}/Tests/Rigs/{name}.c"], check=True)


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

    def __init__(self, arguments, folder, day, dropped=(), moments=None):
        """`moments` are those at which it is worth to look; an image that is the same without the dropped syncs is none."""
        self.arguments, self.folder, self.day, self.dropped, self.moments = arguments, folder, day, dropped, moments

    def is_other(self, kind, moment, number):
        found = []
        for dropped in ((), self.dropped):
            path = place(self.folder / f"image-{number}-{'with' if dropped else 'without'}")
            self.day.image(kind, moment, random.Random(number), path, dropped)
            found.append(path)
        same = subprocess.run(["diff", "-rq", *found], capture_output=True).returncode == 0
        for path in found:
            shutil.rmtree(path)
        return not same

    def run(self, number):
        dice = random.Random(f"{self.arguments.seed}/{number}")
        kind, away = dice.choice(model.KINDS), dice.choice(AWAY)
        moment = self.day.moment(dice, kind) if self.moments is None else dice.choice(self.moments)
        if self.moments is not None and not self.is_other(kind, moment, number):
            return "", None
        is_cut_again = dice.random() < 0.15
        path = place(self.folder / f"image-{number}")
        name = f"image {number}: {kind} at {moment}, away for {away} s{', cut again' if is_cut_again else ''}"
        shop = None
        try:
            self.day.image(kind, moment, dice, path, self.dropped)
            facts = self.day.facts(moment)
            sold = self.day.noted(facts, moment)
            if is_cut_again:
                path = self.cut_again(path, dice, facts)
            (path / "wall").write_text(f"{away}\n")
            shop = Shop(self.arguments.binaries, path, {"LD_PRELOAD": f"{self.folder}/lock.so", "SHIFTED": str(path / "wall")})
            faults = self.start(shop, facts, sold)
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

    def start(self, shop, facts, sold):
        shop.begin()
        # A clock that went back with the power is put right by a time server, once there is a network.
        pathlib.Path(shop.folder, "wall").write_text("0\n")
        for program in ("nfc-tapd", "nfc-tap-ecr"):
            if shop.ended(program):
                return [f"{program} does not start: {shop.said(program)[-400:]}"]
        return judge(shop, facts, sold) + verified(self.arguments, shop)


def verified(arguments, shop):
    faults = [] if shop.stop("nfc-tapd") == 0 else ["the daemon does not stop as it should"]
    verify = subprocess.run([f"{arguments.binaries}/nfc-tap", "audit", "verify", "--file", f"{shop.folder}/state/journal.sqlite"],
                            capture_output=True, text=True)
    return faults if verify.returncode == 0 else [*faults, f"the chain does not hold: {verify.stdout}{verify.stderr}"]


def stages(arguments, folder, day):
    """What is done to the books as a whole, cut off at any moment."""
    end, all_played = place(folder / "end-of-day"), []
    day.image("all", len(day.records), random.Random(0), end)
    for name, kind in STAGES.items():
        stage = kind(day.facts(len(day.records)))
        all_played.append((name, stage, played(stage, end, folder, name, arguments.binaries)))

    def run(number):
        name, stage, recorded = all_played[number % len(all_played)]
        dice = random.Random(f"{arguments.seed}/{number}")
        kind = dice.choice(model.KINDS)
        moment = recorded.moment(dice, kind)
        path = place(folder / f"stage-{number}")
        recorded.image(kind, moment, dice, path)
        shop = Shop(arguments.binaries, path, stage.clock(folder, path))
        try:
            found = stage.judge(shop, path, recorded, moment)
            found = found or verified(arguments, shop)
        except (RuntimeError, OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
            found = [f"{error!r}: {shop.said('nfc-tapd')[-400:]}"]
        finally:
            shop.end()
        if not found:
            shutil.rmtree(path)
        return f"stage {number}: {name}, {kind} at {moment} of {len(recorded.records)}", found

    losses = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        for name, found in pool.map(run, range(arguments.count) if arguments.image is None else [arguments.image]):
            losses += bool(found)
            for fault in found:
                print(f"{name}: {fault}", flush=True)
    return losses


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


def syncs(arguments, folder, day):
    """Every function of the sources that syncs, without its syncs: how many images it takes until that is found."""
    print("| file | asked for by | syncs | found |\n|---|---|---|---|")
    for (path, who), dropped in sorted(day.asked_for(Callers(arguments.binaries)).items()):
        if arguments.only and arguments.only not in f"{path} {who}":
            continue
        moments, looked, found = day.concerned(dropped), 0, None
        check = Check(arguments, folder, day, dropped, moments)
        with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
            for first in range(0, arguments.count if moments else 0, arguments.workers):
                for number, (name, faults) in enumerate(pool.map(check.run, range(first, first + arguments.workers)), first):
                    looked += faults is not None
                    found = found or (faults and f"image {number}, the {looked}th that is another one: {' '.join(faults[0].split())[:120]}")
                if found:
                    break
        print(f"| {path} | `{who}` | {len(dropped)} | {found or f'not in {looked} images that are others'} |", flush=True)
    return 0


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
            told = day.facts(moment)
            try:
                (file, bit), result, found = flipped(arguments.binaries, path, dice, told, day.noted(told, moment))
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
    parser.add_argument("--stages", action="store_true", help="no sales, but an upgrade, a purge, a copy made and put back, and new books")
    parser.add_argument("--syncs", action="store_true", help="leave out the syncs of each function in turn; --count images each at most")
    parser.add_argument("--only", default="", help="with --syncs: functions and files with this in their names")
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
        elif arguments.stages:
            losses = stages(arguments, folder, day)
        elif arguments.syncs:
            losses = syncs(arguments, folder, day)
        elif arguments.faults:
            losses = faults(arguments, folder, day)
        else:
            check = Check(arguments, folder, day)
            images = range(arguments.count) if arguments.image is None else [arguments.image]
            with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
                losses = 0
                for looked, (name, found) in enumerate(pool.map(check.run, images), 1):
                    losses += bool(found)
                    for fault in found:
                        print(f"{name}: {fault}", flush=True)
                    if looked % 100 == 0 and looked < len(images):
                        print(f"check-power: {looked} images so far, {losses} losses", flush=True)
        print(f"check-power: {arguments.count} {'faults' if arguments.faults else 'images'}, {losses} losses, seed {arguments.seed}, {time.monotonic() - begin:.0f} s")
    finally:
        if losses:
            print(f"check-power: kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
