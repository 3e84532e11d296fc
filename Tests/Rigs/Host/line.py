# SPDX-License-Identifier: Apache-2.0
"""One connection of a switch to the second host."""
import asyncio
import contextlib

from wire import HEADER, Message, Unreadable, framed, parse


class Line:
    """One connection of a switch."""

    def __init__(self, host, reader, writer, port=0):
        self.host, self.reader, self.writer, self.port = host, reader, writer, port
        self.is_signed_on, self.is_deaf, self.waits = False, False, {}
        # Of messages with codes: the key, and one that is handed over and not answered yet.
        self.key, self.next_key = None, None

    def send(self, data, how=None):
        if isinstance(data, Message):
            data = framed(self.host.codes.packed(data, self.key, how)) if self.host.codes and data.kind[1] != "8" else data.frame()
        if data and not self.is_deaf and not self.writer.is_closing():
            self.writer.write(data)

    def later(self, seconds, data, before=None):
        def now():
            if before:
                before()
            self.send(data)
        asyncio.get_running_loop().call_later(seconds, now)

    def is_heard(self):
        return self in self.host.lines and not self.is_deaf

    def unless_heard(self, key, what):
        """What a switch that has died cannot have heard the host takes back by itself."""
        self.host.book.write(do="lie", key=key, what=what)

        def look():
            # Who has repeated it meanwhile, over whichever line, has heard of it.
            if key in self.host.book.unsure or what != "refused, then done":
                self.host.book.write(do="sure" if self.is_heard() else "forget", key=key)
        asyncio.get_running_loop().call_later(1.5, look)

    def if_heard(self, key, what):
        """Half of those of which it has said two things it does not have, where the switch has lived to hear both."""
        self.host.book.write(do="lie", key=key, what=what)

        def look():
            if self.is_heard() and not self.host.book.entries[key].is_reversed and self.host.dice.random() < 0.5:
                self.host.book.write(do="forget", key=key)
        asyncio.get_running_loop().call_later(1.5, look)

    def cut(self, data=b""):
        self.send(data)
        with contextlib.suppress(OSError):
            self.writer.close()

    async def run(self):
        self.host.lines.add(self)
        try:
            while True:
                head = await self.reader.readexactly(HEADER)
                if not head.isdigit():
                    self.host.book.write(do="violation", what=f"a length of {head!r}")
                    break
                data = await self.reader.readexactly(int(head))
                if self.is_deaf or not data:
                    continue
                await self.host.stalls()
                try:
                    message = parse(data)
                    if self.host.codes and message.kind[1] != "8" and not self.host.codes.is_good(data, message, self.key):
                        self.host.book.write(do="violation", what=f"{message.kind} without its code, or with a wrong one")
                        continue
                    self.host.take(self, message)
                except Unreadable as error:
                    self.host.book.write(do="violation", what=f"unreadable: {error}")
        except (asyncio.IncompleteReadError, ConnectionError, OSError):
            pass
        finally:
            self.host.lines.discard(self)
            self.cut()
