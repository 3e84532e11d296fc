# SPDX-License-Identifier: Apache-2.0
"""The parts of an estate on one machine, on loopback and Unix sockets alone: two PostgreSQL 15 that replicate, an acquirer's host,
replicas of nfc-tap-switch, haproxy at the centre and at the tills, a token, certificates. Everything is in one folder, is started
by its own program, and can be killed."""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

PROGRAMS = "/usr/lib/postgresql/15/bin"
# The published test key of the sandbox.
TEST_KEY = """{"kty":"EC","crv":"P-256","kid":"test-nfc-tap-sandbox-1","use":"enc","alg":"ECDH-ES",\
"x":"795BHl9HJmtpe0yG1eMB1eGAE2WS5srg1uDOEX4MFY8",\
"y":"w2vHTCZp64drgwqlzzPunJrBoj4m5iCoIVM-FbA3Oi8",\
"d":"_h_fzpxkkyRedzBByRmnzE3pSeOzQw6JVYshRr6NLcU"}"""


class Failed(Exception):
    """A part does not do what it is for."""


def run(*words, as_user=None, environment=None, limit=120):
    """Runs a program to its end and gives what it printed."""
    words = [str(word) for word in words]
    if as_user and os.getuid() == 0:
        words = ["runuser", "-u", as_user, "--", *words]
    done = subprocess.run(words, capture_output=True, text=True, timeout=limit, env={**os.environ, **(environment or {})})
    if done.returncode:
        raise Failed(f"{' '.join(words)}: {done.stdout[-600:]}{done.stderr[-600:]}")
    return done.stdout


def until(what, holds, limit=60.0):
    """Waits until `holds` gives something that is true."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        with contextlib.suppress(OSError, Failed, subprocess.TimeoutExpired):
            if found := holds():
                return found
        time.sleep(0.05)
    raise Failed(f"waited in vain for {what}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Part:
    """A program that is started again after it was killed."""

    def __init__(self, estate, name, *words, environment=None):
        self.estate, self.name, self.words = estate, name, [str(word) for word in words]
        self.environment, self.process, self.lock = environment or {}, None, threading.Lock()

    def start(self):
        """Starts it, unless it runs: whoever has killed it and whoever looks after it may both want to."""
        with self.lock:
            if not self.is_running():
                self.launch()
        return self

    def launch(self):
        with open(self.estate.folder / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                self.words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "SWIFT_BACKTRACE": "enable=no", **self.environment})

    def end(self, how=signal.SIGKILL):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def cpu(self):
        """Seconds of processor time so far."""
        if not self.is_running():
            return 0.0
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Resident memory in KiB, and its peak."""
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        found = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "VmHWM"))}
        return found["VmRSS"], found["VmHWM"]


