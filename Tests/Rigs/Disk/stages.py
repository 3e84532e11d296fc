# SPDX-License-Identifier: Apache-2.0
"""What is done to the books as a whole, and may be cut off: old records erased, a copy made, a copy put back, new books begun, terms
accepted, tills paired and revoked. Each begins with what a day has left.
"""
import http.client
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess

import model
from judge import Facts, judge
from recording import DISKS, Recording, place, recording
from shop import ROOT, Shop, free_port, until

KEPT = "state/copy.sqlite"
# A start that refuses says what to do.
REMEDIES = ("restore", "--new-journal")


def journal(path):
    return sqlite3.connect(f"file:{path}/state/journal.sqlite", uri=True)


def states(file):
    """Payments of a journal that no daemon has, by id."""
    if not pathlib.Path(file).is_file():
        raise OSError(f"{file} is not there")
    with sqlite3.connect(f"file:{file}", uri=True) as books:
        return dict(books.execute("SELECT id, state FROM payment"))


class Stage:
    """`facts` is what was told until the day's end."""

    def __init__(self, facts):
        self.facts = facts

    def prepare(self, path):
        """Makes of a day's end what the stage begins with."""

    def act(self, shop):
        shop.begin(bridge=False)

    def clock(self, folder, path):
        """What the programs have of the time, as environment."""
        return {}

    def judge(self, shop, path, recording, moment):
        """Faults of the books of an image of the stage, after a start."""
        shop.begin()
        for program in ("nfc-tapd", "nfc-tap-ecr"):
            if shop.ended(program):
                return [f"{program} does not start: {shop.said(program)[-400:]}"]
        found = Facts()
        found.__dict__.update(self.facts.__dict__)
        return judge(shop, found, {} if found.gone else {till: len(all_sold) for till, all_sold in found.sold.items()})


class Purge(Stage):
    """Years later a start erases what is old, by a clock that follows a time service."""

    def clock(self, folder, path):
        (path / "wall").write_text(f"{3 * 365 * 86_400}\n")
        (path / "synchronized").write_text("1\n")
        return {"LD_PRELOAD": f"{folder}/lock.so", "SHIFTED": str(path / "wall"), "SYNCHRONIZED": str(path / "synchronized")}

    def act(self, shop):
        shop.begin(bridge=False)
        until("records that are erased", lambda: "old records erased" in shop.said("nfc-tapd"), 120)

    def judge(self, shop, path, recording, moment):
        self.facts.gone = set(self.facts.told) | self.facts.asked | set(self.facts.days)
        return super().judge(shop, path, recording, moment)


class Backup(Stage):
    """A copy is made beside a running daemon, as docs/operating/operations.md says, and a sale goes on."""

    def act(self, shop):
        shop.begin(bridge=False)
        copy, recorded = f"{shop.folder}/{KEPT}", {**os.environ, **shop.environment}
        subprocess.run(["sqlite3", f"{shop.folder}/state/journal.sqlite", f".backup {copy}"], check=True, env=recorded)
        subprocess.run(["sync", copy, os.path.dirname(copy)], check=True, env=recorded)
        if shop.sell("after", 640).get("state") != "approved":
            raise RuntimeError("no sale after the copy")

    def judge(self, shop, path, recording, moment):
        asked = next((it.number for it in recording.said if it.line == "POST /v1/authorizations HTTP/1.1"), moment)
        faults = []
        if asked < moment:
            try:
                lost = set(self.facts.told) - set(states(path / KEPT))
                faults = [f"{len(lost)} payments are not in the copy"] if lost else []
            except (sqlite3.Error, OSError) as error:
                faults = [f"the copy is not whole: {error}"]
        return faults + super().judge(shop, path, recording, moment)


class Restore(Stage):
    """The copy is put back after the journal's disk has failed."""

    def prepare(self, path):
        with journal(path) as books, sqlite3.connect(path / KEPT) as copy:
            books.backup(copy)
        books.close()
        copy.close()
        data = bytearray((path / "state/journal.sqlite").read_bytes())
        data[0:4096] = bytes(4096)
        (path / "state/journal.sqlite").write_bytes(data)

    def act(self, shop):
        self.put_back(shop)
        shop.begin(bridge=False)

    def put_back(self, shop):
        for rest in ("-wal", "-shm", "-journal"):
            subprocess.run(["rm", "-f", f"{shop.folder}/state/journal.sqlite{rest}"], check=True, env={**os.environ, **shop.environment})
        subprocess.run(["dd", f"if={shop.folder}/{KEPT}", f"of={shop.folder}/state/journal.sqlite", "bs=64k", "status=none"], check=True,
                       env={**os.environ, **shop.environment})

    def judge(self, shop, path, recording, moment):
        """Where the daemon does not start it says so, and the copy is put back once more."""
        shop.begin(bridge=False)
        if shop.ended("nfc-tapd"):
            said = shop.said("nfc-tapd")
            if not any(word in said for word in REMEDIES):
                return [f"refuses without a remedy: {said[-400:]}"]
            self.put_back(shop)
        shop.kill()
        return super().judge(shop, path, recording, moment)


