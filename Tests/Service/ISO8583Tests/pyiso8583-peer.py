# SPDX-License-Identifier: Apache-2.0
"""Holds messages against pyiso8583. Reads packager files by itself, as docs/service/iso8583.md describes them.

argv: folder of the packager files, request file, answer file. A request line names the packager and has messages that were
built elsewhere; the answer says where pyiso8583 disagrees, and brings messages that it made."""

import json
import pathlib
import random
import re
import sys

import iso8583

folder, request_path, answer_path = (pathlib.Path(argument) for argument in sys.argv[1:])


def load(name):
    for path in folder.glob("*.json"):
        file = json.loads(path.read_text())
        if file["name"] == name:
            break
    else:
        raise SystemExit(f"no packager {name}")
    if "base" not in file:
        return file
    base = load(file["base"])
    fields = {field["field"]: field for field in base["fields"]}
    fields.update({field["field"]: field for field in file.get("fields", [])})
    return {**base, **file, "fields": list(fields.values())}


def specification(file):
    text = {"ascii": "ascii", "ebcdic": "cp500"}
    spec = {"h": {"data_enc": "b", "len_enc": "b", "len_type": 0, "max_len": 0, "desc": "header"}}
    packed = file["mti"] == "bcd"
    spec["t"] = {"data_enc": "b" if packed else text[file["mti"]], "len_enc": "ascii", "len_type": 0,
                 "max_len": 2 if packed else 4, "desc": "type"}
    binary = file["bitmap"] == "binary"
    for key in ("p", "1"):
        spec[key] = {"data_enc": "b" if binary else "ascii", "len_enc": "ascii", "len_type": 0,
                     "max_len": 8 if binary else 16, "desc": "bitmap"}
    for field in file["fields"]:
        kind, dots, most = re.fullmatch(r"([a-z+]+)(\.*)(\d+)", field["format"]).groups()
        most = int(most)
        group = "binary" if kind == "b" else "numbers" if kind in ("n", "z", "x+n") else "text"
        encoding = field.get("encoding", file[group])
        lengths = field.get("lengths", file["lengths"])
        rule = {"len_enc": {"bcd": "bcd", "binary": "b"}.get(lengths, text.get(lengths)), "desc": field["name"],
                "len_type": 0 if not dots else len(dots) if lengths in text else (len(dots) + 1) // 2, "kind": kind}
        if encoding == "bcd" and kind != "x+n":
            side, character = field.get("pad", "left-0").split("-")
            rule.update(data_enc="b", len_count="nibbles", max_len=most)
            rule[f"{side}_pad"] = character
        elif encoding == "bcd":
            # A byte for the sign and the digits, which pyiso8583 takes together as bytes.
            rule.update(data_enc="b", max_len=1 + most // 2)
        elif encoding == "binary":
            rule.update(data_enc="b", max_len=most)
        else:
            rule.update(data_enc=text[encoding], max_len=most + (kind == "x+n"))
        spec[str(field["field"])] = rule
    return spec


def theirs(fields, spec):
    """Fields as pyiso8583 wants them."""
    return {key: f"{ord(value[0]):02X}{value[1:]}" if packed_sign(key, spec) else value for key, value in fields.items()}


def ours(fields, spec):
    return {key: chr(int(value[:2], 16)) + value[2:] if packed_sign(key, spec) else value
            for key, value in fields.items() if key not in ("h", "p", "1")}


def packed_sign(key, spec):
    return spec[key].get("kind") == "x+n" and spec[key]["data_enc"] == "b"


def made(file, spec, source):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    fields = {"t": ("1" if file["version"] == "1993" else "0") + source.choice(["100", "110", "200", "420", "500", "800"])}
    for field in source.sample(file["fields"], source.randint(1, 30)):
        kind, dots, most = re.fullmatch(r"([a-z+]+)(\.*)(\d+)", field["format"]).groups()
        count = source.randint(0, int(most)) if dots else int(most)
        if kind == "b":
            value = source.randbytes(count).hex().upper()
        elif kind == "x+n":
            value = source.choice("CD") + "".join(source.choices("0123456789", k=count))
        else:
            characters = "0123456789D" if kind == "z" else "".join(
                {"a": letters + " ", "n": "0123456789", "s": " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"}[c] for c in kind)
            value = "".join(source.choices(characters, k=count))
        fields[str(field["field"])] = value
    return fields


answers = []
for line in request_path.read_text().splitlines():
    request = json.loads(line)
    file = load(request["packager"])
    spec = specification(file)
    complaints = []
    for message in request["messages"]:
        wanted = bytes.fromhex(message["hex"])
        encoded, _ = iso8583.encode(theirs(message["fields"], spec), spec)
        decoded, _ = iso8583.decode(wanted, spec)
        if bytes(encoded) != wanted:
            complaints.append(f"encoded otherwise: {message['hex']}")
        if ours(decoded, spec) != message["fields"]:
            complaints.append(f"decoded otherwise: {message['hex']}")
    source = random.Random(request["seed"])
    messages = []
    for _ in range(request["count"]):
        fields = made(file, spec, source)
        encoded, _ = iso8583.encode(theirs(fields, spec), spec)
        messages.append({"hex": bytes(encoded).hex(), "fields": fields})
    answers.append(json.dumps({"packager": request["packager"], "compared": len(request["messages"]),
                               "complaints": complaints, "messages": messages}))
answer_path.write_text("\n".join(answers))
