#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pays many times with test cards, and searches everything that is left for their numbers and tracks: memory of the replicas (which is
what a core would hold), logs, database files, write-ahead log, the acquirer's book; and tries to make a replica leave a core.

    scripts/check-switch-secrets.py FOLDER-WITH-THE-PROGRAMS [--taps 1000]

As root: the memory of the replicas is closed to everybody else.
"""
import argparse
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from estate.centre import Estate  # noqa: E402
from estate.parts import run, until  # noqa: E402

SCAN = pathlib.Path(__file__).resolve().parent / "scan-secrets.py"


def scan(name, target, secrets):
    done = subprocess.run([sys.executable, str(SCAN), str(target)], input=secrets, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines() or [done.stderr.strip()]
    print(f"{name}: {lines[-1]}")
    for line in lines[:-1][:20]:
        print("   ", line)
    return done.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--taps", type=int, default=1_000)
    parser.add_argument("--tills", type=int, default=10)
    parser.add_argument("--wait", type=float, default=130, help="seconds after the last payment, before memory is searched")
    arguments = parser.parse_args()
    if os.getuid() != 0:
        sys.exit("check-switch-secrets: run it as root: nobody else may read the replicas' memory")
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    secrets = run(pathlib.Path(arguments.programs) / "rig-tills", "cards", "--tills", arguments.tills)
    with Estate(arguments.programs, replicas=2, shops=1, tills=arguments.tills, standby=False) as estate:
        words = [str(estate.programs / "rig-tills"), "pay", "--tills", str(arguments.tills), "--taps", str(arguments.taps), "--faults",
                 "--beliefs", estate.path("beliefs"), "--socket", estate.sockets[0]]
        print(run(*words, limit=600).strip())
        until("an end of everything open", lambda: estate.primary.sql(
            "select count(*) from payment where state in ('running', 'reversing')") == "0")
        time.sleep(arguments.wait)
        failed = sum(scan(f"memory of {part.name}", part.process.pid, secrets) for part in estate.replicas)
        for part in estate.replicas:
            part.end(signal.SIGABRT)
        cores = [str(path) for folder in (pathlib.Path.cwd(), estate.folder) for path in folder.glob("core*")]
        print("cores after SIGABRT without a limit:", ", ".join(cores) or "none")
        failed += scan("logs and the acquirer's book", estate.folder, secrets)
        failed += scan("database files and write-ahead log", estate.primary.folder, secrets)
    estate.remove()
    sys.exit(1 if failed or cores else 0)


if __name__ == "__main__":
    main()
