#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the record of `tap-bench path tlv-index` with a library of PyPI, so often: peers.py NAME TIMES."""
import sys

# As ByteBenchmarks.record has them: 191 bytes, 19 objects with the template.
OBJECTS = (
    ("57", 19), ("5A", 8), ("5F24", 3), ("5F25", 3), ("5F28", 2), ("5F34", 1), ("9F07", 2), ("8E", 20), ("9F0D", 5), ("9F0E", 5),
    ("9F0F", 5), ("8C", 27), ("8D", 12), ("9F4A", 1), ("5F20", 20), ("9F08", 2), ("5F30", 2), ("9F42", 2))
# python emv reads lists as lists.
LISTS = {"8C": "9F02069F03069F1A0295055F2A029A039C019F37049F35019F3403", "8D": "8A0295059F37049A035F2A02"}
CONTENT = b"".join(
    bytes.fromhex(tag) + bytes([count]) + (bytes.fromhex(LISTS[tag]) if tag in LISTS else b"A" * count) for tag, count in OBJECTS)
RECORD = bytes([0x70, 0x81, len(CONTENT)]) + CONTENT
assert len(RECORD) == 191


def pyemv():
    from pyemv import tlv

    return lambda: len(tlv.decode(RECORD)["70"])


def python_emv():
    from emv.protocol.structures import TLV

    return lambda: len(next(iter(TLV.unmarshal(RECORD).values())))


def ber_tlv():
    from ber_tlv.tlv import Tlv

    return lambda: len(Tlv.parse(RECORD, True)[0][1])


read = {"pyemv-tlv": pyemv, "python-emv-tlv": python_emv, "ber-tlv-tlv": ber_tlv}[sys.argv[1]]()
for _ in range(int(sys.argv[2])):
    if read() != len(OBJECTS):
        sys.exit(f"{sys.argv[1]}: another number of objects")
