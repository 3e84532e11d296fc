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
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Rigs/Disk"))
import books  # noqa: E402
import model  # noqa: E402
from callers import Callers  # noqa: E402
from check import Check, Cut, verified  # noqa: E402
from faults import Fault, flipped  # noqa: E402
from recording import Recording, place, recording  # noqa: E402
from shop import Shop  # noqa: E402
from stages import STAGES, played  # noqa: E402
from volumes import volumes  # noqa: E402

# Images without some syncs that are looked at before it is asked whether that was found.
TURN = 50


def compiled(folder):
    for name in ("Disk/disk", "Clock/clock"):
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", f"{folder}/{name[-4:]}.so", f"{ROOT}/Tests/Rigs/{name}.c"], check=True)


def record(arguments, folder):
    """Returns the day, and how many operations its tills have asked for."""
    shop = Shop(arguments.binaries, place(folder / "shop"), recording(folder, folder / "shop" / "log"))
    model.control(folder / "shop" / "log", (1 << 28) + (arguments.more << 20))
    try:
        shop.play(random.Random(arguments.seed) if arguments.seed else None, arguments.more)
    finally:
        shop.end()
    day = replayed(folder)
    disk = model.Disk()
    for it in day.records:
        disk.play(it)
    model.write(disk.image("all", 0), place(folder / "end"))
    for disk in ("state", "ecr"):
        subprocess.run(["diff", "-r", "-x", "*-shm", folder / "shop" / disk, folder / "end" / disk], check=True)
    return day, shop.operations


def replayed(folder):
    return Recording(model.records(folder / "shop" / "log", os.path.realpath(folder / "shop")))


def stages(arguments, folder, day):
    """What is done to the books as a whole, cut off at any moment."""
    end, all_played = place(folder / "end-of-day"), []
    evening = day.at(len(day.records))
    model.write(evening.whole("all", 0), end)
    for name, kind in STAGES.items():
        stage = kind(evening.facts)
        all_played.append((name, stage, played(stage, end, folder, name, arguments.binaries)))

    def run(number):
        name, stage, recorded = all_played[number % len(all_played)]
        dice = random.Random(f"{arguments.seed}/{number}")
        kind = dice.choice(model.KINDS)
        moment = recorded.moment(dice, kind)
        path = place(folder / f"stage-{number}")
        model.write(recorded.at(moment).whole(kind, dice.random()), path)
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


def without(arguments, folder, day, opener, seen, dropped, moments=None):
    """How many images it takes until it is found that these syncs are left out: the words for it, and whether it is found."""
    looked = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        for first in range(0, arguments.count, TURN):
            check = Check(arguments, folder, day, opener, dict(seen), dropped)
            cuts = [Cut(arguments, day, number, moments) for number in range(first, min(first + TURN, arguments.count))]
            faults = check.run(cuts, pool)
            found = sorted((cut.number, of_image[0]) for cut, of_image in faults.items() if of_image)
            if found:
                looked += sum(cut.number <= found[0][0] for cut in faults)
                return f"image {found[0][0] + 1}, the {looked}th that is another one: {' '.join(found[0][1].split())[:110]}", True
            looked += len(faults)
    return f"not in {looked} images that are others", False


def plants(arguments, folder, day, opener, seen):
    """How many images it takes until each planted fault is found."""
    missed = 0
    for name, dropped in day.plants().items():
        said, is_found = without(arguments, folder, day, opener, seen, dropped)
        missed += not is_found
        print(f"{name} ({len(dropped)} syncs): {said}", flush=True)
    return missed


def syncs(arguments, folder, day, opener, seen):
    """Every function of the sources that syncs, without its syncs: how many images it takes until that is found."""
    print("| file | asked for by | syncs | found |\n|---|---|---|---|")
    for (path, who), dropped in sorted(day.asked_for(Callers(arguments.binaries)).items()):
        moments = day.concerned(dropped)
        if moments and re.search(arguments.only, f"{path} {who}"):
            # Few moments leave few images, however many are made of them.
            of_function = argparse.Namespace(**vars(arguments) | {"count": min(arguments.count, 20 * len(moments))})
            said, _ = without(of_function, folder, day, opener, seen, dropped, moments)
            print(f"| {path} | `{who}` | {len(dropped)} | {said} |", flush=True)
    return 0


