#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): opensc 0.23.0-0.3+deb12u*, p11-kit 0.24.1-2, pcscd 1.9.9-2, libpcsclite1 1.9.9-2, vsmartcard-vpcd 3.3+dfsg-2
#
# Guess: OpenSC knows its cards by their ATR and leaves a payment card on a contactless reader alone; who lists the machine's PKCS #11 modules asks no card.
# What happens: a card with an unknown ATR is asked by each driver in turn, 47 commands, all but two of them SELECT. `p11-kit list-modules`
# does that twice, and so does each program that loads the machine's modules by p11-kit; pkcs11-tool --list-slots does it six times,
# which takes seconds on the air. Between two commands of a till that holds no transaction another application is selected.
#
# Seen:
# > opensc-tool --name: 47 commands, 45 of them SELECT
# > p11-kit list-modules: 94 commands, 90 of them SELECT
# > p11tool --list-tokens: 94 commands, 90 of them SELECT
# > pkcs11-tool --list-slots: 282 commands, 270 of them SELECT
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3 opensc opensc-pkcs11 p11-kit=0.24.1-2 gnutls-bin pcscd=1.9.9-2 libpcsclite1=1.9.9-2 vsmartcard-vpcd=3.3+dfsg-2 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' opensc-pkcs11) in 0.23.0-0.3+deb12u*) ;; *) echo "$(basename "$0"): another version of opensc" >&2; exit 1 ;; esac

# A network and a process space of its own: nobody else sees the readers, and nothing is left running.
timeout -s KILL 300 unshare -n -p -f --kill-child python3 - "$folder" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

# The network namespace is new: switch its loopback interface on (SIOCSIFFLAGS, IFF_UP).
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as interface:
    fcntl.ioctl(interface, 0x8914, struct.pack("16sh22x", b"lo", 1))

folder = sys.argv[1]
os.mkdir(f"{folder}/readers")
with open(f"{folder}/readers/vpcd", "w") as stanza:
    stanza.write('FRIENDLYNAME "Rig"\nDEVICENAME /dev/null:0x8C7B\nLIBPATH /usr/lib/pcsc/drivers/serial/libifdvpcd.so\n')
os.environ["PCSCLITE_CSOCK_NAME"] = f"{folder}/pcscd.comm"


def start_pcscd():
    """Starts a pcscd that takes its listening socket as systemd would hand it over."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/pcscd.comm")
    listener.listen(16)
    daemon = os.fork()
    if daemon == 0:
        os.dup2(2, 1)
        os.dup2(os.dup(listener.fileno()), 3, inheritable=True)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
        os.execv("/usr/sbin/pcscd", ["pcscd", "-f", "-c", f"{folder}/readers", "--critical"])
    listener.close()
    return daemon


class Card(threading.Thread):
    """A contactless payment card behind vpcd: two bytes of length, then a control byte or a command."""

    def __init__(self):
        super().__init__(daemon=True)
        self.commands = []
        self.start()

    def run(self):
        while True:
            try:
                line = socket.create_connection(("127.0.0.1", 0x8C7B))
                break
            except OSError:
                time.sleep(0.01)
        stream = line.makefile("rb")
        while len(head := stream.read(2)) == 2:
            message = stream.read(int.from_bytes(head, "big"))
            if message in (b"\x00", b"\x01", b"\x02"):
                continue
            if message == b"\x04":
                answer = bytes.fromhex("3B8480017780800270")
            else:
                self.commands.append(message)
                # No program here asks for its payment directory.
                answer = bytes.fromhex("6A82" if message[1] == 0xA4 else "6D00")
            line.sendall(len(answer).to_bytes(2, "big") + answer)


daemon = start_pcscd()
card = Card()
# pcscd looks every 400 ms: wait until it has seen the card.
while " Yes " not in subprocess.run(("opensc-tool", "--list-readers"), capture_output=True, text=True).stdout:
    time.sleep(0.2)
for command in (("opensc-tool", "--name"), ("p11-kit", "list-modules"), ("p11tool", "--list-tokens"), ("pkcs11-tool", "--list-slots")):
    card.commands.clear()
    subprocess.run(command, capture_output=True)
    selects = sum(sent[1] == 0xA4 for sent in card.commands)
    print(f"{' '.join(command)}: {len(card.commands)} commands, {selects} of them SELECT", flush=True)
os.kill(daemon, signal.SIGKILL)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
