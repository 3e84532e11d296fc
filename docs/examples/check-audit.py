#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Recomputes an exported audit chain: nfc-tap audit export | check-audit.py
# Signatures are not checked here: any JOSE library does that with the key of the first line (docs/operating/audit.md).
import base64, hashlib, json, sys

signed, known, faults = {}, {}, []
previous = hash_before = None

for text in sys.stdin.buffer:
    line = json.loads(text)
    if "statement" in line:
        payload = line["statement"].split(".")[1]
        said = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        signed[said["sequence"]] = said["hash"]
        if said["kind"] == "checkpoint":
            known[said["sequence"]] = said["hash"]
    if "sequence" not in line:
        continue
    number = line["sequence"]
    if previous is None:  # the first entry, or the first after those that were erased
        previous, hash_before = number - 1, "0" * 64 if number == 1 else known.get(number - 1)
    if number != previous + 1:
        faults.append(f"entry {number} after {previous}")
    parts = [hash_before or "", str(number), line["at"], line["kind"], line["subject"], line["detail"]]
    if hashlib.sha256("\n".join(parts).encode()).hexdigest() != line["hash"]:
        faults.append(f"entry {number} altered")
    if signed.get(number, line["hash"]) != line["hash"]:
        faults.append(f"entry {number} differs from what was signed")
    previous, hash_before = number, line["hash"]

if max(signed, default=0) > (previous or 0):
    faults.append(f"entries missing after {previous}")
print("\n".join(faults) if faults else f"chain holds up to entry {previous}, signed up to {max(signed, default=0)}")
sys.exit(1 if faults else 0)
