#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): softhsm2 2.6.1-2.1; strace 6.1-0.1 counts
#
# Guess: a token in software has its keys in memory after C_Login, and a session's copy of a key belongs to that session.
# What happens: each operation with a key of the token opens, locks and reads two files, the object's and the token's generation. With a
# copy (C_CopyObject, CKA_TOKEN false) nothing is opened at all; it stays as sensitive as the key. Every other session of the
# process finds and uses the copy too, as PKCS #11 allows, so a search by label finds a key twice.
#
# Seen:
# > one HMAC by a key of the token: its object's file 1, the token's generation 1
# > ten HMACs by a key of the token: its object's file 10, the token's generation 10
# > ten HMACs by a copy of the session: nothing is opened
# > ten by the copy, from a session that did not make it: nothing is opened
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    python3 softhsm2=2.6.1-2.1 libsofthsm2=2.6.1-2.1 strace=6.1-0.1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }

cat >"$folder/program" <<'PYTHON'
import ctypes
import os
import subprocess
import sys

ULONG = ctypes.c_ulong
folder = sys.argv[1]
if len(sys.argv) == 2:
    os.mkdir(f"{folder}/tokens")
    with open(f"{folder}/softhsm2.conf", "w") as configuration:
        configuration.write(f"directories.tokendir = {folder}/tokens\nobjectstore.backend = file\n")
    os.environ["SOFTHSM2_CONF"] = f"{folder}/softhsm2.conf"
    token = ["softhsm2-util", "--init-token", "--free", "--label", "findings", "--pin", "1234", "--so-pin", "5678"]
    subprocess.run(token, check=True, stdout=subprocess.DEVNULL)
    trace = ["strace", "-f", "-e", "trace=openat", "-o", f"{folder}/trace", sys.executable, f"{folder}/program", folder, "traced"]
    subprocess.run(trace, check=True)
    part, counts = None, {}
    for line in open(f"{folder}/trace"):
        if "/mark: " in line:
            part = line.split("/mark: ")[1].split('"')[0]
            counts[part] = {}
        elif part and f"{folder}/tokens" in line:
            kind = "its object's file" if ".object" in line else "the token's generation"
            counts[part][kind] = counts[part].get(kind, 0) + 1
    for part, opened in counts.items():
        if part != "end":
            print(f"{part}:", ", ".join(f"{kind} {count}" for kind, count in sorted(opened.items())) or "nothing is opened")
    sys.exit()


class Attribute(ctypes.Structure):
    _fields_ = [("type", ULONG), ("value", ctypes.c_void_p), ("size", ULONG)]


class Mechanism(ctypes.Structure):
    _fields_ = [("mechanism", ULONG), ("parameter", ctypes.c_void_p), ("size", ULONG)]


CKA_CLASS, CKA_TOKEN, CKA_PRIVATE, CKA_KEY_TYPE, CKA_SENSITIVE = 0x0, 0x1, 0x2, 0x100, 0x103
CKA_SIGN, CKA_VALUE_LEN, CKA_EXTRACTABLE = 0x108, 0x161, 0x162
CKO_SECRET_KEY, CKK_GENERIC_SECRET = 4, 0x10
CKM_GENERIC_SECRET_KEY_GEN, CKM_SHA256_HMAC = 0x350, 0x251
module = ctypes.CDLL("/usr/lib/softhsm/libsofthsm2.so")
kept = []


def call(function, *arguments):
    code = getattr(module, function)(*arguments)
    if code != 0:
        sys.exit(f"{function} gave {code:#x}")


def attributes(values):
    array = (Attribute * len(values))()
    for place, (kind, value) in enumerate(values.items()):
        data = bytes([value]) if isinstance(value, bool) else value.to_bytes(8, "little")
        kept.append(ctypes.create_string_buffer(data, len(data)))
        array[place] = Attribute(kind, ctypes.cast(kept[-1], ctypes.c_void_p), len(data))
    return array, ULONG(len(values))


def mark(title):
    try:
        open(f"{folder}/mark: {title}")
    except FileNotFoundError:
        pass


def session():
    handle = ULONG()
    call("C_OpenSession", slot, ULONG(6), None, None, ctypes.byref(handle))
    return handle


def code_of(key, session):
    mechanism, size, answer = Mechanism(CKM_SHA256_HMAC, None, 0), ULONG(32), ctypes.create_string_buffer(32)
    call("C_SignInit", session, ctypes.byref(mechanism), key)
    call("C_Sign", session, b"record", ULONG(6), answer, ctypes.byref(size))
    return answer.raw


call("C_Initialize", None)
slots, count = (ULONG * 8)(), ULONG(8)
call("C_GetSlotList", ctypes.c_ubyte(1), slots, ctypes.byref(count))
slot = ULONG(slots[0])
first, second = session(), session()
call("C_Login", first, ULONG(1), b"1234", ULONG(4))
key, copy = ULONG(), ULONG()
template = {CKA_CLASS: CKO_SECRET_KEY, CKA_KEY_TYPE: CKK_GENERIC_SECRET, CKA_VALUE_LEN: 32, CKA_TOKEN: True}
template |= {CKA_PRIVATE: True, CKA_SIGN: True, CKA_SENSITIVE: True, CKA_EXTRACTABLE: False}
generate = Mechanism(CKM_GENERIC_SECRET_KEY_GEN, None, 0)
call("C_GenerateKey", first, ctypes.byref(generate), *attributes(template), ctypes.byref(key))
call("C_CopyObject", first, key, *attributes({CKA_TOKEN: False}), ctypes.byref(copy))
expected = code_of(key, first)
mark("one HMAC by a key of the token")
code_of(key, first)
mark("ten HMACs by a key of the token")
for _ in range(10):
    code_of(key, first)
mark("ten HMACs by a copy of the session")
for _ in range(10):
    assert code_of(copy, first) == expected
mark("ten by the copy, from a session that did not make it")
for _ in range(10):
    assert code_of(copy, second) == expected
mark("end")
PYTHON
python3 "$folder/program" "$folder" 2>"$folder/errors" | tee "$folder/now" || true

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
