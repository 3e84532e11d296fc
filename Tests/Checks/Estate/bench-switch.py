#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Payments a second through nfc-tap-switch: with and without a token, one to three replicas, few and many tills; beside plain inserts of
the same rows by pgbench on the same server in the same run.

    Tests/Checks/Estate/bench-switch.py FOLDER-WITH-RELEASE-PROGRAMS [--taps 2000]

Tills, both proxies, the acquirer's host, PostgreSQL and the switch share the machine's processors: the figures by processor second say
more than those by second. pgbench is a client of the database as the switch is, so that both are held against each other with their
clients: payments a second of the processors of switch and database, over those of pgbench and database. Beside it stands the same
with the database alone below the line, as if pgbench cost nothing, and how often the database does a payment's work where it could
have inserted its rows.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import time

from centre import Estate
from parts import PROGRAMS, run, until

# What a sale leaves in the books, in two commits: a payment and an exchange, then two entries.
INSERTS = r"""\set k random(1, 9000000000000000000)
begin;
insert into payment (id, merchant, terminal, body, kind, amount, currency, scheme, last4, token, record, state, answer, approval, authorised, captured, decided)
values (md5(:k::text)::uuid, 'shop-1', '00000001', decode(repeat('ab', 32), 'hex'), 'sale', 1000, 'EUR', 'Visa', '0010', repeat('t', 25),
md5(:k::text), 'approved', repeat('a', %(answer)d), '000001', 1000, 1000, now());
insert into exchange (id, payment, kind, owner, stage, type, trace, reference, transmitted, sealed)
values (md5(:k::text)::uuid, md5(:k::text)::uuid, 'payment', 1, 'answered', '0200', :k::text, '632803000002', '1124034101', decode(repeat('ab', %(sealed)d), 'hex'));
commit;
begin;
insert into entry (payment, seq, account, amount, currency, is_reversal, day) values (md5(:k::text)::uuid, 1, 'card', -1000, 'EUR', false, current_date),
(md5(:k::text)::uuid, 1, 'shop', 1000, 'EUR', false, current_date);
commit;
"""


def pay(estate, tills, taps, seed):
    beliefs = estate.path(f"beliefs-{seed}")
    words = [str(estate.programs / "rig-tills"), "pay", "--tills", str(tills), "--taps", str(taps), "--plain", "--seed", str(seed),
             "--seconds", "300", "--beliefs", beliefs]
    for socket in estate.sockets:
        words += ["--socket", socket]
    return json.loads(run(*words, limit=400))


def measured(estate, tills, taps, seed):
    # The cards of each run count from one again, which the issuer remembers as long as it runs.
    estate.host.end()
    estate.host.start()
    time.sleep(1)
    until("the link to the acquirer", lambda: all(
        estate.health(estate.path(f"{number + 1}.sock")) == "ok" for number in range(estate.count)))
    before, log = (sum(part.cpu() for part in estate.replicas), estate.primary.cpu()), estate.primary.sql("select pg_current_wal_lsn()")
    told = pay(estate, tills, taps, seed)
    switch, database = (sum(part.cpu() for part in estate.replicas) - before[0]), estate.primary.cpu() - before[1]
    approved = told.get("approved", 0)
    if approved < 0.95 * told["taps"]:
        raise SystemExit(f"bench-switch: too few were approved: {told}")
    written = int(estate.primary.sql(f"select pg_current_wal_lsn() - '{log}'::pg_lsn")) / approved
    return told, approved / told["seconds"], switch / approved, database / approved, written


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def inserts(estate, seconds):
    """Plain inserts of rows of the same size, each payment's in two commits, by eight connections as a replica has."""
    sizes = estate.primary.sql("select avg(length(p.answer))::int, avg(octet_length(x.sealed))::int from payment p join exchange x on x.id = p.id")
    answer, sealed = (int(word) for word in sizes.split("|"))
    script = estate.databases[0].folder / "inserts.sql"
    script.write_text(INSERTS % {"answer": answer, "sealed": sealed})
    before, own = estate.primary.cpu(), of_children()
    text = run(f"{PROGRAMS}/pgbench", "-n", "-M", "prepared", "-c", "8", "-j", "1", "-T", str(seconds), "-f", script,
               "-h", estate.primary.folder, "-U", "postgres", "switch", limit=seconds + 60)
    own = of_children() - own
    rate = float(re.search(r"tps = ([\d.]+)", text).group(1))
    count = int(re.search(r"actually processed: (\d+)", text).group(1))
    return rate, own / count, (estate.primary.cpu() - before) / count, answer, sealed


def compare(lines, plain, client, server, answer, sealed):
    print(f"pgbench in the same run: {plain:.0f} payments' rows a second, {1 / (client + server):.0f} a second of its and the database's "
          f"processors, {1 / server:.0f} of the database's alone ({1_000 * client:.2f} and {1_000 * server:.2f} ms for one); answer {answer} and "
          f"sealed {sealed} bytes. Of it the lines above are:")
    for tills, rate, switch, database in lines:
        print(f"- {tills} tills: by processors, clients and database on both sides, **{(client + server) / (switch + database):.2f}**; switch and "
              f"database over pgbench's database alone {server / (switch + database):.2f}; database over database {server / database:.2f}; by the "
              f"clock {rate / plain:.2f}", flush=True)