class NewBooks(Stage):
    """The key is lost, and new books are begun."""

    def prepare(self, path):
        (path / "state/installation.key").unlink()

    def act(self, shop):
        # Its key is in the configuration.
        shop.start_service()
        self.begin_anew(shop)
        shop.kill()
        shop.begin(bridge=False)

    def begin_anew(self, shop):
        words = ["--config", f"{shop.folder}/nfc-tapd.toml", "--runtime-directory", shop.folder, "--new-journal"]
        subprocess.run([f"{shop.binaries}/nfc-tapd", *words], check=True, capture_output=True, cwd=shop.folder,
                       env={**os.environ, **shop.environment})

    def judge(self, shop, path, recording, moment):
        shop.begin(bridge=False)
        if shop.ended("nfc-tapd"):
            said = shop.said("nfc-tapd")
            if not any(word in said for word in REMEDIES):
                return [f"refuses without a remedy: {said[-400:]}"]
            self.begin_anew(shop)
            shop.start_daemon()
            until("a lane", lambda: shop.ended("nfc-tapd") or shop.is_ready())
            if shop.ended("nfc-tapd"):
                return [f"no new books: {shop.said('nfc-tapd')[-400:]}"]
        faults = []
        if shop.sell("next", 700).get("state") != "approved":
            faults.append("the next sale is not approved")
        former = [states(file) for file in pathlib.Path(path, "state").glob("former-books-*/journal.sqlite")]
        known = {id for each in former for id in each}
        faults += [f"{id} was told, and is in no former books" for id in self.facts.told if id not in known]
        with journal(path) as books:
            named = books.execute("SELECT count(*) FROM audit WHERE detail LIKE '%former-books-%'").fetchone()[0]
        books.close()
        return faults + ([] if named else ["the new chain does not name the former books"])


class Terms(Stage):
    """A payment service's profile comes into force, and its terms are accepted."""

    def act(self, shop):
        self.begin(shop)
        text = until("terms", lambda: shop.get("/v1/terms").get("hash"))
        if shop.ask("POST", "/v1/terms/acceptance", {"hash": text})[0] != 201 or shop.sell("after", 640).get("state") != "approved":
            raise RuntimeError("the terms are not accepted, or no sale is")

    def begin(self, shop):
        with open(f"{shop.folder}/nfc-tapd.toml", "a") as file:
            file.write("\n[profile]\n")
        shop.begin(bridge=False)

    def judge(self, shop, path, recording, moment):
        is_told = any(it.number < moment and it.program == "tap" and it.line.startswith("HTTP/1.1 201") and "acceptedAt" in (it.body or {})
                      for it in recording.said)
        self.begin(shop)
        until("terms", lambda: shop.get("/v1/terms").get("hash"))
        state = shop.get("/v1/terms")["state"]
        shop.kill()
        return ([f"the terms were told accepted, and are {state}"] if is_told and state != "accepted" else []) + super().judge(
            shop, path, recording, moment)


class Gateway(Stage):
    """Two tills are paired, and one of them is revoked."""

    def prepare(self, path):
        (path / "state/gateway").mkdir(mode=0o700)

    def begin(self, shop):
        shop.begin(bridge=False)
        self.port = free_port()
        shop.start("nfc-tap-gateway", "--listen", f"127.0.0.1:{self.port}", "--socket", f"{shop.folder}/pos.sock", "--state-directory",
                   f"{shop.folder}/state/gateway", "--runtime-directory", shop.folder, "--pages", str(ROOT / "share/till"))
        until("the gateway", lambda: shop.ended("nfc-tap-gateway") or shop.ask("GET", "/tills", to="admin.sock"))

    def act(self, shop):
        self.begin(shop)
        for name in ("one", "two"):
            code = shop.ask("POST", "/pairings", {"till": name, "roles": ["cashier"], "lanes": [], "types": ["purchase"], "origins": []},
                            to="admin.sock")[1]["code"]
            self.call("POST", "/v1/pairings", {"code": code})
        shop.ask("DELETE", "/tills/two", to="admin.sock")

    def call(self, method, target, body=None, token=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, target, json.dumps(body), {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {}))
            return connection.getresponse().status
        finally:
            connection.close()

    def judge(self, shop, path, recording, moment):
        said = [it for it in recording.said if it.program == "gat" and it.line.startswith("HTTP/1.1 20")]
        tokens = [it for it in said if "token" in (it.body or {})]
        revoked = next(it.number for it in said if it.number > tokens[1].number)
        self.begin(shop)
        if shop.ended("nfc-tap-gateway"):
            return [f"the gateway does not start: {shop.said('nfc-tap-gateway')[-400:]}"]
        faults = []
        for name, it, is_over in (("one", tokens[0], False), ("two", tokens[1], revoked < moment)):
            status = self.call("GET", "/v1/till", token=it.body["token"])
            if it.number < moment and (status == 200) == is_over and (is_over or name == "one"):
                faults.append(f"the till {name} is {'revoked' if is_over else 'paired'}, and has {status}")
        return faults


STAGES = {"purge": Purge, "backup": Backup, "restore": Restore, "new-books": NewBooks, "terms": Terms, "gateway": Gateway}


def copied(base, path):
    for disk in DISKS:
        shutil.copytree(base / disk, path / disk, dirs_exist_ok=True)


def played(stage, end, folder, name, binaries):
    """The stage as it goes without a cut, from the disks in `end` on."""
    base, path = place(folder / f"{name}-base"), place(folder / name)
    copied(end, base)
    stage.prepare(base)
    copied(base, path)
    numbers = {os.path.relpath(file, path): file.stat().st_ino for file in path.rglob("*")}
    log, clock = path / "log", stage.clock(folder, path)
    model.control(log, 1 << 26)
    recorded = recording(folder, log)
    shop = Shop(binaries, path, clock | recorded | {"LD_PRELOAD": f"{recorded['LD_PRELOAD']} {clock.get('LD_PRELOAD', '')}"})
    try:
        stage.act(shop)
    finally:
        shop.end()
    return Recording(model.records(log, os.path.realpath(path)), base, numbers)
