#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): iec62056 0.5.1 (telegrams of electricity meters by IEC 62056-21 and DSMR, which a charger or a house sends each second)
#
# Guess: a meter's time that says S, summer, is an hour before the same time that says W; a time stays what it is wherever and whenever it is read; a
# telegram's checksum is checked, and a register that the library does not know costs that register.
# What happens: the letter is dropped, and the time gets the offset that the reading machine has at this moment: a telegram of July that is read in November is
# an hour late, a machine in UTC moves each by one or two hours, and the two half past twos of the last night of October are the same. One unknown register,
# such as 1.8.0, the meter's total, costs the telegram, by a NameError. The checksum is kept, and compared with nothing.
#
# Seen:
# > read where the clock is UTC0: July 2026-07-04T12:00:00+00:00, 02:30 S and 02:30 W are the same True
# > read where the clock is CET-1: July 2026-07-04T12:00:00+01:00, 02:30 S and 02:30 W are the same True
# > read where the clock is CEST-2: July 2026-07-04T12:00:00+02:00, 02:30 S and 02:30 W are the same True
# > with 1-0:1.8.0: VisitError (name 'eeference' is not defined)
# > checksum d82c, 1.8.1 156.167; with another digit: checksum d82c, 1.8.1 956.167
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check iec62056==0.5.1 lark==1.0.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import os
import time

from iec62056 import parser, samples

PARSER = parser.Parser()
# The library's own sample of a meter that sends its time with S or W.
SAMPLE = samples.ISKRA_AM550.decode()
assert SAMPLE.count("(180104231941W)") == SAMPLE.count("(000156.167*kWh)") == 1


def read(old="", new=""):
    return PARSER.parse(SAMPLE.replace(old, new, 1))


def moment(stamp):
    return read("(180104231941W)", f"({stamp})")["timestamp"].value


for zone in ("UTC0", "CET-1", "CEST-2"):
    os.environ["TZ"] = zone
    time.tzset()
    same = moment("261025023000S") == moment("261025023000W")
    print(f"read where the clock is {zone}: July {moment('260704120000S').isoformat()}, 02:30 S and 02:30 W are the same {same}")
try:
    said = read("1-0:1.7.0(", "1-0:1.8.0(000227.713*kWh)\r\n1-0:1.7.0(")["electricity_used_tariff_1"]
except Exception as error:
    said = f"{type(error).__name__} ({str(error).splitlines()[-1]})"
print("with 1-0:1.8.0:", said)
telegrams = read(), read("(000156.167*kWh)", "(000956.167*kWh)")
said = (f"checksum {telegram.checksum:04x}, 1.8.1 {telegram['electricity_used_tariff_1'].value}" for telegram in telegrams)
print(*said, sep="; with another digit: ")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
