#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): openjdk-17-jdk-headless 17.*, pcscd 1.9.9-2, libpcsclite1 1.9.9-2, vsmartcard-vpcd 3.3+dfsg-2
#
# Guess: a till in Java that asks again after pcscd was restarted (an update does that) sees its readers again, at the latest
# with a new TerminalFactory.
# What happens: javax.smartcardio keeps one context for the life of the process. After the restart each call is SCARD_E_NO_SERVICE, those of a
# new factory as well, while any other program on the machine sees the readers. Only a new Java process helps.
#
# Seen:
# > another program, before: Rig 00 00
# > Java, before: [PC/SC terminal Rig 00 00, PC/SC terminal Rig 00 01]
# > another program, after: Rig 00 00
# > Java, after: list() failed: SCARD_E_NO_SERVICE
# > Java, after, a new factory: list() failed: SCARD_E_NO_SERVICE
# > Java, ten seconds later: list() failed: SCARD_E_NO_SERVICE
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3 openjdk-17-jdk-headless pcscd=1.9.9-2 libpcsclite1=1.9.9-2 vsmartcard-vpcd=3.3+dfsg-2 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' openjdk-17-jdk-headless) in 17.*) ;; *) echo "$(basename "$0"): another version of Java" >&2; exit 1 ;; esac
cat >"$folder/Till.java" <<'JAVA'
import javax.smartcardio.CardException;
import javax.smartcardio.TerminalFactory;

public class Till {
    static String ask(TerminalFactory factory) {
        try {
            return factory.terminals().list().toString();
        } catch (CardException error) {
            return error.getMessage() + ": " + error.getCause().getMessage();
        }
    }

    public static void main(String[] arguments) throws Exception {
        TerminalFactory first = TerminalFactory.getDefault();
        System.out.println("Java, before: " + ask(first));
        System.in.read();
        System.out.println("Java, after: " + ask(first));
        System.out.println("Java, after, a new factory: " + ask(TerminalFactory.getInstance("PC/SC", null)));
        System.in.read();
        System.out.println("Java, ten seconds later: " + ask(TerminalFactory.getInstance("PC/SC", null)));
    }
}
JAVA
javac -J-XX:-UsePerfData -d "$folder" "$folder/Till.java"

# A network and a process space of its own: nobody else sees the readers, and nothing is left running.
timeout -s KILL 300 unshare -n -p -f --kill-child python3 - "$folder" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
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

OTHER = """
import ctypes, sys, time
pcsc = ctypes.CDLL("libpcsclite.so.1")
for _ in range(100):
    context, names, size = ctypes.c_long(), ctypes.create_string_buffer(1000), ctypes.c_ulong(1000)
    if pcsc.SCardEstablishContext(ctypes.c_ulong(2), None, None, ctypes.byref(context)) == 0:
        if pcsc.SCardListReaders(context, None, names, ctypes.byref(size)) == 0:
            sys.exit(print(names.raw[: size.value].split(bytes(1))[0].decode()))
    time.sleep(0.1)
"""


def another_program():
    return subprocess.run([sys.executable, "-c", OTHER], capture_output=True, text=True, check=True).stdout.strip()


daemon = start_pcscd()
print("another program, before:", another_program(), flush=True)
java = subprocess.Popen(["java", "-XX:-UsePerfData", "-cp", folder, "Till"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def java_says(lines):
    for _ in range(lines):
        print(java.stdout.readline().decode().rstrip(), flush=True)


java_says(1)
os.kill(daemon, signal.SIGTERM)
os.waitpid(daemon, 0)
if os.path.exists(f"{folder}/pcscd.comm"):
    os.unlink(f"{folder}/pcscd.comm")
daemon = start_pcscd()
print("another program, after:", another_program(), flush=True)
java.stdin.write(b"\n")
java.stdin.flush()
java_says(2)
time.sleep(10)
java.stdin.write(b"\n")
java.stdin.flush()
java_says(1)
os.kill(daemon, signal.SIGKILL)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
