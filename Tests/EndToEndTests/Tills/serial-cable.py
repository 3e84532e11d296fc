#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cable between two serial lines: serial-cable.py END END makes two pseudo-terminals with these names and carries bytes from
each to the other, until its input is closed."""
import os
import select
import sys
import tty

ends = {}
for name in sys.argv[1:3]:
    inner, outer = os.openpty()
    tty.setraw(outer)
    # The outer end stays open here, so that a program may close its own and open it again.
    ends[inner] = outer
    os.symlink(os.ttyname(outer), name)
first, second = ends
print("ready", flush=True)
while True:
    ready, _, _ = select.select([first, second, 0], [], [])
    if 0 in ready and not os.read(0, 1):
        break
    for end in ready:
        if end:
            os.write(second if end == first else first, os.read(end, 4096))
