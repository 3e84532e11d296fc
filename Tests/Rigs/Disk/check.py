# SPDX-License-Identifier: Apache-2.0
"""Images of one recording: made, looked at, and the programs started on them."""
import copy
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import threading
import time

import books
import model
from judge import judge
from recording import Recording, Walk, place, recording
from shop import TILLS, Shop

# Seconds for which the power is away: a till's time to confirm is over or not, and a clock without a battery goes back.
AWAY = (0, 0, 3, 45, 7_200, -3_600)


class Cut:
    """One image, by its number."""

    def __init__(self, arguments, day, number, moments=None):
        dice = random.Random(f"{arguments.seed}/{number}")
        self.number, self.kind, self.away = number, dice.choice(model.KINDS), dice.choice(AWAY)
        self.moment = day.moment(dice, self.kind) if moments is None else dice.choice(moments)
        self.token, self.is_cut_again = dice.random(), dice.random() < 0.15 / arguments.again

    def __str__(self):
        return f"image {self.number}: {self.kind} at {self.moment}, away for {self.away} s"


class Check:
    """Images of one recording: each is made and looked at; with what no start was made from yet, and with each `real`th, the programs are
    started."""

    def __init__(self, arguments, folder, day, opener, seen, dropped=(), facts=None):
        """`seen` are the kinds of finds from which a start was made; `facts` what had been said before."""
        self.arguments, self.folder, self.day, self.opener, self.seen = arguments, folder, day, opener, seen
        self.dropped, self.facts, self.booked, self.opened = dropped, facts, {}, {}
        # What this one knows of `seen`, which other days may write, too.
        self.known = set()
        self.images = self.started = 0

    def run(self, cuts, pool=None):
        """Faults by image. Without a pool each start is waited for."""
        walk, whole = Walk(self.day, self.dropped, self.facts), Walk(self.day, (), self.facts) if self.dropped else None
        starts, faults = [], {}
        for cut in sorted(cuts, key=lambda cut: cut.moment):
            walk.to(cut.moment)
            if whole is not None:
                # An image that is the same without the dropped syncs is none.
                whole.to(cut.moment)
                if whole.image(cut.kind, cut.token) == walk.image(cut.kind, cut.token):
                    continue
            found, kinds = self.look(walk, cut)
            new = {kind for kind in kinds - self.known if kind not in self.seen}
            self.known |= kinds if not found else set()
            self.images += not cut.is_cut_again
            if found or not (new or cut.is_cut_again or cut.number % self.arguments.real == 0):
                faults[cut] = found
                continue
            self.seen.update(dict.fromkeys(new))
            path = place(self.folder / f"image-{cut.number}")
            model.write(walk.whole(cut.kind, cut.token), path)
            job = self.again if cut.is_cut_again and not self.dropped else self.start
            said = cut, path, copy.deepcopy(walk.facts), walk.sold
            if pool is None:
                faults[cut] = job(*said)
            else:
                starts.append((cut, pool.submit(job, *said)))
                if len(starts) > 2 * self.arguments.workers:
                    cut, start = starts.pop(0)
                    faults[cut] = start.result()
        return faults | {cut: start.result() for cut, start in starts}

    def look(self, walk, cut):
        path = place(self.folder / f"look-{threading.get_ident()}")
        try:
            image = walk.image(cut.kind, cut.token, lambda name: name in books.READ or name.startswith("ecr/") or name[6:] in books.MARKS)
            count, book = walk.book(cut.token)
            if count not in self.booked:
                model.write(book, path)
                self.booked[count] = books.booked(path)
            # Between two writes all kinds of cuts leave the same journal: it is opened once.
            journal = tuple((name, hashlib.sha256(image[name][0]).digest()) for name in sorted(books.READ & image.keys()))
            if journal not in self.opened:
                model.write(image, path)
                word = self.opener.opened(path / "state")
                self.opened[journal] = word, books.Found(path, word == "new") if word in ("new", "held") else None
            word, found = self.opened[journal]
            if found is None:
                return [f"the books: {word}"], set()
        finally:
            shutil.rmtree(path)
        content = {name: (it or [b""])[0] for name, it in image.items()}
        ledgers = {till: content.get(f"ecr/{till}.ledger") for till in TILLS}
        marks = tuple(bool(content.get(f"state/{name}")) for name in books.MARKS)
        there = self.booked[count]
        return books.contradictions(walk.facts, found, there, walk.sold), books.kinds(walk.facts, found, there, ledgers, marks, cut.away)

    def start(self, cut, path, facts, sold):
        self.started += 1
        shop, faults = None, []
        try:
            (path / "wall").write_text(f"{cut.away}\n")
            shop = Shop(self.arguments.binaries, path, {"LD_PRELOAD": f"{self.folder}/lock.so", "SHIFTED": str(path / "wall")})
            shop.begin()
            # A clock that went back with the power is put right by a time server, once there is a network.
            (path / "wall").write_text("0\n")
            faults = [f"{program} does not start: {shop.said(program)[-400:]}" for program in ("nfc-tapd", "nfc-tap-ecr") if shop.ended(program)]
            faults = faults or judge(shop, facts, sold) + verified(self.arguments, shop)
        except (RuntimeError, OSError, ValueError, KeyError) as error:
            faults = [f"{error!r}"]
        finally:
            if shop:
                shop.end()
        if not faults or self.dropped:
            shutil.rmtree(path)
        return faults

    def again(self, cut, path, facts, _):
        """The power comes back for a moment, and is away again while the books are being brought to order."""
        dice, log, base = random.Random(cut.token), path / "log", pathlib.Path(f"{path}-base")
        model.control(log, 1 << 26)
        shutil.copytree(path, base, ignore=shutil.ignore_patterns("log"))
        numbers = {os.path.relpath(file, path): file.stat().st_ino for file in path.rglob("*")}
        shop = Shop(self.arguments.binaries, path, recording(self.folder, log))
        try:
            shop.begin()
            time.sleep(dice.choice([0, 0, 0.1, 0.5]))
        except (RuntimeError, OSError) as error:
            return [f"{error!r}"]
        finally:
            shop.end()
        second = Recording(model.records(log, os.path.realpath(path)), base, numbers)
        check = Check(self.arguments, place(self.folder / f"again-{cut.number}"), second, self.opener, self.seen, facts=facts)
        shutil.copy(self.folder / "lock.so", check.folder)
        cuts = [Cut(self.arguments, second, 1_000_000 + cut.number * self.arguments.again + number) for number in range(self.arguments.again)]
        for each in cuts:
            each.is_cut_again = False
        faults = check.run(cuts)
        self.images, self.started = self.images + check.images, self.started + check.started
        found = [f"cut again, {each}: {fault}" for each, of_image in faults.items() for fault in of_image]
        if not found:
            for rest in (path, base, check.folder):
                shutil.rmtree(rest)
        return found


def verified(arguments, shop):
    faults = [] if shop.stop("nfc-tapd") == 0 else ["the daemon does not stop as it should"]
    verify = subprocess.run([f"{arguments.binaries}/nfc-tap", "audit", "verify", "--file", f"{shop.folder}/state/journal.sqlite"],
                            capture_output=True, text=True)
    return faults if verify.returncode == 0 else [*faults, f"the chain does not hold: {verify.stdout}{verify.stderr}"]
