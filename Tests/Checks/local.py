# SPDX-License-Identifier: Apache-2.0
"""What checks of this machine share: HTTP over a Unix socket, a port that nobody has, waiting, and how they end."""
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


def get(path, target):
    connection = Unix(path)
    try:
        connection.request("GET", target)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def obey(path, *words):
    """What `nfc-tap virtual` says to a virtual reader, and its answer."""
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(10)
        control.connect(path)
        control.sendall(f"{' '.join(words)}\n".encode())
        return control.recv(4096).decode()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what, value, seconds=180):
    """The first value that counts; what is not there yet may be missing, refused or half written."""
    end, fault = time.monotonic() + seconds, None
    while time.monotonic() < end:
        try:
            if found := value():
                return found
        except (OSError, ValueError, http.client.HTTPException, KeyError, IndexError, TypeError, subprocess.SubprocessError) as met:
            fault = met
        time.sleep(0.01)
    raise RuntimeError(f"waited too long for {what}") from fault


def start_again(python):
    """With that Python, which has the packages that the check needs."""
    if os.path.abspath(python) != os.path.abspath(sys.executable):
        os.execv(python, [python, *sys.argv])


def judge(name, begin, run):
    """Runs what begins in a folder of its own, and ends the script: with 1 and its faults, or its logs where it never came to an end."""
    folder, part = tempfile.mkdtemp(), None
    try:
        part = begin(folder)
        faults = run(part)
        for fault in faults:
            print(f"{name}: {fault}", file=sys.stderr)
        sys.exit(1 if faults else 0)
    except RuntimeError as problem:
        for log in pathlib.Path(folder).glob("*.log"):
            print(f"== {log.name}\n{log.read_text()[-3000:]}", file=sys.stderr)
        sys.exit(f"{name}: {problem}")
    finally:
        if part:
            part.stop()
        shutil.rmtree(folder, ignore_errors=True)
