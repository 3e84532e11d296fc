#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages: strace 6.1-* (Debian 12); sqlitedict 2.1.0, huey 2.5.2, diskcache 5.6.3, litequeue 0.9, persist-queue 0.8.1, tinydb 4.8.0 (PyPI)
#
# Guess: what a persistent queue or dictionary has taken is on the disk, at the latest with its commit; five of them are made of SQLite, whose
# commit waits for the disk. So a till's backend may write the key of a payment there before it sends the payment.
# What happens: sqlitedict, huey, diskcache and litequeue turn that off, or down, and the queue of files of persist-queue has none: each says
# that it is done and has asked the disk for nothing. After a power cut the key is gone, and the payment is asked for again under another
# one. huey does it with `fsync=True`. SQLite by itself, SQLiteQueue and TinyDB sync once and more; a commit of sqlitedict with `blocking` is
# no other.
#
# Seen (syncs while the second entry was taken and committed):
# > sqlite3: at least 1
# > sqlitedict.SqliteDict, commit(blocking=True): 0
# > huey.SqliteHuey: 0
# > huey.SqliteHuey, fsync=True: at least 1
# > diskcache.Index: 0
# > diskcache.Deque: 0
# > litequeue.LiteQueue: 0
# > persistqueue.Queue: 0
# > persistqueue.SQLiteQueue: at least 1
# > tinydb.TinyDB: at least 1
set -euo pipefail
script=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends strace python3-venv \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' strace) in 6.1-*) ;; *) echo "$(basename "$0"): another version of strace" >&2; exit 1 ;; esac
/usr/bin/python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check sqlitedict==2.1.0 huey==2.5.2 diskcache==5.6.3 litequeue==0.9 \
    persist-queue==0.8.1 tinydb==4.8.0
cd "$folder"

cat >store.py <<'PYTHON'
import os
import sqlite3
import sys

import diskcache
import huey
import litequeue
import persistqueue
import sqlitedict
import tinydb


def plain():
    books = sqlite3.connect("plain.db")
    books.execute("CREATE TABLE sent (payment TEXT)")

    def take(payment):
        books.execute("INSERT INTO sent VALUES (?)", (payment,))
        books.commit()
    return take


def dictionary():
    books = sqlitedict.SqliteDict("dictionary.db")

    def take(payment):
        books[payment] = "sent"
        books.commit(blocking=True)
    return take


def tasks(**more):
    books = huey.SqliteHuey(filename="tasks.db", **more)
    return books.task()(lambda payment: None)


def index():
    books = diskcache.Index("index")
    return lambda payment: books.update({payment: "sent"})


MAKERS = {
    "sqlite3": plain, "sqlitedict.SqliteDict, commit(blocking=True)": dictionary, "huey.SqliteHuey": tasks,
    "huey.SqliteHuey, fsync=True": lambda: tasks(fsync=True), "diskcache.Index": index,
    "diskcache.Deque": lambda: diskcache.Deque(directory="deque").append, "litequeue.LiteQueue": lambda: litequeue.LiteQueue("lite.db").put,
    "persistqueue.Queue": lambda: persistqueue.Queue("files").put,
    "persistqueue.SQLiteQueue": lambda: persistqueue.SQLiteQueue("queue", auto_commit=True).put,
    "tinydb.TinyDB": lambda: (lambda books: lambda payment: books.insert({"payment": payment}))(tinydb.TinyDB("tiny.json")),
}
take = MAKERS[sys.argv[1]]()
take("payment-1")
os.write(1, b"begin\n")
take("payment-2")
os.write(1, b"end\n")
os._exit(0)
PYTHON

while IFS= read -r name; do
    strace -f -o trace -e trace=fsync,fdatasync,write "$folder/venv/bin/python" store.py "$name" >/dev/null 2>errors || { cat errors >&2; exit 1; }
    awk -v name="$name" '/"begin/ { now = 1 } /"end/ { now = 0 } now && /(fsync|fdatasync)\(/ { syncs++ }
        END { print name ": " (syncs ? "at least 1" : 0) }' trace
done > now < <(sed -n 's/^# > \(.*\): .*/\1/p' "$script")

diff <(sed -n 's/^# > //p' "$script") now || { echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
