# SPDX-License-Identifier: Apache-2.0
"""What the contract's test has reached: reached.py CONTRACT FILE, the file as hooks.py writes it.

Each call has to have been answered with each of its successes, or nothing was tested but refusals.
"""
import json
import sys

import yaml

# A preparation that is still going on would take a reader that is slow to open. A capture that nobody decides is waited for, for half
# a minute, before a machine is told so.
EXCEPTIONS = {("prepareLane", 202), ("commitSession", 202)}

contract = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
answers = {tuple(json.loads(line)) for line in open(sys.argv[2], encoding="utf-8")}
operations = [
    operation for path in contract["paths"].values() for method, operation in path.items() if method in ("get", "post", "put", "delete")]
missing = [
    f"{operation['operationId']} {status}"
    for operation in operations
    for status in operation["responses"]
    if status.startswith("2") and (operation["operationId"], int(status)) not in EXCEPTIONS
    and not any(answer[:2] == (operation["operationId"], int(status)) for answer in answers)]
codes = {(operation["operationId"], code) for operation in operations for code in operation["x-error-codes"]}
given = {(name, code) for name, _, code in answers} & codes
print(f"     {len(operations)} calls, {len(given)} of their {len(codes)} own errors given")
if missing:
    sys.exit("check-contract: never reached: " + ", ".join(missing))
