# SPDX-License-Identifier: Apache-2.0
"""An estate: the parts of `parts.py`, wired as docs/service/estate.md draws them."""
import json
import pathlib
import shutil
import signal
import tempfile
import time

from parts import TEST_KEY, Certificates, Database, Part, free_port, run, until

# Checked before each POST: where nobody behind the proxy can be reached, it says that nothing was handed on.
UNREACHED = (
    "    http-request return status 421 content-type application/json "
    "string '{\"error\":{\"code\":\"adapter.no_upstream\"}}' if { nbsrv(%s) lt 1 }\n")
DEFAULTS = (
    "defaults\n    mode http\n    retries 0\n    no option redispatch\n    timeout connect 2s\n    timeout server 35s\n"
    "    timeout client 40s\n    timeout check 3s\n    timeout http-keep-alive 30s\n    http-reuse safe\n    option httpchk\n"
    "    http-check send meth GET uri /v1/health ver HTTP/1.1 hdr Host localhost\n    http-check expect status 200\n")
# A till of the first shop.
CONFIGURATION = """[pos]
socket = "{folder}/pos.sock"
[psp]
socket = "{socket}"
recipient-key = "{folder}/recipient.jwk"
[journal]
directory = "{folder}/state"
[terminal]
id = "00000000"
merchant = "shop-1"
[[lane]]
name = "main"
reader = "{reader}"
"""


