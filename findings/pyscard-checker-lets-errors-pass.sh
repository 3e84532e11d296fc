#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package: python3-pyscard 2.0.5-1+b* (Debian 12)
#
# Guess: with the ISO 7816-4 checker in place a command that the card did not carry out raises an exception: only 9000 and 61xx come back.
# What happens: the checker has a list of errors, and what is not on it is good. 6581 (the card could not write), 6C12 (nothing was sent, ask for 18 bytes),
# 6A8A, 6F01 and all of DESFire's 91xx come back like 9000. Most of the statuses from 6200 to 6FFF do. The checkers for
# parts 8 and 9 know 6581 or 6400, and pass most of what part 4 refuses.
#
# Seen:
# > 9000: part 4 passes, part 8 passes, part 9 passes
# > 6283: part 4 WarningProcessingException, part 8 passes, part 9 passes
# > 6985: part 4 CheckingErrorException, part 8 CheckingErrorException, part 9 passes
# > 6A83: part 4 CheckingErrorException, part 8 passes, part 9 passes
# > 6400: part 4 ExecutionErrorException, part 8 passes, part 9 ExecutionErrorException
# > 6401: part 4 passes, part 8 passes, part 9 passes
# > 6581: part 4 passes, part 8 ExecutionErrorException, part 9 passes
# > 6883: part 4 passes, part 8 CheckingErrorException, part 9 passes
# > 6A8A: part 4 passes, part 8 passes, part 9 CheckingErrorException
# > 6C12: part 4 passes, part 8 passes, part 9 passes
# > 6F00: part 4 CheckingErrorException, part 8 passes, part 9 passes
# > 6F01: part 4 passes, part 8 passes, part 9 passes
# > 91AE: part 4 passes, part 8 passes, part 9 passes
# > of the 3,584 statuses from 6200 to 6FFF part 4 passes 3535
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-pyscard libpcsclite1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' python3-pyscard) in 2.0.5-1+b*) ;; *) echo "$(basename "$0"): another version of python3-pyscard" >&2; exit 1 ;; esac

/usr/bin/python3 - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from smartcard.sw.ISO7816_4ErrorChecker import ISO7816_4ErrorChecker
from smartcard.sw.ISO7816_8ErrorChecker import ISO7816_8ErrorChecker
from smartcard.sw.ISO7816_9ErrorChecker import ISO7816_9ErrorChecker
from smartcard.sw.SWExceptions import SWException


def said(checker, status):
    try:
        checker([], status >> 8, status & 0xFF)
        return "passes"
    except SWException as error:
        return type(error).__name__


for status in (0x9000, 0x6283, 0x6985, 0x6A83, 0x6400, 0x6401, 0x6581, 0x6883, 0x6A8A, 0x6C12, 0x6F00, 0x6F01, 0x91AE):
    parts = {"part 4": ISO7816_4ErrorChecker(), "part 8": ISO7816_8ErrorChecker(), "part 9": ISO7816_9ErrorChecker()}
    print(f"{status:04X}:", ", ".join(f"{part} {said(checker, status)}" for part, checker in parts.items()))
passed = sum(said(ISO7816_4ErrorChecker(), status) == "passes" for status in range(0x6200, 0x7000))
print(f"of the 3,584 statuses from 6200 to 6FFF part 4 passes {passed}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