class Database:
    """One PostgreSQL of the pair, in a folder of its own that its user owns."""

    def __init__(self, estate, number):
        self.estate, self.number = estate, number
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"pg{number}-", dir="/tmp"))
        self.data = self.folder / "data"
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        (self.folder / "archive").mkdir()
        if os.getuid() == 0:
            shutil.chown(self.folder / "archive", "postgres")
        self.folder.chmod(0o755)

    def program(self, name, *words, limit=120):
        return run(f"{PROGRAMS}/{name}", *words, as_user="postgres", limit=limit)

    def create(self):
        self.program("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-N")
        self.configure()
        self.start()
        self.program("createdb", "-h", self.folder, "-U", "postgres", "switch")

    def configure(self):
        names = "" if not self.estate.has_standby else "synchronous_standby_names = 'ANY 1 (estate)'\n"
        settings = (
            f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\nunix_socket_permissions = 0777\n"
            "fsync = on\nsynchronous_commit = on\nlog_parameter_max_length_on_error = 0\nshared_buffers = 64MB\n"
            "max_connections = 200\nwal_retrieve_retry_interval = 500ms\nhot_standby = on\n" + names
            + self.estate.database_lines.format(folder=self.folder))
        with open(self.folder / "estate.conf", "w", encoding="utf-8") as file:
            file.write(settings)
        self.include()

    def include(self):
        configuration = self.data / "postgresql.conf"
        lines = [line for line in configuration.read_text().splitlines() if not line.startswith("include =")]
        text = "\n".join(lines + [f"include = '{self.folder}/estate.conf'"]) + "\n"
        configuration.write_text(text)

    def follow(self, primary):
        """Becomes a standby of the other one, from a copy of it."""
        if self.data.exists():
            shutil.rmtree(self.data)
        self.program(
            "pg_basebackup", "-h", primary.folder, "-U", "postgres", "-D", self.data, "-R", "-X", "stream", "-c", "fast",
            "-d", "application_name=estate", limit=300)
        self.configure()
        self.start()

    def back_up(self):
        """A copy from which it can be restored with the write-ahead log that is archived after it."""
        self.program("pg_basebackup", "-h", self.folder, "-U", "postgres", "-D", self.folder / "base", "-X", "fetch", "-c", "fast", limit=300)

    def restore(self, point):
        """Its data is lost: the copy and the archive bring it to a restore point, and no further (PostgreSQL 15, 25.3)."""
        shutil.rmtree(self.data)
        run("cp", "-a", self.folder / "base", self.data)
        self.configure()
        with open(self.folder / "estate.conf", "a", encoding="utf-8") as file:
            file.write(f"restore_command = 'cp {self.folder}/archive/%f %p'\nrecovery_target_name = '{point}'\nrecovery_target_action = 'promote'\n")
        signal_file = self.data / "recovery.signal"
        signal_file.touch()
        if os.getuid() == 0:
            shutil.chown(signal_file, "postgres")
        self.start()
        until("the end of the recovery", lambda: self.sql("select pg_is_in_recovery()") == "f")

    def start(self):
        self.program("pg_ctl", "-D", self.data, "-w", "-t", "60", "-l", self.folder / "log", "start")

    def crash(self):
        """Kills every process of it, as the loss of its machine would."""
        main = int((self.data / "postmaster.pid").read_text().split()[0])
        # Stopped first, or a child that begins meanwhile lives on with the shared memory.
        os.kill(main, signal.SIGSTOP)
        children = [int(pid) for pid in run("pgrep", "-P", str(main)).split()]
        for pid in [main, *children]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until("the death of a database", lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in [main, *children]))

    def stop(self):
        with contextlib.suppress(Failed, subprocess.TimeoutExpired):
            self.program("pg_ctl", "-D", self.data, "-m", "immediate", "stop", limit=30)

    def promote(self):
        self.program("pg_ctl", "-D", self.data, "-w", "promote")

    def sql(self, statement, database="switch"):
        return run("psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "postgres", database, "-c", statement).strip()

    def cpu(self):
        """Seconds of processor time of all its processes."""
        main = int((self.data / "postmaster.pid").read_text().split()[0])
        total = 0.0
        for pid in [main, *(int(word) for word in run("pgrep", "-P", str(main)).split())]:
            with contextlib.suppress(OSError):
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                # The main process has the time of the children that have ended.
                total += sum(int(field) for field in fields[11:15 if pid == main else 13])
        return total / os.sysconf("SC_CLK_TCK")


class Certificates:
    """An authority for the occasion, one certificate for the centre and one for each shop."""

    def __init__(self, folder):
        self.folder = folder

    def make(self, names):
        """Once in a folder: a second authority in the place of the first would part those that have started from those that start again."""
        folder = self.folder
        if (folder / "ca.pem").exists():
            raise Failed(f"{folder} has an authority: give each its own folder")
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=tills-ca", "-keyout", folder / "ca.key", "-out", folder / "ca.pem")
        for name in names:
            run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.csr")
            (folder / f"{name}.ext").write_text(f"subjectAltName=DNS:{name}\n")
            run("openssl", "x509", "-req", "-in", folder / f"{name}.csr", "-CA", folder / "ca.pem", "-CAkey", folder / "ca.key",
                "-CAcreateserial", "-days", "2", "-extfile", folder / f"{name}.ext", "-out", folder / f"{name}.crt")
            (folder / f"{name}.pem").write_text(
                (folder / f"{name}.crt").read_text() + (folder / f"{name}.key").read_text())
