#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches a process's memory, or files, for card numbers in every form that a program could hold them in.

    scan-secrets.py [--context] PID|FOLDER  <secrets

Standard input has one secret a line: the digits of a card number, or track 2 as `digits D digits`. Memory is every
readable mapping, whatever it is for, but for those that are a file's and were not changed. Prints what it finds and ends with 1; ends with 0 and a count where it finds
nothing. Reading the memory of a process that forbids dumps takes root.
"""
import base64
import pathlib
import sys

CHUNK = 16 << 20


def packed(digits, start):
    nibbles = digits[start:]
    if len(nibbles) % 2:
        nibbles = nibbles[:-1]
    return bytes.fromhex(nibbles)


# Fewer characters of Base64 stand in any longer ciphertext by chance: four do in every sixth run.
LEAST_ENCODED = 7


def encoded(name, data):
    """Base64 of the bytes wherever they stand in a longer text: the characters that do not depend on their neighbours."""
    for shift in range(3):
        first, end = -(-shift * 8 // 6), (shift + len(data)) * 8 // 6
        if end - first < LEAST_ENCODED:
            continue
        text = base64.b64encode(bytes(shift) + data)[first:end]
        yield f"Base64 of {name}, shifted {shift}", text
        url = text.translate(bytes.maketrans(b"+/", b"-_"))
        if url != text:
            yield f"Base64url of {name}, shifted {shift}", url


def forms(secret):
    """One secret in all forms. The digits that an answer may show, first six and last four, never make a form alone."""
    text = secret.encode()
    yield "digits", text
    yield "digits in lower case", secret.lower().encode()
    yield "track 2 in text", secret.replace("D", "=").encode()
    yield "UTF-16", secret.encode("utf-16-le")
    yield "hexadecimal of digits", text.hex().encode()
    yield "hexadecimal of digits, upper case", text.hex().upper().encode()
    yield "one byte a digit", bytes(int(digit, 16) for digit in secret)
    for start in (0, 1):
        bcd = packed(secret, start)
        yield f"BCD from nibble {start}", bcd
        # A certificate with the number in it, as the limbs of a big integer.
        yield f"BCD from nibble {start}, backwards", bcd[::-1]
        yield from encoded(f"BCD from nibble {start}", bcd)
    yield from encoded("digits", text)


def patterns(lines):
    found = {}
    for number, line in enumerate(lines, 1):
        secret = line.strip().upper()
        if not secret:
            continue
        # What is left of a block that was overwritten in part still counts.
        parts = {"": secret} if "D" in secret else {"": secret, "last 12 of ": secret[-12:]}
        for part, digits in parts.items():
            for name, pattern in forms(digits):
                found.setdefault(pattern, f"secret {number}: {part}{name}")
    return found


def occurrences(data, wanted):
    for pattern, name in wanted.items():
        at = data.find(pattern)
        while at >= 0:
            yield at, name, len(pattern)
            at = data.find(pattern, at + 1)


def mappings(pid):
    """Each mapping's first line in smaps, and whether it has exactly the bytes of a file: private to the process, and no page of it changed."""
    head, changed = None, 0
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines() + ["0-0 ---p 0 0 0"]:
        fields = line.split(maxsplit=5)
        if fields[0] in ("Anonymous:", "Swap:"):
            changed += int(fields[1])
        elif not fields[0].endswith(":"):
            if head:
                yield head, head[1][3] == "p" and len(head) > 5 and head[5].startswith("/") and changed == 0
            head, changed = fields, 0


def memory(pid):
    """Every readable mapping in pieces that overlap: where it begins, what it is, and its bytes."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for fields, is_file in mappings(pid):
            start, end = (int(bound, 16) for bound in fields[0].split("-"))
            name = fields[5] if len(fields) > 5 else "anonymous"
            # The kernel's own pages cannot be read from outside and hold no data of the process; code and constants, most of what a
            # program has mapped, are those of its file.
            if "r" not in fields[1] or name in ("[vvar]", "[vsyscall]") or is_file:
                continue
            for base in range(start, end, CHUNK):
                mem.seek(base)
                try:
                    yield base, f"{name} {fields[1]}", mem.read(min(CHUNK + 256, end - base))
                except OSError:
                    # Given back to the system meanwhile.
                    continue


def main():
    arguments = sys.argv[1:]
    shows_context = "--context" in arguments
    arguments = [argument for argument in arguments if argument != "--context"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    wanted = patterns(sys.stdin)
    if not wanted:
        sys.exit("scan-secrets: no secrets on standard input")
    target = arguments[0]
    if target.isdigit():
        pieces = memory(int(target))
    else:
        files = (file for file in sorted(pathlib.Path(target).rglob("*")) if file.is_file())
        pieces = ((0, str(file), file.read_bytes()) for file in files)
    hits = searched = size = 0
    for base, where, data in pieces:
        searched += 1
        size += len(data)
        for at, name, length in occurrences(data, wanted):
            hits += 1
            print(f"{where} at {base + at:#x}: {name}")
            if shows_context:
                print("   ", data[max(0, at - 48) : at].hex(), "|", data[at : at + length + 48].hex())
    if searched == 0:
        sys.exit("scan-secrets: nothing to search")
    print(f"scan-secrets: {hits} found in {searched} pieces, {size >> 10} KiB, {len(wanted)} forms")
    sys.exit(1 if hits else 0)


main()