def faults(arguments, folder, day):
    """Errors of the disk, and bits that flip in what a power cut has left."""
    noticed = {}

    def run(number):
        dice = random.Random(f"{arguments.seed}/{number}")
        path = place(folder / f"fault-{number}")
        if number % 2 == 0:
            fault = Fault(dice, number // 2)
            found, is_met = fault.run(arguments.binaries, path, recording(folder, path / "log"), path / "log")
            name, result = str(fault), "met" if is_met else "not met"
        else:
            moment = day.moment(dice, "strict")
            walk = day.at(moment)
            model.write(walk.whole("all", dice.random()), path)
            try:
                (file, bit), result, found = flipped(arguments.binaries, path, dice, walk.facts, walk.sold)
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


def whole(arguments, folder, day, opener, seen):
    """Images of a day as it was recorded."""
    check = Check(arguments, folder, day, opener, seen)
    numbers = range(arguments.count) if arguments.image is None else [arguments.image]
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        faults = check.run([Cut(arguments, day, number) for number in numbers], pool)
    lines = [f"{cut}: {fault}" for cut, of_image in sorted(faults.items(), key=lambda it: it[0].number) for fault in of_image]
    return Result(check.images, check.started, sum(map(bool, faults.values())), lines)


class Result:
    def __init__(self, images=0, started=0, losses=0, lines=(), operations=0, acts=0):
        self.images, self.started, self.losses, self.operations, self.acts = images, started, losses, operations, acts
        self.lines = list(lines)

    def __add__(self, other):
        return Result(*(getattr(self, name) + getattr(other, name) for name in ("images", "started", "losses", "lines", "operations", "acts")))


def one_day(arguments, seed, seen):
    """A day of its own, and what its images show."""
    arguments = argparse.Namespace(**vars(arguments) | {"seed": seed})
    folder = pathlib.Path(tempfile.mkdtemp(prefix="power-"))
    result, opener = Result(losses=1), None
    try:
        compiled(folder)
        if arguments.day:
            day, operations = replayed(arguments.day), 0
        else:
            day, operations = record(arguments, folder)
        opener = books.Opener(arguments.binaries)
        if not any((arguments.plants, arguments.syncs, arguments.stages, arguments.faults, arguments.volumes)):
            result = whole(arguments, folder, day, opener, seen)
        elif arguments.volumes:
            result = Result(losses=volumes(arguments, folder, opener, seen))
        elif arguments.stages or arguments.faults:
            result = Result(arguments.count, arguments.count, (stages if arguments.stages else faults)(arguments, folder, day))
        else:
            # What a start makes of a day as it is needs not be seen again.
            whole(argparse.Namespace(**vars(arguments) | {"count": 300, "image": None}), folder, day, opener, seen)
            result = Result(losses=(plants if arguments.plants else syncs)(arguments, folder, day, opener, seen))
        result.operations, result.acts = operations, len(day.records)
    except (RuntimeError, OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
        result.lines.append(f"the day of seed {seed}: {error!r}")
    finally:
        if opener:
            opener.close()
        if result.losses:
            result.lines.append(f"check-power: kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=1_000, help="images of each day")
    parser.add_argument("--seed", type=int, default=1, help="of the images, and of the day's order; 0 for the order of the script")
    parser.add_argument("--days", type=int, default=1, help="so many, of this seed and those after it")
    parser.add_argument("--more", type=int, default=0, help="so many sales a day more than one of each kind")
    parser.add_argument("--real", type=int, default=50, help="start the programs with each such image, not only with what is new")
    parser.add_argument("--day", type=pathlib.Path, help="a folder that was kept: its day, recorded before, and the same images")
    parser.add_argument("--image", type=int, help="this one alone")
    parser.add_argument("--plants", action="store_true", help="leave syncs out, and say after how many images that is found")
    parser.add_argument("--stages", action="store_true", help="no sales, but a purge, a copy made and put back, and new books")
    parser.add_argument("--syncs", action="store_true", help="leave out the syncs of each function in turn; --count images each at most")
    parser.add_argument("--only", default="", help="with --syncs: files and functions that this regular expression finds")
    parser.add_argument("--faults", action="store_true", help="no cuts, but errors of the disk and bits that flip")
    parser.add_argument("--volumes", action="store_true", help="--count cuts of a day on each of ext4, xfs and btrfs, on loop devices; needs root")
    parser.add_argument("--workers", type=int, default=2 * os.cpu_count(), help="days at once, or starts at once of one day")
    arguments = parser.parse_args()
    if arguments.image is not None:
        arguments.real = 1
    arguments.again = 1 if arguments.real == 1 else 10
    begin, total = time.monotonic(), Result()
    # Starts of a day are waited for beside other days; some take two minutes, and hardly any of the processor.
    of_day = arguments if arguments.days == 1 else argparse.Namespace(**vars(arguments) | {"workers": 4})
    with multiprocessing.Manager() as manager, concurrent.futures.ProcessPoolExecutor(arguments.workers) as pool:
        seen = manager.dict() if arguments.days > 1 else {}
        days = [pool.submit(one_day, of_day, arguments.seed + number, seen) for number in range(arguments.days)]
        for number, day in enumerate(days, 1):
            total += day.result()
            print("\n".join(day.result().lines), end="\n" if day.result().lines else "", flush=True)
            if number % 10 == 0 and number < len(days):
                print(f"check-power: {number} days so far, {total.images} images, {total.losses} losses", flush=True)
    print(f"check-power: {total.images} {'faults' if arguments.faults else 'images'}, {total.losses} losses, {total.started} started; {arguments.days} days of "
          f"{total.operations} operations and {total.acts} acts, seed {arguments.seed}, {time.monotonic() - begin:.0f} s")
    return 1 if total.losses else 0


if __name__ == "__main__":
    sys.exit(main())
