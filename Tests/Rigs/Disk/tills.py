# SPDX-License-Identifier: Apache-2.0
"""Tills for power cuts: Caisse-AP over TCP, Caisse E+ on a serial line, and ZVT by the client of the end-to-end tests. What shows in
the record of a disk that each was told it is paid.
"""
import json
import os
import pathlib
import re
import select
import socket
import subprocess
import sys
import time
import tty

ZVT = pathlib.Path(__file__).resolve().parents[2] / "EndToEndTests/Tills/zvt-till.py"
# What the bridge writes to whom is paid: a status with result code 00, AE 10, and result 0 of a framed answer.
TOLD = {"zvt": re.compile(rb"^\x04\x0f.*\x27\x00", re.DOTALL), "text": re.compile(rb"^CZ004.*AE00210", re.DOTALL),
        "serial": re.compile(rb"^\x02..0\d{8}.{14}\x03", re.DOTALL)}


def text(port, value):
    """Caisse-AP: one message, one answer, both without an end mark."""
    with socket.create_connection(("127.0.0.1", port), 60) as line:
        line.sendall(f"CZ0040300CJ012012345678901CA00201CE003978BA0010CD0010CB{len(str(value)):03}{value}".encode())
        return b"AE00210" in line.recv(1024)


def zvt(port, value):
    words = [sys.executable, ZVT, f"127.0.0.1:{port}", "register", "--", "sale", str(value)]
    said = subprocess.run(words, capture_output=True, text=True, timeout=120)
    return json.loads(said.stdout.splitlines()[-1])["outcome"] == "completed"


class Serial:
    """Caisse E+: the till's end of a line whose other end has a name."""

    def __init__(self, name):
        self.inner, self.outer = os.openpty()
        tty.setraw(self.outer)
        os.symlink(os.ttyname(self.outer), name)

    def close(self):
        for end in (self.inner, self.outer):
            if end is not None:
                os.close(end)
        self.inner = self.outer = None

    def read(self, wanted, count=1, seconds=60):
        """What begins with that byte. Other programs may hold a line of that name from before, and write to it."""
        found, end = b"", time.monotonic() + seconds
        while len(found) < count:
            if not select.select([self.inner], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"waited for {wanted!r}, and heard {found!r}")
            found += os.read(self.inner, count - len(found))
            found = found[found.find(wanted):] if wanted in found else b""
        return found

    def sell(self, value):
        body = f"01{value:08}0109780000000000A010B010".encode() + b"\x03"
        check = 0
        for byte in body:
            check ^= byte
        try:
            for said in (b"\x05", b"\x02" + body + bytes([check])):
                os.write(self.inner, said)
                self.read(b"\x06", seconds=10)
            os.write(self.inner, b"\x04")
            self.read(b"\x05")
            os.write(self.inner, b"\x06")
            answer = self.read(b"\x02", 28)
            os.write(self.inner, b"\x06")
            self.read(b"\x04")
        except TimeoutError:
            return False
        return answer[3:4] == b"0"
