# SPDX-License-Identifier: Apache-2.0
"""A switch in Python: pyiso8583 packs and reads, pyemv makes cryptograms and checks the issuer's.

argv: packager file folder, name of the packager, port. Standard input: a list of messages, each with "fields" (DE to text, binary in
hexadecimal), and perhaps "arqc" (the card, whose cryptogram goes into field 55), "await" (how many answers), "within" (seconds). Standard
output: what came for each, decoded, and whether the bytes are those that pyiso8583 would have sent."""

import json
import pathlib
import socket
import struct
import sys

import iso8583
from pyemv import ac, cvn, kd

folder, name, port = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
# The specification of a packager file is made by the peer of the room ISO8583, which reads no messages here.
empty = "/dev/null"
source = (pathlib.Path(__file__).parents[2] / "Service" / "ISO8583Tests" / "pyiso8583-peer.py").read_text()
sys.argv = ["peer", str(folder), empty, empty]
peer = {"__name__": "peer"}
exec(compile(source, "pyiso8583-peer.py", "exec"), peer)
spec = peer["specification"](peer["load"](name))

line = socket.create_connection(("127.0.0.1", port), timeout=30)


def keys(card):
    master = kd.derive_icc_mk_a(bytes.fromhex(card["imk"]), card["pan"], card["psn"])
    session = kd.derive_common_sk(master, bytes.fromhex(card["atc"]) + bytes(6))
    return master, session


def cryptogram(card, values):
    maker = {10: cvn.VisaCVN10, 18: cvn.VisaCVN18, 20: cvn.MasterCardCVN20}[card["cvn"]]
    issuer = maker(bytes.fromhex(card["imk"]), bytes(16), bytes(16), card["pan"], card["psn"])
    tags = {f"tag_{tag.lower()}": bytes.fromhex(values[tag])
            for tag in ("9F02", "9F03", "9F1A", "95", "5F2A", "9A", "9C", "9F37", "82", "9F36")}
    data = bytes.fromhex(values["9F10"])
    if card["cvn"] == 18:
        return issuer.generate_ac(**tags, tag_9f10=data)
    return issuer.generate_ac(**tags, cvr=data[3:7] if card["cvn"] == 10 else data[2:8])


def chip(fields, card):
    values = {"9F02": fields["4"], "9F03": "000000000000", "9F1A": "0276", "95": "0000000000",
              "5F2A": "0" + fields["49"], "9A": "261123", "9C": fields["3"][:2], "9F37": card.get("un", "DEADBEEF"),
              "82": "2000", "9F36": card["atc"], "9F27": card.get("cid", "80"), "5F34": card["psn"],
              "9F10": {10: "06010A03A0B800", 18: "06011203A0B800",
                       20: "0114A00000000000000000000000000000FF"}[card["cvn"]]}
    values["9F26"] = card.get("ac") or cryptogram(card, values).hex().upper()
    values.update(card.get("changed", {}))
    text = "".join(f"{tag}{len(value) // 2:02X}{value}" for tag, value in values.items())
    return text, values


def exactly(count):
    data = b""
    while len(data) < count:
        piece = line.recv(count - len(data))
        if not piece:
            return None
        data += piece
    return data


def receive(within):
    line.settimeout(within)
    try:
        head = exactly(2)
        if head is None:
            return "closed"
        body = exactly(struct.unpack(">H", head)[0])
        return "closed" if body is None else body
    except (TimeoutError, socket.timeout):
        return "silence"
    except ConnectionResetError:
        return "closed"


results = []
for item in json.load(sys.stdin):
    fields = item["fields"]
    values = None
    if "arqc" in item:
        fields["55"], values = chip(fields, item["arqc"])
    encoded, _ = iso8583.encode(peer["theirs"](fields, spec), spec)
    line.sendall(struct.pack(">H", len(encoded)) + encoded)
    answers = []
    for _ in range(item.get("await", 1)):
        body = receive(item.get("within", 20))
        if isinstance(body, str):
            answers.append({"": body})
            continue
        try:
            decoded, _ = iso8583.decode(body, spec)
        except iso8583.DecodeError:
            answers.append({"": "garbage"})
            continue
        again, _ = iso8583.encode(dict(decoded), spec)
        answer = peer["ours"](decoded, spec)
        answer["same"] = str(bytes(again) == bytes(body))
        if values and "55" in answer:
            master, session = keys(item["arqc"])
            data = bytes.fromhex(answer["55"])
            code = answer["39"] if len(answer["39"]) == 2 else "00"
            arpc = ac.generate_arpc_1(master if item["arqc"]["cvn"] == 10 else session, bytes.fromhex(values["9F26"]),
                                      code.encode())
            answer["arpc"] = str(data == b"\x91\x0a" + arpc + code.encode())
        answers.append(answer)
    results.append(answers)
json.dump(results, sys.stdout)