class Estate:
    def __init__(self, programs, replicas=3, shops=4, tills=16, standby=True, token=True, proxies=True, host=(), switch=(), log=False,
                 acquirer=None, number="12345678901", packager="1987-bcd", answer_seconds=3,
                 marks=False, database="", delay=0, secrets=()):
        self.programs, self.shops, self.tills = pathlib.Path(programs).resolve(), shops, tills
        # An address where another host listens than ours, and how one speaks to it.
        self.acquirer, self.number, self.packager, self.answer_seconds = acquirer, number, packager, answer_seconds
        self.has_standby, self.has_token, self.has_proxies, self.has_log = standby, token, proxies, log
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="estate-", dir="/tmp"))
        self.folder.chmod(0o711)
        self.databases, self.primary, self.standby = [], None, None
        self.switch_options = list(switch)
        # More keys of the token: label, kind as pkcs11-tool has it, option of their use, hexadecimal.
        self.secrets = secrets
        # Milliseconds of an agreement in the token.
        self.delay = delay
        # Whether each replica remembers how far the books were, and more lines for the databases' configuration.
        self.has_marks, self.database_lines = marks, database
        self.count, self.host_options, self.replicas, self.parts = replicas, list(host), [], []
        self.host = self.centre = self.till_side = None
        self.book = self.folder / "acquirer.book"
        self.socket = str(self.folder / "centre.sock")

    def path(self, name):
        return str(self.folder / name)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    # Start

    def start(self):
        self.start_databases()
        keys = self.make_token() if self.has_token else self.make_key()
        acquirer = self.acquirer or f"127.0.0.1:{free_port()}"
        if not self.acquirer:
            self.host = self.part(
                "acquirer", self.programs / "nfc-tap-acquirer-sim", "--listen", acquirer, "--book", self.book, "--packager",
                self.packager, "--slow-seconds", "1", "--late-seconds", "4", *self.host_options)
        sources = ["--till-field", "X-Till"] if self.has_proxies else ["--trust-requests"]
        for number in range(self.count):
            self.replicas.append(self.part(
                f"switch-{number}", self.programs / "nfc-tap-switch", "--socket", self.path(f"{number + 1}.sock"),
                "--desk", self.path(f"desk-{number}.sock"),
                "--database", self.address, *keys, *sources, *self.switch_options,
                "--acquirer", acquirer, "--acquirer-number", self.number, "--packager", self.packager, "--answer-seconds",
                self.answer_seconds, *(["--marks", self.path(f"marks-{number}")] if self.has_marks else []),
                environment={"SOFTHSM2_CONF": self.path("softhsm2.conf"), "TOKEN_DELAY_MS": str(self.delay)}))
            if number == 0:
                until("the tables", lambda: self.primary.sql("select to_regclass('schema_version')") != "")
                self.fill()
        for number in range(self.count):
            until(f"replica {number}", lambda number=number: self.health(self.path(f"{number + 1}.sock")) == "ok")
        if self.has_proxies:
            self.start_proxies()

    def part(self, name, *words, environment=None):
        made = Part(self, name, *words, environment=environment).start()
        self.parts.append(made)
        return made

    def start_databases(self):
        self.databases = [Database(self, number) for number in range(2 if self.has_standby else 1)]
        self.primary = self.databases[0]
        # Alone it would wait for its standby.
        has_standby, self.has_standby = self.has_standby, False
        self.primary.create()
        self.has_standby = has_standby
        if has_standby:
            self.standby = self.databases[1]
            self.standby.follow(self.primary)
            self.primary.configure()
            self.primary.program("pg_ctl", "-D", self.primary.data, "reload")
            self.await_standby()

    def await_standby(self):
        until("a standby that takes part in commits", lambda: self.primary.sql(
            "select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')") == "1")

    @property
    def address(self):
        hosts = ",".join(str(database.folder) for database in self.databases)
        return f"host={hosts} dbname=switch user=postgres target_session_attrs=read-write"

    def fill(self):
        rows = []
        for shop in range(1, self.shops + 1):
            rows.append(f"insert into merchant (id, acceptor, location, category) values ('shop-{shop}', 'M-{shop}', 'A shop', '5411')")
            rows.append(f"insert into till (name, merchant) values ('shop-{shop}', 'shop-{shop}')")
        rows.append(
            "insert into terminal select 'shop-' || (n %% %d + 1), lpad(n::text, 8, '0'), 'T' || lpad(n::text, 7, '0') "
            "from generate_series(0, %d) n" % (self.shops, max(self.tills, 1) - 1))
        self.primary.sql("begin; " + "; ".join(rows) + "; commit")

    def make_key(self):
        pathlib.Path(self.path("key.jwk")).write_text(TEST_KEY)
        return ["--test-key", self.path("key.jwk")]

    def make_token(self):
        (self.folder / "tokens").mkdir()
        pathlib.Path(self.path("softhsm2.conf")).write_text(f"directories.tokendir = {self.folder}/tokens\nobjectstore.backend = file\n")
        pin = pathlib.Path(self.path("pin"))
        pin.write_text("1234\n")
        pin.chmod(0o600)
        environment = {"SOFTHSM2_CONF": self.path("softhsm2.conf")}
        run("softhsm2-util", "--init-token", "--free", "--label", "payments", "--pin", "1234", "--so-pin", "12345678",
            environment=environment)
        token = ["--pkcs11", "/usr/lib/softhsm/libsofthsm2.so", "--token", "payments", "--pin-file", str(pin)]
        month = time.strftime("%Y-%m", time.gmtime())
        for label, use in [("shop-key-1", "recipient"), ("card-tokens", "cardTokens"), (f"books-{month}", "books")]:
            run(self.programs / "nfc-tap-profile", "key", "new", *token, "--label", label, "--for", use, environment=environment)
        for label, kind, use, key in self.secrets:
            pathlib.Path(self.path(label)).write_bytes(bytes.fromhex(key))
            run("pkcs11-tool", "--module", token[1], "--token-label", "payments", "--login", "--pin", "1234", "--write-object", self.path(label),
                "--type", "secrkey", "--key-type", kind, "--label", label, use, "--sensitive", environment=environment)
        if self.delay:
            # Tests/Rigs/Token, before the same token.
            run("clang", "-shared", "-fPIC", "-O1", "-o", self.path("token.so"), pathlib.Path(__file__).resolve().parents[3] / "Tests/Rigs/Token/token.c")
            token[1] = self.path("token.so")
        return [*token, "--recipient", "shop-key-1"]

    def start_proxies(self):
        Certificates(self.folder).make(["centre.example", *(f"shop-{shop}" for shop in range(1, self.shops + 1))])
        port, folder = free_port(), self.folder
        log, format_line = "global\n    maxconn 4000\n", ""
        if self.has_log:
            log += "    log stdout format raw local0\n"
            format_line = '    log global\n    log-format "%HM %HP %ST queue %Tw connect %Tc answer %Tr all %Ta"\n'
        # As it is printed, with a line for the log where one is wanted.
        example = (pathlib.Path(__file__).resolve().parents[3] / "docs/examples/haproxy-centre.cfg").read_text()
        # Servers that are not there would be asked until the first check.
        for letter in "abc"[self.count:]:
            example = "".join(line for line in example.splitlines(keepends=True) if not line.startswith(f"    server {letter} "))
        pathlib.Path(self.path("centre.cfg")).write_text(
            log + example.replace("frontend tills\n", "frontend tills\n" + format_line))
        shops = ""
        for shop in range(1, self.shops + 1):
            shops += (
                f"frontend shop-{shop}\n{format_line}    bind unix@{self.path(f'shop-{shop}.sock')} mode 666\n"
                + UNREACHED % f"centre-{shop}" + f"    default_backend centre-{shop}\nbackend centre-{shop}\n"
                + f"    server centre 127.0.0.1:{port} ssl verify required ca-file {folder}/ca.pem verifyhost centre.example "
                + f"sni str(centre.example) crt {folder}/shop-{shop}.pem alpn http/1.1 check inter 2s fastinter 1s downinter 500ms fall 2 rise 1\n")
        pathlib.Path(self.path("tills.cfg")).write_text(log + DEFAULTS + shops)
        self.centre = self.part("haproxy-centre", "/usr/sbin/haproxy", "-db", "-f", self.path("centre.cfg"), environment={
            "CENTRE_ADDRESS": f"127.0.0.1:{port}", "CENTRE_CERTIFICATE": f"{folder}/centre.example.pem",
            "TILLS_CA": f"{folder}/ca.pem", "SWITCH_SOCKETS": str(folder)})
        self.till_side = self.part("haproxy-tills", "/usr/sbin/haproxy", "-db", "-f", self.path("tills.cfg"))
        for socket in self.sockets:
            until(socket, lambda socket=socket: self.health(socket) == "ok")

    def start_daemon(self, reader):
        """nfc-tapd before the first shop's socket, sealing to the key that it is given there, whose id is returned."""
        keys = json.loads(self.get(self.sockets[0], "/v1/keys"))["keys"]
        pathlib.Path(self.path("recipient.jwk")).write_text(json.dumps(keys[0]))
        pathlib.Path(self.path("nfc-tapd.toml")).write_text(
            CONFIGURATION.format(folder=self.folder, socket=self.sockets[0], reader=reader))
        self.part("nfc-tapd", self.programs / "nfc-tapd", "--config", self.path("nfc-tapd.toml"), "--runtime-directory", self.folder)
        until("the daemon", lambda: self.get(self.path("pos.sock"), "/v1/status"))
        run(self.programs / "nfc-tap", "prepare", "--socket", self.path("pos.sock"))
        return keys[0]["kid"]

    @property
    def sockets(self):
        """Where the tills of each shop go."""
        if self.has_proxies:
            return [self.path(f"shop-{shop}.sock") for shop in range(1, self.shops + 1)]
        return [self.path("1.sock")] * self.shops

    # What can be asked

    def get(self, socket, target):
        return run("curl", "-s", "-f", "--max-time", "10", "--unix-socket", socket, f"http://localhost{target}")

    def health(self, socket):
        return json.loads(self.get(socket, "/v1/health")).get("status")

    def close_day(self):
        return run(self.programs / "nfc-tap-switch", "close-day", "--database", self.address)

    def holder_book(self):
        """What the acquirer's book comes to: one object for each payment."""
        text = run(self.programs / "nfc-tap-acquirer-sim", "book", self.book)
        return [json.loads(line) for line in text.splitlines()]

    # Deaths

    def fail_over(self):
        """The primary dies, the standby takes its place, and what is left of the primary follows it from a new copy."""
        self.primary.crash()
        self.primary, self.standby = self.standby, self.primary
        self.primary.promote()
        self.standby.follow(self.primary)
        self.await_standby()

    def end(self):
        for part in reversed(self.parts):
            part.end(signal.SIGKILL)
        for database in self.databases:
            database.stop()

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        for database in self.databases:
            shutil.rmtree(database.folder, ignore_errors=True)
