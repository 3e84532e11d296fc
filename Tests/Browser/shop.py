# SPDX-License-Identifier: Apache-2.0
"""A shop for browsers: sandbox, daemon in test mode with two virtual readers, gateway, and Chromium as a till and a display.

NFC_TAP_BIN names the folder with the programs, NFC_TAP_INSTALLED=1 says that the package's own units run, NFC_TAP_PAGES the pages (share/till), NFC_TAP_SHOTS where screenshots go.
"""
import contextlib
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import http.client
import urllib.parse

from playwright.sync_api import expect, sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("NFC_TAP_BIN", ROOT / ".build/debug"))
PAGES = pathlib.Path(os.environ.get("NFC_TAP_PAGES", ROOT / "share/till"))
SHOTS = pathlib.Path(os.environ.get("NFC_TAP_SHOTS", ROOT / ".build/browser-shots"))
#: As a page of somebody else's, and as a page that nobody has allowed.
ALLOWED = "http://127.0.0.1:{}"
TEXTS = {path.stem: json.loads(path.read_text()) for path in (PAGES / "messages").glob("*.json")}
#: Milliseconds. Nothing that a person waits for takes longer.
PATIENCE = 15_000
expect.set_options(timeout=PATIENCE)


def until(what, seconds=15, every=0.05):
    """What `what` gives, once it gives something."""
    end = time.monotonic() + seconds
    while not (value := what()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(every)
    return value


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


#: One user runs everything here, so that its own group is the gateway's.
GATEWAY = f'[gateway]\ngroup = "{os.getgid()}"\ntypes = ["purchase", "refund", "verification", "loyalty", "link", "handover"]\n'


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Shop:
    """Its processes may be killed and started again, each by its name: sandbox, daemon, gateway."""

    def __init__(self, lanes=("main",), sandbox=(), daemon="", origins=(), has_profile=True, gateway="", profile="test"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nb"))
        self.folder.chmod(0o700)
        self.port = free_port()
        self.home = f"http://127.0.0.1:{self.port}"
        self.lanes = lanes
        self.processes, self.logs = {}, {}
        readers = "".join(
            f'[[lane]]\nname = "{lane}"\nreader = "virtual:{self.folder}/{lane}.sock"\n' for lane in lanes)
        (self.folder / "d.toml").write_text(
            f'mode = "test"\n{daemon}\n{GATEWAY}{gateway}\n'
            + (f'[profile]\nfile = "{self.folder}/profile.json"\n' if has_profile else "") + readers)
        profile = json.loads((ROOT / f"docs/examples/profile-{profile}.json").read_text())
        now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0, tzinfo=None)
        profile["issuedAt"], profile["expiresAt"] = (
            f"{time.isoformat()}Z" for time in (now - datetime.timedelta(days=1), now + datetime.timedelta(days=1)))
        (self.folder / "profile.json").write_text(json.dumps(profile))
        (self.folder / "g.toml").write_text(f"origins = {json.dumps(list(origins))}\n")
        self.commands = {
            "sandbox": [BIN / "nfc-tap-psp-sandbox", "--sandbox", "--socket", self.folder / "psp.sock",
                        "--store", self.folder / "psp.db", *sandbox],
            "daemon": [BIN / "nfc-tapd", "--config", self.folder / "d.toml", "--runtime-directory", self.folder,
                       "--state-directory", self.folder / "state", "--psp-socket", self.folder / "psp.sock"],
            "gateway": [BIN / "nfc-tap-gateway", "--config", self.folder / "g.toml", "--listen", f"127.0.0.1:{self.port}",
                        "--socket", self.folder / "pos.sock", "--pages", PAGES, "--state-directory", self.folder / "gw",
                        "--runtime-directory", self.folder / "gwrun"]}
        (self.folder / "gw").mkdir()
        (self.folder / "gwrun").mkdir()
        for name in self.commands:
            self.start(name)
        until(lambda: self.daemon("GET", "/v1/status").json["ready"])
        until(lambda: self.daemon("GET", "/v1/status").json["psp"]["state"] == "up")

    def start(self, name):
        log = open(self.folder / f"{name}.log", "ab")
        self.processes[name] = subprocess.Popen(
            [str(part) for part in self.commands[name]], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        log.close()
        ready = {"sandbox": lambda: self.reaches("psp.sock"), "daemon": lambda: self.reaches("pos.sock"),
                 "gateway": lambda: self.reaches(None)}[name]
        try:
            until(lambda: self.processes[name].poll() is not None or ready())
            assert self.processes[name].poll() is None
        except AssertionError:
            raise AssertionError(f"{name} does not run: {(self.folder / f'{name}.log').read_text()[-3000:]}") from None

    def reaches(self, path):
        try:
            if path is None:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            else:
                with socket.socket(socket.AF_UNIX) as one:
                    one.connect(str(self.folder / path))
            return True
        except OSError:
            return False

    def kill(self, name, how=signal.SIGKILL):
        self.processes[name].send_signal(how)
        self.processes[name].wait(20)

    def runs(self, name):
        return self.processes[name].poll() is None

    def stop(self, name):
        """Halts it without ending it: whoever asks it gets no answer."""
        self.processes[name].send_signal(signal.SIGSTOP)

    def go_on(self, name):
        self.processes[name].send_signal(signal.SIGCONT)

    def close(self):
        for process in reversed(self.processes.values()):
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait(20)
        if keep := os.environ.get("NFC_TAP_ARTIFACTS"):
            shutil.copytree(self.folder, pathlib.Path(keep) / self.folder.name, ignore=shutil.ignore_patterns("*.sock"))
        shutil.rmtree(self.folder, ignore_errors=True)

    # What the tests know without a page.

    def daemon(self, method, path, body=None, headers=None):
        return ask(UnixConnection(str(self.folder / "pos.sock")), method, path, body, headers)

    def gateway(self, method, path, body=None, token=None, headers=None):
        headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        return ask(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30), method, path, body, headers)

    def run(self, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def pair(self, till, *options):
        """A code for a till."""
        said = self.run(BIN / "nfc-tap-gateway", "pair", "--till", till, *self.gateway_options(), *options)
        return re.search(r"[0-9A-Z]{4}-[0-9A-Z]{4}", said)[0]

    def gateway_options(self):
        return "--runtime-directory", self.folder / "gwrun"

    def reader(self, lane):
        return self.folder / f"{lane}.sock"

    def token(self, till, *options):
        answer = self.gateway("POST", "/v1/pairings", {"code": self.pair(till, *options)})
        assert answer.status == 201, answer.body
        return answer.json["token"]

    def card(self, *words, lane=None):
        self.run(BIN / "nfc-tap", "virtual", "--control", self.reader(lane or self.lanes[0]), *words)

    def last(self, lane=None):
        answer = self.daemon("GET", f"/v1/lanes/{lane or self.lanes[0]}/last")
        return answer.json if answer.status == 200 else None

    def rest(self):
        """Reader and lane as a test finds them: no card, no sale."""
        self.card("remove")
        self.card("attach")
        last = self.last()
        if last and last["state"] in ("created", "preparing", "armed"):
            self.daemon("DELETE", f"/v1/transactions/{last['id']}")
            until(lambda: self.last()["state"] not in ("created", "preparing", "armed"))

    def booked(self):
        """What the payment service has approved: the ids of transactions."""
        return self.daemon("GET", "/v1/transactions?limit=100").json["transactions"]


class Installed(Shop):
    """The package as it is installed on this machine, with its units and in its places; a virtual reader is its lane's."""

    UNITS = {"sandbox": "nfc-tap-psp-sandbox.service", "daemon": "nfc-tapd.service", "gateway": "nfc-tap-gateway.service"}

    def __init__(self):
        self.folder, self.lanes, self.port, self.home = pathlib.Path("/run/nfc-tap"), ("main",), 8716, "http://127.0.0.1:8716"
        until(lambda: self.daemon("GET", "/v1/status").json["psp"]["state"] == "up")

    def start(self, name):
        self.run("systemctl", "start", self.UNITS[name])

    def kill(self, name, how=signal.SIGKILL):
        self.run("systemctl", "kill", f"--signal={how.name}", self.UNITS[name])
        # It stays away, though its unit starts it again.
        self.run("systemctl", "stop", self.UNITS[name])

    def runs(self, name):
        return subprocess.run(["systemctl", "is-active", "--quiet", self.UNITS[name]]).returncode == 0

    def close(self):
        pass

    def gateway_options(self):
        return ()

    def reader(self, lane):
        return "/var/lib/nfc-tap/reader.sock"


def ask(connection, method, path, body=None, headers=None):
    """One call; a dict as the body is sent as JSON."""
    headers = dict(headers or {})
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
        headers.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read().decode())
    finally:
        connection.close()


class Chromium:
    """The browser; each window is a context of its own, as on a machine of its own."""

    def __init__(self, *options, playwright=None):
        self.is_owner = playwright is None
        self.playwright = playwright or sync_playwright().start()
        self.browser = self.playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required", *options])

    def window(self, state=None, size=(1024, 600), scheme="light", language="en-GB", **more):
        context = self.browser.new_context(
            storage_state=state, viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, locale=language,
            timezone_id="UTC", **more)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("console", lambda line: page.complaints.append(line.text) if line.type == "error" else None)
        return page

    def paired(self, screen, *connection):
        """What the browser keeps of a till or display that is connected: windows begin with it."""
        window = self.window()
        screen(window).connect(*connection)
        state = window.context.storage_state()
        window.context.close()
        return state

    def close(self):
        self.browser.close()
        if self.is_owner:
            self.playwright.stop()
