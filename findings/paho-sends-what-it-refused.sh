#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: mosquitto 2.0.11-1.2+deb12u* (Debian 12); paho-mqtt 2.2.0, aiomqtt 2.5.1 (PyPI)
#
# Guess: a message that the client library refuses with an error is not sent. Who orders a payment over MQTT and gets an error may order it
# again.
# What happens: without a connection `publish` returns error 4 and `wait_for_publish` raises "Message publish failed", and a message of
# QoS 1 or 2 is kept all the same and sent at the next connection. aiomqtt raises "Operation timed out" when the broker is late, and the
# message has been sent. Whoever tries again after the error orders twice; only QoS 0 is as refused as it says.
#
# Seen:
# > paho, QoS 0, broker away: 4 The client is not currently connected.; wait_for_publish: RuntimeError
# > paho, QoS 1, broker away: 4 The client is not currently connected.; wait_for_publish: RuntimeError
# > paho, QoS 2, broker away: 4 The client is not currently connected.; wait_for_publish: RuntimeError
# > received after the broker is back: order of QoS 1, order of QoS 2
# > aiomqtt, QoS 1, broker late: MqttError Operation timed out
# > received: order by aiomqtt
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mosquitto python3-venv \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' mosquitto) in 2.0.11-1.2+deb12u*) ;; *) echo "$(basename "$0"): another version of mosquitto" >&2; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check paho-mqtt==2.2.0 aiomqtt==2.5.1
port=$(python3 -c 'import socket; line = socket.create_server(("127.0.0.1", 0)); print(line.getsockname()[1])')
printf 'listener %s 127.0.0.1\nallow_anonymous true\n' "$port" >"$folder/broker.conf"

"$folder/venv/bin/python" - "$port" "$folder/broker.conf" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import asyncio
import signal
import socket
import subprocess
import sys
import time

import aiomqtt
import paho.mqtt.client as mqtt

PORT = int(sys.argv[1])


def until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


def broker():
    made = subprocess.Popen(["mosquitto", "-c", sys.argv[2]], stderr=subprocess.DEVNULL)
    while True:
        try:
            socket.create_connection(("127.0.0.1", PORT)).close()
            return made
        except OSError:
            time.sleep(0.05)


running = broker()
hub = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "hub")
hub.reconnect_delay_set(1, 1)
acknowledged = []
hub.on_publish = lambda client, data, number, *more: acknowledged.append(number)
hub.connect("127.0.0.1", PORT)
hub.loop_start()
until(hub.is_connected)
running.terminate()
running.wait()
until(lambda: not hub.is_connected())
for qos in (0, 1, 2):
    # Retained, so that it does not matter who is back first, the hub or the till.
    sent = hub.publish(f"orders/{qos}", f"order of QoS {qos}", qos, retain=True)
    try:
        sent.wait_for_publish(60)
        waited = "done"
    except RuntimeError as error:
        waited = type(error).__name__
    print(f"paho, QoS {qos}, broker away: {sent.rc} {mqtt.error_string(sent.rc)}; wait_for_publish: {waited}")
running = broker()
until(lambda: len(acknowledged) == 2)
received = []
till = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "till")
till.on_message = lambda client, data, message: received.append(message.payload.decode())
till.on_connect = lambda client, *more: client.subscribe("orders/#", 2)
till.connect("127.0.0.1", PORT)
till.loop_start()
until(lambda: len(received) >= 2)
print("received after the broker is back:", ", ".join(sorted(received)))
for one in (till, hub):
    one.disconnect()
    one.loop_stop()


async def late():
    async with aiomqtt.Client("127.0.0.1", PORT, identifier="late hub") as hub, aiomqtt.Client("127.0.0.1", PORT, identifier="late till") as till:
        await till.subscribe("late", qos=1)
        # A broker that is stopped for a while: it is there, and answers nothing.
        running.send_signal(signal.SIGSTOP)
        try:
            await hub.publish("late", "order by aiomqtt", qos=1, timeout=2)
            print("aiomqtt, QoS 1, broker late: done")
        except aiomqtt.MqttError as error:
            print(f"aiomqtt, QoS 1, broker late: {type(error).__name__} {error}")
        running.send_signal(signal.SIGCONT)
        message = await asyncio.wait_for(anext(aiter(till.messages)), 120)
        print("received:", message.payload.decode())


asyncio.run(late())
running.terminate()
running.wait()
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
