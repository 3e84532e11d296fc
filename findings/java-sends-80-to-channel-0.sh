#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): openjdk-17-jdk-headless 17.*, pcscd 1.9.9-2, libpcsclite1 1.9.9-2, vsmartcard-vpcd 3.3+dfsg-2
#
# Guess: `CardChannel.transmit` puts its channel's number into the class byte, as its documentation says, and otherwise sends what it was given.
# What happens: into class bytes below 80 only. GET PROCESSING OPTIONS and GENERATE AC (class 80) of an application that was selected on channel 1
# go to the card's basic channel, where another application is selected. A class byte with the number already in it is
# changed back to 0 by the basic channel. 61xx and 6Cxx are answered by Java with commands of its own, also in T=1, and the till sees the last answer only.
#
# Seen:
# > open a channel: the card sees 0070000001
# > channel 1, 00b2010c00: the card sees 01b2010c00; the till gets 9000
# > channel 1, 80a8000002830000: the card sees 80a8000002830000; the till gets 9000
# > channel 1, 80ae800002125000: the card sees 80ae800002125000; the till gets 9000
# > channel 0, 01b2010c00: the card sees 00b2010c00; the till gets 9000
# > channel 0, 00a4040007a000000003101000: the card sees 00a4040007a000000003101000, 00c0000002; the till gets 6f009000
# > channel 0, 00b2020c00: the card sees 00b2020c00, 00b2020c02; the till gets 70009000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3 openjdk-17-jdk-headless pcscd=1.9.9-2 libpcsclite1=1.9.9-2 vsmartcard-vpcd=3.3+dfsg-2 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' openjdk-17-jdk-headless) in 17.*) ;; *) echo "$(basename "$0"): another version of Java" >&2; exit 1 ;; esac
cat >"$folder/Till.java" <<'JAVA'
import java.util.HexFormat;
import javax.smartcardio.*;

public class Till {
    static void send(CardChannel channel, String command) throws CardException {
        String answer = HexFormat.of().formatHex(channel.transmit(new CommandAPDU(HexFormat.of().parseHex(command))).getBytes());
        System.out.println("till " + channel.getChannelNumber() + " " + command + " " + answer);
    }

    public static void main(String[] arguments) throws Exception {
        CardTerminal terminal = TerminalFactory.getDefault().terminals().list().get(0);
        if (!terminal.waitForCardPresent(60000)) System.exit(1);
        Card card = terminal.connect("T=1");
        CardChannel other = card.openLogicalChannel();
        send(other, "00b2010c00");
        send(other, "80a8000002830000");
        send(other, "80ae800002125000");
        send(card.getBasicChannel(), "01b2010c00");
        send(card.getBasicChannel(), "00a4040007a000000003101000");
        send(card.getBasicChannel(), "00b2020c00");
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

# What this card answers to a command; to all others 9000.
ANSWERS = {"0070000001": "019000", "00a4040007a000000003101000": "6102", "00c0000002": "6f009000", "00b2020c00": "6c02", "00b2020c02": "70009000"}


class Card(threading.Thread):
    """A contactless card behind vpcd: two bytes of length, then a control byte or a command."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seen = []
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
                self.seen.append(message.hex())
                answer = bytes.fromhex(ANSWERS.get(message.hex(), "9000"))
            line.sendall(len(answer).to_bytes(2, "big") + answer)


daemon = start_pcscd()
card = Card()
java = subprocess.Popen(["java", "-XX:-UsePerfData", "-cp", folder, "Till"], stdout=subprocess.PIPE, text=True)
for line in java.stdout:
    _, channel, command, answer = line.split()
    if card.seen[0].startswith("0070"):
        print("open a channel: the card sees", card.seen.pop(0))
    seen, card.seen = card.seen, []
    print(f"channel {channel}, {command}: the card sees {', '.join(seen)}; the till gets {answer}")
os.kill(daemon, signal.SIGKILL)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
