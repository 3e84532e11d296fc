#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages: mosquitto 2.0.11-1.2+deb12u* and mosquitto-clients (Debian 12); mqttools 0.50.0 (PyPI), an MQTT 5 client
#
# The messages: MQTT 5.0, OASIS. 3.3.2.3.7: a PUBLISH may have user properties, each of which is a UTF-8 string pair, a name and a value, by 2.2.2.2.
# 3.2.2.3.14: where CONNACK has a Server Keep Alive the client must use it in the place of its own.
# Guess: a client of MQTT 5 reads a property or leaves it out, and pings as often as the broker asks.
# What happens: it reads the name for the whole property and the value for the next one, calls the packet malformed and disconnects: what is published
# behind it is lost. A message with a property that is retained ends each new connection as soon as it subscribes, so that nothing else on that topic filter
# is heard again. The broker's keep alive is not looked at: who asked for 600 seconds and got 10 is cut off. mosquitto_sub hears all of it.
#
# Seen:
# > mosquitto_sub: 1 sold, 2 sold, 3 sold
# > mqttools: 1 sold, the end
# > connected again, subscribed, "4 sold" published: the end
# > without the retained message: 5 sold
# > a keep alive of 600 s, told 10 s by the broker: the end within 30 s
set -euo pipefail
folder=$(mktemp -d)
broker=
trap '[ -z "$broker" ] || kill "$broker" 2>/dev/null || true; rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mosquitto mosquitto-clients python3-venv \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' mosquitto) in 2.0.11-1.2+deb12u*) ;; *) echo "$(basename "$0"): another version of mosquitto" >&2; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check mqttools==0.50.0

port=$("$folder/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'listener %s 127.0.0.1\nallow_anonymous true\nmax_keepalive 10\n' "$port" >"$folder/broker.conf"
mosquitto -c "$folder/broker.conf" >"$folder/broker.log" 2>&1 &
broker=$!

"$folder/venv/bin/python" - "$port" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import asyncio
import socket
import subprocess
import sys
import time

from mqttools import Client
from mqttools.common import PropertyIds

port = int(sys.argv[1])
for _ in range(100):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        break
    except OSError:
        time.sleep(0.1)


def program(name, *words):
    return [f"mosquitto_{name}", "-V", "5", "-h", "127.0.0.1", "-p", str(port), "-t", "shop/sales", *words]


async def publish(*words):
    await asyncio.to_thread(subprocess.run, program("pub", *words), check=True)


PROPERTY = ("-D", "publish", "user-property", "source", "till-1")


async def hear(client, count=9):
    """What comes, up to so many messages, until "the end" where the connection ends or 30 seconds have passed."""
    heard = []
    try:
        while len(heard) < count and heard[-1:] != ["the end"]:
            message = await asyncio.wait_for(client.messages.get(), 30)
            heard.append("the end" if message is None else message.message.decode())
    except asyncio.TimeoutError:
        pass
    return ", ".join(heard) or "nothing"


async def connected(**options):
    client = Client("127.0.0.1", port, subscriptions=["shop/#"], connect_delays=[], **options)
    await client.start()
    return client


async def main():
    other = subprocess.Popen(program("sub", "-C", "3"), stdout=subprocess.PIPE, text=True)
    await asyncio.sleep(1)
    client = await connected()
    await publish("-m", "1 sold")
    await publish("-r", "-m", "2 sold", *PROPERTY)
    await publish("-m", "3 sold")
    print("mosquitto_sub:", ", ".join(other.communicate(timeout=10)[0].split("\n")).rstrip(", "))
    print("mqttools:", await hear(client))
    client = await connected()
    await publish("-m", "4 sold")
    print('connected again, subscribed, "4 sold" published:', await hear(client))
    await publish("-r", "-n")
    client = await connected()
    await publish("-m", "5 sold")
    print("without the retained message:", await hear(client, 1))
    client = await connected(keep_alive_s=600)
    told = client._connack[2][PropertyIds.SERVER_KEEP_ALIVE]
    print(f"a keep alive of 600 s, told {told} s by the broker:", await hear(client), "within 30 s")


asyncio.run(main())
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
