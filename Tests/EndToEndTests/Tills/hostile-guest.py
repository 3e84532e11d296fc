#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Somebody on a till's network.

    hostile-guest.py record PORT FILE           listens on a port that it prints, lets one till through to PORT, and writes down
                                                what the till sent
    hostile-guest.py attack PORT FILE           until its input ends: floods PORT with connections, leaves lines half said, and
                                                plays what was recorded again, whole and cut off anywhere
"""
import random
import select
import socket
import sys
import threading
import time


def record(port, file):
    listener = socket.create_server(("127.0.0.1", 0))
    own = listener.getsockname()[1]
    print(own, flush=True)
    sent = b""
    # A browser names the port that it asks.
    names = [f"127.0.0.1:{number}".encode() for number in (own, port)]
    # A browser needs several connections, one after the other or at once.
    listener.settimeout(0.1)
    pairs = {}
    while True:
        if select.select([sys.stdin], [], [], 0)[0]:
            break
        ready, _, _ = select.select([listener, *pairs], [], [], 0.1)
        for end in ready:
            if end is listener:
                till, _ = listener.accept()
                terminal = socket.create_connection(("127.0.0.1", port))
                pairs[till], pairs[terminal] = terminal, till
                tills.add(till)
                continue
            try:
                data = end.recv(65536)
                if end in tills:
                    data = data.replace(*names)
                if data:
                    pairs[end].sendall(data)
            except OSError:
                data = b""
            if data and end in tills:
                sent += data
            if not data:
                other = pairs.pop(end)
                pairs.pop(other, None)
                for one in (end, other):
                    tills.discard(one)
                    one.close()
                break
    open(file, "wb").write(sent)


tills = set()


def attack(port, frames, dice, isOver):
    left = []
    while not isOver.is_set():
        guest = socket.socket()
        guest.settimeout(0.2)
        try:
            guest.connect(("127.0.0.1", port))
            kind = dice.randrange(4)
            if kind == 1:
                guest.sendall(frames[:dice.randrange(1, len(frames))])
            elif kind == 2:
                guest.sendall(frames)
                guest.recv(4096)
            elif kind == 3:
                # As slow as somebody who wants to keep the line.
                for byte in frames[:5]:
                    guest.sendall(bytes([byte]))
                    time.sleep(0.01)
        except OSError:
            pass
        left.append(guest)
        if len(left) > 40:
            left.pop(dice.randrange(len(left))).close()
    for guest in left:
        guest.close()


def main():
    what, port, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if what == "record":
        return record(port, file)
    frames, isOver = open(file, "rb").read(), threading.Event()
    threads = [threading.Thread(target=attack, args=(port, frames, random.Random(seed), isOver)) for seed in range(4)]
    for thread in threads:
        thread.start()
    print("begun", flush=True)
    sys.stdin.read()
    isOver.set()
    for thread in threads:
        thread.join()


main()
