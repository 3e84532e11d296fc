#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: mosquitto 2.0.11-1.2+deb12u* (Debian 12); paho-mqtt 2.2.0 (PyPI)
#
# Guess: what a broker has acknowledged at QoS 1 reaches each subscriber with a session that lasts, or the acknowledgement says otherwise; a
# full queue loses its oldest message; a will is sent whenever a connection ends without DISCONNECT.
# What happens: with the settings it is shipped with, the broker keeps the first 1,000 messages for a till that is away and throws the
# newer ones away, and acknowledges each of them with Success, MQTT 5 included: the till comes back to an old state and
# misses the sales since. A client with a lasting session that another one of its name pushes out leaves no will, in both versions.
#
# Seen:
# > MQTT 3.1.1: 1200 messages acknowledged: Success 1200; received later: 1 to 1000
# > MQTT 5: 1200 messages acknowledged: Success 1200; received later: 1 to 1000
# > MQTT 3.1.1, clean session, pushed out: will sent
# > MQTT 3.1.1, lasting session, pushed out: no will
# > MQTT 3.1.1, lasting session, connection cut: will sent
# > MQTT 5, lasting session, pushed out: no will
set -euo pipefail
folder=$(mktemp -d)
broker=
trap '[ -z "$broker" ] || kill "$broker" 2>/dev/null || true; rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mosquitto python3-venv \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' mosquitto) in 2.0.11-1.2+deb12u*) ;; *) echo "$(basename "$0"): another version of mosquitto" >&2; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check paho-mqtt==2.2.0
port=$(python3 -c 'import socket; line = socket.create_server(("127.0.0.1", 0)); print(line.getsockname()[1])')
printf 'listener %s 127.0.0.1\nallow_anonymous true\n' "$port" >"$folder/broker.conf"
mosquitto -c "$folder/broker.conf" >"$folder/broker.log" 2>&1 &
broker=$!

"$folder/venv/bin/python" - "$port" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import collections
import sys
import time

import paho.mqtt.client as mqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


def client(name, version, lasting=False, will=False, on_message=None):
    made = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, name, protocol=version, clean_session=None if version == 5 else not lasting)
    if will:
        made.will_set("state", "gone", qos=1)
    made.on_message = on_message
    made.on_disconnect = lambda *words: made.loop_stop() if will else None
    more = {}
    if version == 5:
        more = {"clean_start": not lasting, "properties": Properties(PacketTypes.CONNECT)}
        if lasting:
            more["properties"].SessionExpiryInterval = 3600
    for _ in range(100):
        try:
            made.connect("127.0.0.1", int(sys.argv[1]), **more)
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    made.loop_start()
    until(made.is_connected)
    return made


def subscribe(made, topic):
    done = []
    made.on_subscribe = lambda *words: done.append(1)
    made.subscribe(topic, 1)
    until(lambda: done)


def leave(made):
    made.disconnect()
    until(lambda: not made.is_connected())
    made.loop_stop()


def quiet(received):
    count = -1
    while count != len(received):
        count = len(received)
        time.sleep(2)


for title, version in (("MQTT 3.1.1", 4), ("MQTT 5", 5)):
    till = client(f"till {version}", version, lasting=True)
    subscribe(till, "sales")
    leave(till)
    hub, answers = client(f"hub {version}", version), []
    hub.on_publish = lambda client, data, number, reason, properties: answers.append(str(reason))
    for number in range(1, 1201):
        hub.publish("sales", str(number), 1)
    until(lambda: len(answers) == 1200)
    leave(hub)
    received = []
    till = client(f"till {version}", version, lasting=True, on_message=lambda client, data, message: received.append(int(message.payload)))
    until(lambda: received)
    quiet(received)
    leave(till)
    counts = ", ".join(f"{reason} {count}" for reason, count in collections.Counter(answers).items())
    whole = received == list(range(received[0], received[-1] + 1))
    print(f"{title}: 1200 messages acknowledged: {counts}; received later: {received[0]} to {received[-1]}{'' if whole else ' with gaps'}")

wills = []
watch = client("watch", 4, on_message=lambda client, data, message: wills.append(message.payload))
subscribe(watch, "state")
for title, version, lasting, cut in (
    ("MQTT 3.1.1, clean session, pushed out", 4, False, False),
    ("MQTT 3.1.1, lasting session, pushed out", 4, True, False),
    ("MQTT 3.1.1, lasting session, connection cut", 4, True, True),
    ("MQTT 5, lasting session, pushed out", 5, True, False),
):
    wills.clear()
    first = client("one name", version, lasting, will=True)
    second = None
    if cut:
        first.loop_stop()
        first.socket().close()
    else:
        second = client("one name", version, lasting)
    until(lambda: wills, 10)
    print(f"{title}: {'will sent' if wills else 'no will'}")
    if second:
        leave(second)
leave(watch)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
