#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A vending machine on a pseudo-terminal: vending.py LINK SALES POLLS, or vending.py LINK PRICE:END…

Another hand than the peripheral, from what MDB/ICP 4.2 says of a machine's side. LINK leads to the terminal's other end. A word with its mode bit is
FF 00 and its byte, FF is FF FF. An answer that begins 5 ms after the command or later meets the next command: it counts as none, and the
machine says the same again. Prints a line of JSON: what it has sold, and how soon it was answered.

With prices it prints a word for each sale: denied, or its END, sold or failed. With the END asked it stands still once it has asked for
money, with held once it may hand out the goods: it says so, waits for a line, and is set up anew as soon as the peripheral was reset."""
import json, os, pty, random, select, sys, time, tty

ANSWER, PATIENCE, MODE = 0.005, 0.03, 0x100


class Machine:
    def __init__(self, link):
        self.line, far = pty.openpty()
        tty.setraw(far)
        os.symlink(os.ttyname(far), link)
        self.far, self.dice, self.taken = far, random.Random(1), bytearray()
        self.commands, self.late, self.silent, self.times = 0, 0, 0, []

    def write(self, *words):
        marked = b"".join(b"\xff\x00" + bytes([word & 0xFF]) if word & MODE else b"\xff\xff" if word == 0xFF else bytes([word]) for word in words)
        os.write(self.line, marked)

    def bytes_within(self, seconds):
        if not select.select([self.line], [], [], max(0, seconds))[0]:
            return b""
        return os.read(self.line, 256)

    def hear(self, began):
        """Words up to the one with its mode bit; nothing where the first byte came too late."""
        data = self.bytes_within(began + ANSWER - time.monotonic())
        took = time.monotonic() - began
        if not data:
            # Whatever comes now has begun too late.
            if self.bytes_within(PATIENCE):
                self.late += 1
                while self.bytes_within(PATIENCE):
                    pass
            else:
                self.silent += 1
            return None
        self.times.append(took)
        words = []
        while True:
            data = bytearray(data)
            while data:
                if data[0] != 0xFF:
                    words.append(data.pop(0))
                elif len(data) >= 2 and data[1] == 0xFF:
                    words.append(0xFF)
                    del data[:2]
                elif len(data) >= 3:
                    words.append(MODE | data[2])
                    del data[:3]
                else:
                    break
            if words and words[-1] & MODE:
                return words
            more = self.bytes_within(PATIENCE)
            if not more:
                return None
            data += more

    def exchange(self, *command):
        """Data, nothing for an acknowledgement; None where nothing was heard that counts."""
        self.commands += 1
        began = time.monotonic()
        self.write(MODE | command[0], *command[1:], sum(command) & 0xFF)
        words = self.hear(began)
        if words is None or len(words) == 1:
            return None if words is None or words[0] != MODE else []
        data = [word & 0xFF for word in words]
        if sum(data[:-1]) & 0xFF != data[-1]:
            self.write(0xFF)
            return None
        self.write(0x00)
        return data[:-1]

    def say(self, *command, tries=200):
        for _ in range(tries):
            answer = self.exchange(*command)
            time.sleep(0.001)
            if answer is not None:
                return answer
        sys.exit(f"no answer to {bytes(command).hex()}")

    def poll_for(self, *heads):
        for _ in range(5_000):
            answer = self.say(0x12)
            if answer and answer[0] in heads:
                return answer[0]
        sys.exit(f"none of {heads} came")

    def begin(self):
        # Nobody may be there yet.
        self.say(0x10, tries=2_000)
        self.poll_for(0x00)
        assert self.say(0x11, 0x00, 0x03, 0x10, 0x02, 0x01)[:2] == [0x01, 0x03]
        self.say(0x11, 0x01, 0x01, 0xF4, 0x00, 0x32)
        self.say(0x17, 0x04, 0x00, 0x00, 0x00, 0x20)
        self.say(0x14, 0x01)

    def sale(self, price, end):
        self.say(0x13, 0x00, price >> 8, price & 0xFF, 0x00, 0x07)
        if end != "asked" and self.poll_for(0x05, 0x06) == 0x06:
            end = "denied"
        elif end == "sold":
            self.say(0x13, 0x02, 0x00, 0x07)
        elif end == "failed":
            self.say(0x13, 0x03)
        else:
            print(end, flush=True)
            sys.stdin.readline()
            self.poll_for(0x00)
            self.begin()
            return "begun anew"
        self.say(0x13, 0x04)
        self.poll_for(0x07)
        return end


def main():
    machine, sold = Machine(sys.argv[1]), {"sold": 0, "failed": 0, "denied": 0}
    machine.begin()
    if ":" in sys.argv[2]:
        for price, end in (word.split(":") for word in sys.argv[2:]):
            print(machine.sale(int(price), end), flush=True)
        return
    for _ in range(int(sys.argv[2])):
        sold[machine.sale(150, "sold" if machine.dice.random() < 0.8 else "failed")] += 1
    for _ in range(int(sys.argv[3])):
        machine.exchange(0x12)
        time.sleep(0.001)
    times = sorted(1_000 * took for took in machine.times)
    part = {name: round(times[int((len(times) - 1) * share)], 2) for name, share in (("median", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("most", 1))}
    print(json.dumps({**sold, "commands": machine.commands, "late": machine.late, "silent": machine.silent, "milliseconds": part}))


main()