def processors():
    """Ticks of all processors since the machine's start, and of them those with nothing to do."""
    ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(ticks), ticks[3] + ticks[4]


def busy(estate):
    """How often the keys were asked for more than they do in time."""
    text = run("curl", "-s", "--unix-socket", estate.path("desk-0.sock"), "http://localhost/metrics")
    return float(re.search(r'faults_total\{fault="keys_busy"\} ([\d.]+)', text).group(1))


def wait_for_token(arguments):
    """Whether more tills than a slow token can serve get less of it: PKCS#11 with a delay (Tests/Rigs/Token) before SoftHSM2."""
    with Estate(arguments.programs, replicas=1, shops=1, tills=max(arguments.tills), standby=False, proxies=False, delay=arguments.delay,
                switch=["--till-requests", "100000", "--sessions", str(arguments.sessions)], answer_seconds=20) as estate:
        pay(estate, 10, 100, 99)
        print(f"{arguments.delay} ms of an agreement, {arguments.sessions} sessions: {1_000 * arguments.sessions / arguments.delay:.0f} payments/s at most")
        print("| tills | payments/s | of those of the first line | ms of the switch, of the database, of tills and host each | of the processors: these, idle | "
              "refused as busy | approved, of taps | half, 99 of 100 (ms) |\n|---|---|---|---|---|---|---|---|")
        first = None
        for tills in arguments.tills:
            estate.host.end()
            estate.host.start()
            time.sleep(1)
            until("the link to the acquirer", lambda: estate.health(estate.path("1.sock")) == "ok")
            before = sum(part.cpu() for part in estate.replicas), estate.primary.cpu(), busy(estate)
            others, machine = of_children() + estate.host.cpu(), processors()
            told = pay(estate, tills, arguments.taps, tills)
            all_ticks, idle = (now - then for now, then in zip(processors(), machine))
            others = of_children() + estate.host.cpu() - others
            switch, database = (sum(part.cpu() for part in estate.replicas) - before[0]), estate.primary.cpu() - before[1]
            approved = max(1, told.get("approved", 0))
            rate = told.get("approved", 0) / told["seconds"]
            first = first or rate
            ours = (switch + database + others) * os.sysconf("SC_CLK_TCK") / max(1, all_ticks)
            print(f"| {tills} | {rate:.1f} | {rate / first:.2f} | {1_000 * switch / approved:.1f}, {1_000 * database / approved:.1f}, {1_000 * others / approved:.1f} | "
                  f"{ours:.2f}, {idle / max(1, all_ticks):.2f} | "
                  f"{busy(estate) - before[2]:.0f} | {told.get('approved', 0)}, {told['taps']} | {told['p50']:.0f}, {told['p99']:.0f} |", flush=True)
    estate.remove()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--taps", type=int, default=2_000)
    parser.add_argument("--seconds", type=int, default=10, help="of pgbench")
    parser.add_argument("--delay", type=int, default=0, help="milliseconds of an agreement in the token: nothing else is measured than tills that wait for it")
    parser.add_argument("--sessions", type=int, default=8, help="of that token")
    parser.add_argument("--tills", type=int, nargs="+", default=[60, 100, 200], help="before that token")
    arguments = parser.parse_args()
    if arguments.delay:
        return wait_for_token(arguments)
    print("| keys | replicas | proxies | tills | payments/s | a second of the switch's processors | switch and database | ms of switch, of database | half, 99 of 100 (ms) | memory of a replica (MiB) | bytes of write-ahead log each |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for token, replicas, proxies, counts in [
        (False, 1, False, [10, 100]), (True, 1, False, [10, 100]), (True, 1, True, [10, 100, 1_000]), (True, 2, True, [100]), (True, 3, True, [100])]:
        with Estate(arguments.programs, replicas=replicas, shops=1, tills=1_000, standby=False, token=token, proxies=proxies,
                    switch=["--till-requests", "100000"], answer_seconds=20) as estate:
            pay(estate, 10, 100, 99)
            lines = []
            for tills in counts:
                told, rate, switch, database, written = measured(estate, tills, arguments.taps, tills)
                memory = max(part.memory()[1] for part in estate.replicas) / 1024
                print(f"| {'token' if token else 'file'} | {replicas} | {'two, mutual TLS' if proxies else 'none'} | {tills} | {rate:.0f} | {1 / switch:.0f} | "
                      f"{1 / (switch + database):.0f} | {1_000 * switch:.2f}, {1_000 * database:.2f} | {told['p50']:.0f}, {told['p99']:.0f} | "
                      f"{memory:.0f} | {written:.0f} |", flush=True)
                lines.append((tills, rate, switch, database))
            if replicas == 1:
                compare(lines, *inserts(estate, arguments.seconds))
        estate.remove()


if __name__ == "__main__":
    main()
