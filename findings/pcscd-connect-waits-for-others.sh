#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): pcscd 1.9.9-2, libpcsclite1 1.9.9-2, vsmartcard-vpcd 3.3+dfsg-2
#
# Guess: who asks for a reader on which another program holds a transaction is told SCARD_E_SHARING_VIOLATION at once, as for one that is held
# exclusively, or can ask with SCardCancel for an end.
# What happens: SCardConnect waits inside pcscd for as long as the transaction lasts, without a limit, also when it asks for the reader alone and
# is bound to be refused, and with PCSCLITE_NO_BLOCKING. SCardCancel says success and ends nothing. One who holds the reader
# exclusively, without a transaction, keeps nobody waiting.
#
# Seen:
# > held exclusively, asked shared: SCARD_E_SHARING_VIOLATION, waited no
# > in a transaction of 3 s, asked shared: SCARD_S_SUCCESS, waited yes
# > in a transaction of 3 s, asked exclusive: SCARD_E_SHARING_VIOLATION, waited yes
# > in a transaction of 3 s, asked shared, cancelled after 1 s: SCARD_S_SUCCESS, waited yes
# > SCardCancel said: SCARD_S_SUCCESS
# > in a transaction of 3 s, asked shared with PCSCLITE_NO_BLOCKING: SCARD_S_SUCCESS, waited yes
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3 pcscd=1.9.9-2 libpcsclite1=1.9.9-2 vsmartcard-vpcd=3.3+dfsg-2 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

cat >"$folder/program" <<'PYTHON'
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading
import time

folder = sys.argv[1]
if len(sys.argv) == 2:
    # The network namespace is new: switch its loopback interface on (SIOCSIFFLAGS, IFF_UP).
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as interface:
        fcntl.ioctl(interface, 0x8914, struct.pack("16sh22x", b"lo", 1))

    # pcscd takes a listening socket as systemd would hand it over, so that it needs nothing of the machine's own pcscd.
    os.mkdir(f"{folder}/readers")
    with open(f"{folder}/readers/vpcd", "w") as stanza:
        stanza.write('FRIENDLYNAME "Rig"\nDEVICENAME /dev/null:0x8C7B\nLIBPATH /usr/lib/pcsc/drivers/serial/libifdvpcd.so\n')
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/pcscd.comm")
    listener.listen(16)
    os.environ["PCSCLITE_CSOCK_NAME"] = f"{folder}/pcscd.comm"
    daemon = os.fork()
    if daemon == 0:
        os.dup2(2, 1)
        os.dup2(os.dup(listener.fileno()), 3, inheritable=True)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
        os.execv("/usr/sbin/pcscd", ["pcscd", "-f", "-c", f"{folder}/readers", "--critical"])
    listener.close()

pcsc = ctypes.CDLL("libpcsclite.so.1")
NAMES = {0x00000000: "SCARD_S_SUCCESS", 0x8010000B: "SCARD_E_SHARING_VIOLATION"}
HELD = 3


def name(code):
    return NAMES.get(code & 0xFFFFFFFF, f"{code & 0xFFFFFFFF:08X}")


def establish():
    context = ctypes.c_long()
    pcsc.SCardEstablishContext(ctypes.c_ulong(2), None, None, ctypes.byref(context))
    return context


def connect(context, share):
    handle, active = ctypes.c_long(), ctypes.c_ulong()
    code = pcsc.SCardConnect(
        context, b"Rig 00 00", ctypes.c_ulong(share), ctypes.c_ulong(3), ctypes.byref(handle), ctypes.byref(active)
    )
    return code, handle


EXCLUSIVE, SHARED = 1, 2
if len(sys.argv) == 3:  # A program of its own, as it reads PCSCLITE_NO_BLOCKING once.
    print(name(connect(establish(), SHARED)[0]))
    sys.exit()


def card():
    """A contactless card behind vpcd: two bytes of length, then a control byte or a command."""
    while True:
        try:
            line = socket.create_connection(("127.0.0.1", 0x8C7B))
            break
        except OSError:
            time.sleep(0.01)
    stream = line.makefile("rb")
    while len(head := stream.read(2)) == 2:
        message = stream.read(int.from_bytes(head, "big"))
        if message not in (b"\x00", b"\x01", b"\x02"):
            answer = bytes.fromhex("3B8480017780800270") if message == b"\x04" else b"\x90\x00"
            line.sendall(len(answer).to_bytes(2, "big") + answer)


threading.Thread(target=card, daemon=True).start()
holder, other = establish(), establish()
for _ in range(300):
    code, handle = connect(holder, SHARED)
    if code == 0:
        break
    time.sleep(0.1)


def ask(title, question):
    """Asks while another program holds a transaction; whether the answer came before or after its end."""
    pcsc.SCardBeginTransaction(handle)
    ended = []

    def end():
        time.sleep(HELD)
        ended.append(pcsc.SCardEndTransaction(handle, ctypes.c_ulong(0)))

    ending = threading.Thread(target=end)
    ending.start()
    begun = time.monotonic()
    said = question()
    print(f"in a transaction of {HELD} s, asked {title}: {said}, waited {'yes' if time.monotonic() - begun > HELD * 0.8 else 'no'}")
    ending.join()


def asked(share):
    code, handle = connect(other, share)
    if code == 0:
        pcsc.SCardDisconnect(handle, ctypes.c_ulong(0))
    return name(code)


def cancelled():
    said = []
    timer = threading.Timer(1, lambda: said.append(name(pcsc.SCardCancel(other))))
    timer.start()
    code = asked(SHARED)
    timer.join()
    cancels.extend(said)
    return code


def unblocked():
    environment = os.environ | {"PCSCLITE_NO_BLOCKING": "1"}
    return subprocess.run([sys.executable, f"{folder}/program", folder, "ask"], env=environment, capture_output=True, text=True).stdout.strip()


pcsc.SCardDisconnect(handle, ctypes.c_ulong(0))
_, handle = connect(holder, EXCLUSIVE)
begun = time.monotonic()
said = asked(SHARED)
print(f"held exclusively, asked shared: {said}, waited {'yes' if time.monotonic() - begun > HELD * 0.8 else 'no'}")
pcsc.SCardDisconnect(handle, ctypes.c_ulong(0))
_, handle = connect(holder, SHARED)
ask("shared", lambda: asked(SHARED))
ask("exclusive", lambda: asked(EXCLUSIVE))
cancels = []
ask("shared, cancelled after 1 s", cancelled)
print("SCardCancel said:", *cancels)
ask("shared with PCSCLITE_NO_BLOCKING", unblocked)
PYTHON
# A network and a process space of its own: nobody else sees the readers, and nothing is left running.
timeout -s KILL 300 unshare -n -p -f --kill-child python3 "$folder/program" "$folder" 2>"$folder/errors" | tee "$folder/now" || true

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
