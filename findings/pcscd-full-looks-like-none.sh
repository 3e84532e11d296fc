#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): pcscd 1.9.9-2, libpcsclite1 1.9.9-2, vsmartcard-vpcd 3.3+dfsg-2 (its readers only)
#
# Guess: SCARD_E_NO_SERVICE says that pcscd does not run, and SCardIsValidContext says whether a context can still be used.
# What happens: the 201st context of the machine gets SCARD_E_NO_SERVICE from a pcscd that runs and serves, or, by chance,
# SCARD_W_SECURITY_VIOLATION: pcscd closes the connection before or while the library writes. "Start pcscd" and "run as root" are both
# wrong advice. When pcscd has ended, SCardIsValidContext calls its context valid; it stops doing so after a release that fails.
#
# Seen:
# > contexts before the first refusal: 200
# > twenty more, though pcscd runs, get SCARD_E_NO_SERVICE or SCARD_W_SECURITY_VIOLATION: True
# > as soon as the others are released: SCARD_S_SUCCESS
# > pcscd has ended, a new one: SCARD_E_NO_SERVICE
# > SCardIsValidContext of the old one: SCARD_S_SUCCESS
# > SCardReleaseContext of the old one: SCARD_E_NO_SERVICE
# > SCardIsValidContext after the release that failed: SCARD_E_INVALID_HANDLE
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
    0x8010006A: "SCARD_W_SECURITY_VIOLATION",
}


def name(code):
    return NAMES.get(code & 0xFFFFFFFF, f"{code & 0xFFFFFFFF:08X}")


def establish():
    context = ctypes.c_long()
    code = pcsc.SCardEstablishContext(ctypes.c_ulong(2), None, None, ctypes.byref(context))
    return code, context


contexts = []
for _ in range(300):
    code, context = establish()
    if code != 0:
        break
    contexts.append(context)
print(f"contexts before the first refusal: {len(contexts)}")
codes = {name(code)} | {name(establish()[0]) for _ in range(19)}
wrong = {"SCARD_E_NO_SERVICE", "SCARD_W_SECURITY_VIOLATION"}
print("twenty more, though pcscd runs, get SCARD_E_NO_SERVICE or SCARD_W_SECURITY_VIOLATION:", codes <= wrong)
for context in contexts[1:]:
    pcsc.SCardReleaseContext(context)
# The daemon counts a context down when its thread has ended.
time.sleep(2)
print("as soon as the others are released:", name(establish()[0]))
os.kill(daemon, 15)
os.waitpid(daemon, 0)
context = contexts[0]
print("pcscd has ended, a new one:", name(establish()[0]))
print("SCardIsValidContext of the old one:", name(pcsc.SCardIsValidContext(context)))
print("SCardReleaseContext of the old one:", name(pcsc.SCardReleaseContext(context)))
print("SCardIsValidContext after the release that failed:", name(pcsc.SCardIsValidContext(context)))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
