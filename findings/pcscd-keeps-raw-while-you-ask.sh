#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): pcscd 1.9.9-2, libpcsclite1 1.9.9-2, vsmartcard-vpcd 3.3+dfsg-2
#
# Guess: which protocol a card speaks is settled anew by each program that connects first, and who is refused only has to ask again.
# What happens: a program that connected with RAW and left the card as it was leaves the protocol behind too. Asked for T=0 or T=1
# pcscd refuses, and each question keeps the card powered as it is: who asked too early is refused for good, and who did
# not ask for three seconds finds all well. A direct connection that ends with UNPOWER heals it.
#
# Seen:
# > asked for T=0 or T=1: SCARD_S_SUCCESS, protocol 2
# > another program asks for RAW: SCARD_S_SUCCESS, protocol 4; it ends and leaves the card: SCARD_S_SUCCESS
# > asked first after three seconds: SCARD_S_SUCCESS, protocol 2
# > another program asks for RAW: SCARD_S_SUCCESS, protocol 4; it ends and leaves the card: SCARD_S_SUCCESS
# > asked at once: SCARD_E_PROTO_MISMATCH
# > asked again after three seconds: SCARD_E_PROTO_MISMATCH
# > asked again after ten seconds more: SCARD_E_PROTO_MISMATCH
# > a direct connection ends with UNPOWER: SCARD_S_SUCCESS
# > asked again: SCARD_S_SUCCESS, protocol 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3 pcscd=1.9.9-2 libpcsclite1=1.9.9-2 vsmartcard-vpcd=3.3+dfsg-2 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

# A network and a process space of its own: nobody else sees the readers, and nothing is left running.
timeout -s KILL 300 unshare -n -p -f --kill-child python3 - "$folder" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import ctypes
import fcntl
import os
import socket
import struct
import sys
import threading
import time

# The network namespace is new: switch its loopback interface on (SIOCSIFFLAGS, IFF_UP).
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as interface:
    fcntl.ioctl(interface, 0x8914, struct.pack("16sh22x", b"lo", 1))

# pcscd takes a listening socket as systemd would hand it over, so that it needs nothing of the machine's own pcscd.
folder = sys.argv[1]
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
NAMES = {
    0x00000000: "SCARD_S_SUCCESS",
    0x80100003: "SCARD_E_INVALID_HANDLE",
    0x8010000F: "SCARD_E_PROTO_MISMATCH",
    0x80100016: "SCARD_E_NOT_TRANSACTED",
    0x8010001D: "SCARD_E_NO_SERVICE",
    0x80100069: "SCARD_W_REMOVED_CARD",
}


def name(code):
    return NAMES.get(code & 0xFFFFFFFF, f"{code & 0xFFFFFFFF:08X}")


def establish():
    context = ctypes.c_long()
    code = pcsc.SCardEstablishContext(ctypes.c_ulong(2), None, None, ctypes.byref(context))
    return code, context


def connect(context, share=2, protocols=3):
    handle, active = ctypes.c_long(), ctypes.c_ulong()
    code = pcsc.SCardConnect(
        context, b"Rig 00 00", ctypes.c_ulong(share), ctypes.c_ulong(protocols), ctypes.byref(handle), ctypes.byref(active)
    )
    return code, handle, active.value


def card_is_there(context):
    for _ in range(300):
        code, handle, active = connect(context)
        if code == 0:
            return handle, active
        time.sleep(0.1)
    sys.exit("the card was not seen")


class Card(threading.Thread):
    """A contactless card behind vpcd: two bytes of length, then a control byte or a command."""

    def __init__(self, uid, leaves=False):
        super().__init__(daemon=True)
        self.uid, self.leaves = uid, leaves
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
            elif message[1] == 0xB2 and self.leaves:
                break
            else:
                answer = bytes.fromhex(self.uid) + b"\x90\x00"
            line.sendall(len(answer).to_bytes(2, "big") + answer)
        line.shutdown(socket.SHUT_RDWR)
        line.close()


def left_in_raw(context):
    _, other = establish()
    code, handle, active = connect(other, protocols=4)
    print(f"another program asks for RAW: {name(code)}, protocol {active}; it ends and leaves the card:", end=" ")
    print(name(pcsc.SCardDisconnect(handle, ctypes.c_ulong(0))))
    pcsc.SCardReleaseContext(other)


def ask(title, context):
    code, handle, active = connect(context)
    print(f"{title}: {name(code)}" + (f", protocol {active}" if code == 0 else ""))
    if code == 0:
        pcsc.SCardDisconnect(handle, ctypes.c_ulong(0))


Card("08A1B2C3")
_, context = establish()
handle, _ = card_is_there(context)
pcsc.SCardDisconnect(handle, ctypes.c_ulong(0))
ask("asked for T=0 or T=1", context)

left_in_raw(context)
time.sleep(3)
ask("asked first after three seconds", context)

left_in_raw(context)
ask("asked at once", context)
time.sleep(3)
ask("asked again after three seconds", context)
time.sleep(10)
ask("asked again after ten seconds more", context)
_, handle, _ = connect(context, share=3, protocols=0)
print("a direct connection ends with UNPOWER:", name(pcsc.SCardDisconnect(handle, ctypes.c_ulong(2))))
time.sleep(3)
ask("asked again", context)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
