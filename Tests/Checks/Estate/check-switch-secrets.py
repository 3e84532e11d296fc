#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pays many times with test cards, and searches everything that is left for their numbers and tracks: memory of the replicas (which is
what a core would hold), logs, database files, write-ahead log, the acquirer's book; and tries to make a replica leave a core.

    Tests/Checks/Estate/check-switch-secrets.py FOLDER-WITH-THE-PROGRAMS [--taps 1000] [--context]

A search that finds nothing proves something only where it could have found it: it has to find a number that this script puts into a file and
into a process, and numbers in the replicas while they work on payments. As root: the memory of the replicas is closed to everybody else.
"""
import argparse
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

from centre import Estate
from parts import run, until

SCAN = pathlib.Path(__file__).resolve().parents[1] / "Secrets/scan-secrets.py"


def search(target, secrets, *options):
    """What was found, a line each, and the line that counts it."""
    words = [sys.executable, str(SCAN), *options, str(target)]
    done = subprocess.run(words, input=secrets, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if done.returncode not in (0, 1) or not lines:
        sys.exit(f"check-switch-secrets: the search of {target} failed: {done.stderr.strip()}")
    return lines[:-1], lines[-1]


def scan(name, target, secrets, options):
    found, summary = search(target, secrets, *options)
    print(f"{name}: {summary}", flush=True)
    for line in found[:40]:
        print("   ", line)
    return len(found)


def packed(secrets):
    return bytes.fromhex(secrets.split()[0])


def finds_in_files(folder, secrets):
    path = pathlib.Path(folder) / "control"
    path.write_bytes(b"log line " + packed(secrets))
    try:
        return bool(search(folder, secrets)[0])
    finally:
        path.unlink()


def finds_in_memory(secrets):
    code = "import sys; held = bytearray(bytes.fromhex(sys.stdin.readline())); print(len(held), flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write(packed(secrets).hex() + "\n")
        process.stdin.flush()
        process.stdout.readline()
        try:
            return bool(search(process.pid, secrets)[0])
        finally:
            process.kill()


def leaves_core(folder):
    """Whether a program that does nothing against it leaves a core here."""
    subprocess.run([sys.executable, "-c", "import os; os.abort()"], cwd=folder, check=False)
    cores = list(pathlib.Path(folder).glob("core*"))
    for core in cores:
        core.unlink()
    return bool(cores)


def pay(estate, arguments, secrets):
    """Pays, and says whether the search has seen a card in a replica meanwhile."""
    words = [str(estate.programs / "rig-tills"), "pay", "--tills", str(arguments.tills), "--taps", str(arguments.taps), "--faults",
             "--beliefs", estate.path("beliefs"), "--socket", estate.sockets[0]]
    few, seen = "\n".join(secrets.splitlines()[:6]) + "\n", 0
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as tills:
        while tills.poll() is None:
            seen += sum(len(search(part.process.pid, few)[0]) for part in estate.replicas)
            time.sleep(0.2)
        print(tills.stdout.read().strip(), flush=True)
        if tills.returncode:
            sys.exit("check-switch-secrets: the tills failed")
    return seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--taps", type=int, default=1_000)
    parser.add_argument("--tills", type=int, default=10)
    parser.add_argument("--wait", type=float, default=2, help="seconds after the last open item, before memory is searched")
    parser.add_argument("--context", action="store_true", help="show the bytes around what is found: TEST CARDS ONLY")
    arguments = parser.parse_args()
    if os.getuid() != 0:
        sys.exit("check-switch-secrets: run it as root: nobody else may read the replicas' memory")
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    options = ["--context"] if arguments.context else []
    secrets = run(pathlib.Path(arguments.programs) / "rig-tills", "cards", "--tills", arguments.tills)
    with Estate(arguments.programs, replicas=2, shops=1, tills=arguments.tills, standby=False) as estate:
        controls = {"in a file": finds_in_files(estate.folder, secrets), "in another process": finds_in_memory(secrets)}
        seen = pay(estate, arguments, secrets)
        controls["in replicas that work on payments"] = seen > 0
        until("an end of everything open", lambda: estate.primary.sql(
            "select count(*) from payment where state in ('running', 'reversing')") == "0")
        time.sleep(arguments.wait)
        failed = sum(scan(f"memory of {part.name}", part.process.pid, secrets, options) for part in estate.replicas)
        for part in estate.replicas:
            part.end(signal.SIGABRT)
        cores = [str(path) for folder in (pathlib.Path.cwd(), estate.folder) for path in folder.glob("core*")]
        proof = "" if leaves_core(estate.folder) else ", but nor does any other program here: this proves nothing"
        print("cores after SIGABRT without a limit: " + (", ".join(cores) or "none" + proof))
        failed += scan("logs and the acquirer's book", estate.folder, secrets, options)
        failed += scan("database files and write-ahead log", estate.primary.folder, secrets, options)
    estate.remove()
    for where, is_found in controls.items():
        print(f"a number {where} is " + ("found" if is_found else "NOT FOUND: this search proves nothing"))
    sys.exit(0 if not failed and not cores and all(controls.values()) else 1)


if __name__ == "__main__":
    main()
