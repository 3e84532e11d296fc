# SPDX-License-Identifier: Apache-2.0
"""What checks of this machine share: HTTP over a Unix socket, a port that nobody has, and waiting."""
import http.client
import json
import socket
import subprocess
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
