# SPDX-License-Identifier: Apache-2.0
"""Power cuts with the file systems of Linux instead of a model: a shop's disks are on a loop device, whose bytes are copied while the
programs stand still. What the file system has not written by then is lost. Needs root, losetup(8) and the three mkfs programs.
"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import threading

import model
from check import Check, Cut
from recording import Recording, place, recording
from shop import Shop

# With the least size that its mkfs takes, in MiB.
SYSTEMS = {"ext4": ("mkfs.ext4 -q -F", 64), "xfs": ("mkfs.xfs -q", 300), "btrfs": ("mkfs.btrfs -q", 128)}
# What loses power; the payment service has none of it.
OURS = ("state", "ecr")


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


class Volume:
    """A file system in a file, and where it is to be seen."""

    def __init__(self, file, place):
        self.place = place
        place.mkdir()
        run("mount", "-o", "loop", str(file), str(place))

    def close(self):
        run("umount", str(self.place))


def copied(file, copy):
    """The same bytes twice in a row: nothing was being written meanwhile."""
    for _ in range(20):
        run("cp", "--sparse=always", str(file), str(copy))
        if subprocess.run(["cmp", "-s", file, copy]).returncode == 0:
            return
    raise RuntimeError(f"{file} never stands still")


class Cutter(threading.Thread):
    """Copies what is on the disk, while the shop's day goes on."""

    def __init__(self, shop, file, log, dice, count):
        super().__init__(daemon=True)
        self.shop, self.file, self.log, self.dice, self.count = shop, file, log, dice, count
        self.is_over, self.cuts = threading.Event(), []

    def run(self):
        while len(self.cuts) < self.count and not self.is_over.wait(self.dice.uniform(0.01, 0.2)):
            processes = [each for each in list(self.shop.processes.values()) if each.poll() is None]
            for each in processes:
                each.send_signal(signal.SIGSTOP)
            try:
                copy = pathlib.Path(f"{self.file}-{len(self.cuts)}")
                with open(self.log, "rb") as log:
                    used = model.HEAD.unpack(log.read(model.HEAD.size))[1]
                copied(self.file, copy)
                shutil.copytree(pathlib.Path(self.shop.folder, "psp"), f"{copy}-psp")
                self.cuts.append((used, copy))
            finally:
                for each in processes:
                    each.send_signal(signal.SIGCONT)


def played(arguments, folder, name, dice):
    """A day on that file system: its recording, and what was on the disk, each with how many bytes had been recorded."""
    make, size = SYSTEMS[name]
    file, log = folder / f"{name}.image", folder / name / "log"
    with open(file, "wb") as image:
        image.truncate(size << 20)
    run(*make.split(), str(file))
    shop = Shop(arguments.binaries, place(folder / name), recording(folder, log))
    model.control(log)
    volume = Volume(file, folder / f"{name}-volume")
    cutter = Cutter(shop, file, log, dice, arguments.count)
    try:
        for disk in OURS:
            (volume.place / disk).mkdir(mode=0o700)
            run("mount", "--bind", str(volume.place / disk), f"{shop.folder}/{disk}")
        run("sync", "-f", str(volume.place))
        cutter.start()
        shop.play(dice, arguments.more)
    finally:
        cutter.is_over.set()
        cutter.join()
        shop.end()
        for disk in OURS:
            subprocess.run(["umount", f"{shop.folder}/{disk}"], capture_output=True)
        volume.close()
    return Recording(model.records(log, os.path.realpath(shop.folder))), cutter.cuts


def volumes(arguments, folder, opener, seen):
    """Losses of cuts on each file system; each image has its start."""
    losses = 0
    for name in SYSTEMS:
        dice = random.Random(f"{arguments.seed}/{name}")
        day, cuts = played(arguments, folder, name, dice)
        check, found = Check(arguments, folder, day, opener, seen), 0
        for number, (used, file) in enumerate(cuts):
            walk = day.at(sum(it.end <= used for it in day.records))
            path = place(folder / f"{name}-{number}")
            volume = Volume(file, folder / f"{name}-{number}-volume")
            try:
                for disk in OURS:
                    shutil.copytree(volume.place / disk, path / disk, dirs_exist_ok=True)
                shutil.copytree(f"{file}-psp", path / "psp", dirs_exist_ok=True)
            finally:
                volume.close()
            cut = Cut(arguments, day, number)
            faults = check.start(cut, path, walk.facts, walk.sold)
            for fault in faults:
                print(f"{name}, cut {number} at {walk.moment} of {len(day.records)}, away for {cut.away} s: {fault}", flush=True)
            found += bool(faults)
            file.unlink()
        print(f"{name}: {len(cuts)} cuts of a day of {len(day.records)} acts, {found} losses", flush=True)
        losses += found
    return losses
