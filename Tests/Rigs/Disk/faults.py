# SPDX-License-Identifier: Apache-2.0
"""Disks that say no: an error at each write and sync of a shop's day, once or for as long as it lasts. What a till is told, the log,
the status and the doctor have words with a remedy, and nothing is silently new; when the disk is well again the books hold.
"""
import errno
import json
import os
import pathlib
import subprocess
import time

import model
from judge import Facts, judge
from shop import Shop, until

# With the remedy that log, status and doctor have for each.
ERRORS = {"EIO": "kernel's log", "ENOSPC": "free space", "EROFS": "how its disk is mounted"}
# Whoever is told of an error is told one of these, with what to do.
CODES = {"storage.full", "storage.failed", "daemon.unavailable"}
# What the bridge says of a ledger that cannot be written.
BRIDGE = ("free space there", "mount that for writing", "look into the kernel")


class FaultyShop(Shop):
    """Its payment service and its log have another disk."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.logs = f"{self.folder}-logs"
        pathlib.Path(self.logs).mkdir()

    def start_sandbox(self):
        environment, self.environment = self.environment, {}
        try:
            super().start_sandbox()
        finally:
            self.environment = environment


class Control:
    """The first fields of the record: its head is read by the programs with each act."""

    def __init__(self, path):
        self.path = path

    def fields(self):
        with open(self.path, "rb") as file:
            return list(model.HEAD.unpack(file.read(model.HEAD.size)))

    def set(self, **values):
        names = ("owner", "used", "size", "syncs", "writes", "fail_sync", "fail_write", "error", "times", "drop_sync", "delay")
        with open(self.path, "r+b", buffering=0) as file:
            for name, value in values.items():
                file.seek(8 * names.index(name))
                file.write(value.to_bytes(8, "little"))


class Fault:
    """One: at which write or sync behind a start, which error, and for how many of them. The first of all is each error at once, for good."""

    def __init__(self, dice, number):
        self.error, self.what = dice.choice(list(ERRORS)), dice.choice(("write", "sync"))
        self.at = dice.randrange(1, 60 if self.what == "write" else 12)
        self.is_lasting = dice.random() < 0.4
        if number < len(ERRORS):
            self.error, self.what, self.at, self.is_lasting = list(ERRORS)[number], "write", 1, True

    def __str__(self):
        return f"{self.error} at {self.what} {self.at}, {'lasting' if self.is_lasting else 'once'}"

    def run(self, binaries, folder, recording, log):
        """Every fault of the shop, and whether its disk has said no at all."""
        shop, faults, control = FaultyShop(binaries, folder, recording), [], Control(log)
        model.control(log, 1 << 26)
        try:
            shop.begin()
            # Confirmed: a till's page polls.
            before = control.fields()
            number = before[4 if self.what == "write" else 3] + self.at
            control.set(error=getattr(errno, self.error), times=1 << 40 if self.is_lasting else 1)
            control.set(**{f"fail_{self.what}": number})
            answers = [answered(lambda: shop.sell("one", 1250)), answered(lambda: shop.sell_at_bridge("web", 9.5)),
                       answered(lambda: shop.sell("two", 800))]
            after = control.fields()
            is_met = after[4 if self.what == "write" else 3] >= number
            if is_met and self.is_lasting:
                faults += self.words(shop)
            control.set(fail_write=0, fail_sync=0)
            faults += [fault for answer in answers for fault in unclear(answer)]
            if shop.ended("nfc-tapd"):
                return faults + [f"the daemon has died: {shop.said('nfc-tapd')[-300:]}"], is_met
            if shop.ended("nfc-tap-ecr"):
                # It ends with a word, and its unit starts it again.
                if not any(word in shop.said("nfc-tap-ecr") for word in BRIDGE):
                    faults.append(f"the bridge ends without a word: {shop.said('nfc-tap-ecr')[-300:]}")
                shop.start_bridge()
                until("the bridge", lambda: shop.ended("nfc-tap-ecr") or shop.proxy("status_json", {}))
            until("a journal that can be written", lambda: shop.get("/v1/status")["ready"], 60)
            facts = Facts()
            facts.listen(model.messages(model.records(log, os.path.realpath(folder))))
            faults += judge(shop, facts, {})
            if shop.stop("nfc-tapd") != 0:
                faults.append("the daemon does not stop as it should")
        except (RuntimeError, OSError, ValueError, KeyError) as error:
            return faults + [f"{error!r}"], True
        finally:
            shop.end()
        return faults, is_met

    def words(self, shop):
        """While it lasts: status, doctor and log say what it is, and what to do."""
        faults = []

        def told():
            status = shop.get("/v1/status")
            return status if status["journal"].get("error") else None

        try:
            # Who does not write does not meet it: a look is a few seconds away.
            status = until("a status that tells of it", told, 30)
        except RuntimeError as error:
            return [f"{error}: {shop.get('/v1/status')['journal']}"]
        error = status["journal"]["error"]
        if error["code"] not in CODES or not error.get("resolution"):
            faults.append(f"the status has no remedy: {error}")
        if status["ready"] or status["journal"]["writable"]:
            faults.append("the status says that a sale could be written")
        told = {"log": shop.said("nfc-tapd"), "status": status["journal"].get("cause", ""), "doctor": doctor(shop), "nfc-tap status": state(shop)}
        return faults + [f"{who} has no word for {self.error}: {said[-300:]}" for who, said in told.items() if ERRORS[self.error] not in said]


def doctor(shop):
    """What it says where something is wrong; nothing where all is well."""
    done = subprocess.run([f"{shop.binaries}/nfc-tap", "doctor", "--config", f"{shop.folder}/nfc-tapd.toml"],
                          cwd=shop.folder, capture_output=True, text=True)
    return done.stdout if done.returncode else ""


def state(shop):
    return subprocess.run([f"{shop.binaries}/nfc-tap", "status", "--socket", f"{shop.folder}/pos.sock"], capture_output=True, text=True).stdout


def answered(call):
    try:
        return call()
    except (RuntimeError, OSError, ValueError, KeyError) as error:
        return {"raised": repr(error)}


def unclear(answer):
    """What is no sale is an error that says what to do, or a wait that the shop itself has given up."""
    if "raised" in answer or answer.get("success") is not None:
        return []
    # What cannot be written is not told: the till waits on, as it would for a payment service.
    if answer.get("state") in ("approved", "stored", "sent", "unknown", "reversing"):
        return []
    error = answer.get("error")
    if not isinstance(error, dict) or not error.get("message") or not error.get("resolution"):
        return [f"an answer without a remedy: {json.dumps(answer)[:300]}"]
    return []


# Bits

FILES = ("state/journal.sqlite", "state/journal.sqlite-wal", "state/installation.key", "state/installation.jwk", "ecr/web.ledger", "ecr/zvt.ledger")
# A start that refuses, or that names what is damaged.
WORDS = ("damaged", "Damaged", "unusable", "another one", "does not hold", "restore", "cannot be read", "malformed")


def flip(path, dice):
    data = bytearray(path.read_bytes())
    if not data:
        return None
    bit = dice.randrange(8 * len(data))
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)
    return bit


def flipped(binaries, folder, dice, facts, sold):
    """One bit of one file of a shop whose power went: it starts and tells of it, refuses and says what to do, or the bit says nothing.

    Returns what was flipped, who noticed, and faults: what was told is as it was told, or named as damaged."""
    names = [it for it in FILES if (folder / it).is_file() and (folder / it).stat().st_size]
    if not names:
        return ("nothing", 0), "nobody", []
    name = dice.choice(names)
    bit = flip(folder / name, dice)
    shop = Shop(binaries, folder, {})
    try:
        shop.start_service()
        shop.start_daemon()
        until("a lane", lambda: shop.ended("nfc-tapd") or shop.is_ready())
        log = shop.said("nfc-tapd")
        is_named = any(word in log for word in WORDS)
        if shop.ended("nfc-tapd"):
            return (name, bit), "refused", [] if is_named else [f"refuses without a remedy: {log[-300:]}"]
        shop.start_bridge()
        until("the bridge", lambda: shop.ended("nfc-tap-ecr") or shop.proxy("status_json", {}))
        is_named = is_named or any(word in shop.said("nfc-tap-ecr") for word in WORDS)
        if shop.ended("nfc-tap-ecr"):
            return (name, bit), "refused", [] if is_named else [f"the bridge: {shop.said('nfc-tap-ecr')[-300:]}"]
        status = shop.get("/v1/status")["journal"]
        if status["damaged"] or status.get("error"):
            told = [*status["damaged"], *([status["cause"]] if "cause" in status else [])]
            return (name, bit), "named", [f"{who} says nothing of {each}" for who, said in (("the doctor", doctor(shop)), ("nfc-tap status", state(shop)))
                                          for each in told if each not in said]
        if is_named:
            return (name, bit), "in the log", []
        # Nobody has noticed: then nothing may be other than it was told.
        return (name, bit), "nobody", judge(shop, facts, sold)
    finally:
        shop.end()
