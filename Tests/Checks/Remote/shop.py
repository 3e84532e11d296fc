# SPDX-License-Identifier: Apache-2.0
"""A shop whose payments a backend orders: sandbox, daemon, backend, haproxy and bridge, each a process that can be ended and started."""
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from local import Unix, free_port, until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOKEN = "a-token-of-this-check"
# Nobody, whose group stands for the bridge's.
USER = 65534


class Shop:
    # The backend: port, key, installation and token follow.
    backend_words = [str(ROOT / "docs/examples/remote-backend.py")]

    def __init__(self, folder, arguments):
        from joserfc.jwk import ECKey

        self.folder, self.programs, self.processes = folder, arguments.programs, {}
        self.port, self.pos, self.faults = free_port(), f"{folder}/pos.sock", []
        self.count, self.seed, self.payments = arguments.orders, arguments.seed, arguments.payments
        key = ECKey.generate_key("P-256", {"kid": "pos-1"}, private=True)
        self.write("key.json", json.dumps(key.as_dict(private=True)))
        self.write("keys.jwks", json.dumps({"keys": [key.as_dict(private=False)]}))
        self.write("token", TOKEN + "\n")
        self.write("nfc-tapd.toml", f'[pos]\ngroup = "{USER}"\n[remote]\ngroup = "{USER}"\nlanes = ["kiosk"]\nlimits = {{ EUR = 5000 }}\nunseen = true\n'
                   f'[[lane]]\nname = "kiosk"\nreader = "virtual:{folder}/reader.sock"\n')
        self.write("remote.toml", f"""
socket = "{self.pos}"
directory = "{folder}/remote"
status = "{folder}/remote/status.json"
[[backend]]
name = "shop"
socket = "{folder}/line.sock"
authority = "pos.example"
token = "{folder}/token"
[[sender]]
name = "https://pos.example"
keys = "{folder}/keys.jwks"
lanes = ["kiosk"]
limits = {{ EUR = 5000 }}
""")
        text = (ROOT / "docs/examples/haproxy-remote.cfg").read_text()
        text = re.sub(r"bind .*", f"bind unix@{folder}/line.sock mode 666", text)
        text = re.sub(r"server pos .*", f"server pos 127.0.0.1:{self.port}", text)
        self.write("haproxy.cfg", text)
        os.makedirs(f"{folder}/state")
        # The bridge is another user, whom the daemon knows by its group.
        os.chmod(folder, 0o755)
        os.makedirs(f"{folder}/remote")
        os.chown(f"{folder}/remote", USER, USER)
        self.start("sandbox", f"{self.programs}/nfc-tap-psp-sandbox", "--sandbox", "--socket", f"{folder}/psp.sock")
        self.books()
        until("a ready lane", lambda: self.daemon("/v1/status")["lanes"][0]["state"] == "ready")
        self.installation = self.daemon("/v1/status")["support"]
        self.serve()
        self.line()
        self.bridge()

    def write(self, name, text):
        pathlib.Path(self.folder, name).write_text(text)

    def start(self, name, *words, **more):
        log = open(f"{self.folder}/{name}.log", "ab")
        self.processes[name] = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **more)

    def books(self):
        self.start("daemon", f"{self.programs}/nfc-tapd", "--runtime-directory", self.folder, "--state-directory",
                   f"{self.folder}/state", "--config", f"{self.folder}/nfc-tapd.toml")

    def serve(self):
        self.start("backend", sys.executable, *self.backend_words, str(self.port), f"{self.folder}/key.json", self.installation, TOKEN)
        until("the backend", lambda: self.backend("GET", "/orders/none") is not None)

    def line(self):
        self.start("haproxy", "haproxy", "-db", "-q", "-f", f"{self.folder}/haproxy.cfg")
        until("haproxy", lambda: os.path.exists(f"{self.folder}/line.sock"))

    def bridge(self, **more):
        self.start("bridge", f"{self.programs}/nfc-tap-remote", "--config", f"{self.folder}/remote.toml",
                   user=USER, group=USER, extra_groups=[], **more)

    def end(self, name, how=signal.SIGKILL):
        self.processes[name].send_signal(how)
        self.processes[name].wait()

    def close(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.processes.values():
            process.wait()

    def daemon(self, target, till=None):
        if till:
            # What belongs to the bridge's till the daemon shows to its group alone.
            asked = subprocess.run(["curl", "-sS", "--max-time", "60", "--unix-socket", self.pos, "-H", f"NFC-Tap-On-Behalf-Of: {till}",
                                    "-H", "NFC-Tap-Roles: cashier", f"http://localhost{target}"],
                                   capture_output=True, check=True, user=USER, group=USER, extra_groups=[])
            return json.loads(asked.stdout)
        connection = Unix(self.pos)
        try:
            connection.request("GET", target)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def backend(self, method, target, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, target, body=None if body is None else json.dumps(body))
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def order(self, value=1250, life=60, lane="kiosk", **more):
        request = {"type": "purchase", "amount": {"value": value, "currency": "EUR"}, **more}
        return self.backend("POST", "/orders", {"lane": lane, "request": request, "life": life})["id"]

    def state(self, order):
        return self.backend("GET", f"/orders/{order}")["state"]

    def reaches(self, order, *states):
        until(f"{order} {states}", lambda: self.state(order) in states)

    def found(self, order):
        return self.daemon(f"/v1/transactions?key={order}", till="remote-shop").get("transactions", [None])[0]

    def card(self, *words):
        subprocess.run([f"{self.programs}/nfc-tap", "virtual", "--control", f"{self.folder}/reader.sock", *words],
                       check=True, stdout=subprocess.DEVNULL)

    def told(self, order):
        results = self.backend("GET", f"/orders/{order}")["results"]
        return [r.get("transaction", {}).get("state") or r.get("outcome") or r["error"]["code"] for r in results]

    def expect(self, what, holds):
        print(f"{'ok   ' if holds else 'WRONG'} {what}", flush=True)
        if not holds:
            self.faults.append(what)
