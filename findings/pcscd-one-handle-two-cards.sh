#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): pcscd 1.9.9-2, libpcsclite1 1.9.9-2, vsmartcard-vpcd 3.3+dfsg-2
#
# Guess: a card that leaves while it is asked is an error of that call, and its handle never speaks to another card:
# SCARD_W_REMOVED_CARD until the program connects again.
# What happens: the call succeeds with no bytes at all, not even a status word. If another card is there before pcscd looks again
# (every 400 ms), the old handle answers with the other card's data, without an error and without an event: a transaction that
# asked its first card for the sum goes on with a second customer's card.
#
# Seen:
# > first card: SCARD_S_SUCCESS, 6 bytes 08a1b2c39000
# > it leaves in the middle of READ RECORD: SCARD_S_SUCCESS, 0 bytes
# > the next command: SCARD_E_NOT_TRANSACTED
# > the same handle, another card on the reader: SCARD_S_SUCCESS, 6 bytes 041122339000
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


def transmit(handle, protocol, command):
    answer, size = ctypes.create_string_buffer(258), ctypes.c_ulong(258)
    header = (ctypes.c_ulong * 2)(protocol, 16)
    code = pcsc.SCardTransmit(handle, header, command, ctypes.c_ulong(len(command)), None, answer, ctypes.byref(size))
    return f"{name(code)}, {size.value} bytes {answer.raw[:size.value].hex()}".rstrip() if code == 0 else name(code)


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


GET_UID, READ_RECORD = bytes.fromhex("FFCA000000"), bytes.fromhex("00B2010C00")
_, context = establish()
# pcscd looks every 400 ms. A try in which it looks into the gap of a few milliseconds shows nothing and is made again.
for attempt in range(10):
    Card("08A1B2C3", leaves=True)
    handle, protocol = card_is_there(context)
    lines = [f"first card: {transmit(handle, protocol, GET_UID)}"]
    lines.append(f"it leaves in the middle of READ RECORD: {transmit(handle, protocol, READ_RECORD)}")
    lines.append(f"the next command: {transmit(handle, protocol, GET_UID)}")
    Card("04112233", leaves=True)
    time.sleep(1.5)
    lines.append(f"the same handle, another card on the reader: {transmit(handle, protocol, GET_UID)}")
    if "SUCCESS" in lines[-1]:
        break
    # The second card leaves as well, and all begins anew.
    code, handle, protocol = connect(context)
    transmit(handle, protocol, READ_RECORD)
    time.sleep(1)
print("\n".join(lines))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
