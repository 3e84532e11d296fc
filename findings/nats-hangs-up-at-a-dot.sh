#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages: nats-server 2.9.10-1+b3 (Debian 12), which is an MQTT 3.1.1 broker as well; paho-mqtt 2.2.0 (PyPI)
#
# Guess: a topic may have any letter but wildcards and NUL (MQTT 3.1.1, 4.7), and what a broker does not take it refuses once. Who
# subscribes to # gets everything but what begins with $ (4.7.2).
# What happens: at a topic with a dot or a blank the broker hangs up. The client, which has no acknowledgement, comes again and sends
# the same message, for ever, and nothing behind it goes out: a till or a door that is named door.1 stops all. Nobody tells it why;
# the reason stands in the server's log. Who listens to # hears the server's inside, sessions and acknowledgements of all clients
# among it. A star in a topic, retained messages and wildcards are as they should be.
#
# Seen:
# > shop/door/tag: acknowledged, heard as shop/door/tag
# > shop/door.1/tag: not acknowledged, connections 3 of 3 ended, heard nothing
# > shop/door 1/tag: not acknowledged, connections 3 of 3 ended, heard nothing
# > shop/door*/tag: acknowledged, heard as shop/door*/tag
# > retained under shop/door/state: shop/door/state gets it, shop/+/state it, shop/# it
# > a listener to # heard topics under: $JS, $MQTT, shop
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
# Nothing is started by the installation.
policy=/usr/sbin/policy-rc.d
[ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod 755 "$policy"; trap 'rm -rf "$folder" "$policy"' EXIT; }
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nats-server python3-venv \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
[ "$(dpkg-query -W -f '${Version}' nats-server)" = 2.9.10-1+b3 ] || { echo "$(basename "$0"): another version of nats-server" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check paho-mqtt==2.2.0
cat >"$folder/nats.conf" <<CONF
server_name: rig
listen: 127.0.0.1:4222
jetstream { store_dir: "$folder/books" }
mqtt { listen: "127.0.0.1:1883" }
CONF

# A network and a process space of its own: the ports are free, and nothing is left running.
timeout -s KILL 300 unshare -n -p -f --kill-child "$folder/venv/bin/python" - "$folder" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import fcntl
import socket
import struct
import subprocess
import sys
import time

import paho.mqtt.client as mqtt

# The network namespace is new: switch its loopback interface on (SIOCSIFFLAGS, IFF_UP).
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as interface:
    fcntl.ioctl(interface, 0x8914, struct.pack("16sh22x", b"lo", 1))

folder = sys.argv[1]
with open(f"{folder}/output", "w") as output:
    subprocess.Popen(["nats-server", "-c", f"{folder}/nats.conf"], stdout=output, stderr=output)


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


class Client(mqtt.Client):
    def __init__(self, name):
        super().__init__(mqtt.CallbackAPIVersion.VERSION2, name)
        self.connected, self.ended, self.subscribed, self.heard = 0, 0, 0, []
        self.on_connect, self.on_disconnect, self.on_subscribe = self.came, self.went, self.listens
        self.on_message = lambda client, data, message: self.heard.append(message.topic)
        self.reconnect_delay_set(1, 1)
        until(self.reaches)
        self.loop_start()
        until(lambda: self.connected)

    def reaches(self):
        try:
            return self.connect("127.0.0.1", 1883) == mqtt.MQTT_ERR_SUCCESS
        except OSError:
            return False

    def came(self, *_):
        self.connected += 1

    def went(self, *_):
        self.ended += 1

    def listens(self, *_):
        self.subscribed += 1

    def listen(self, topic):
        count = self.subscribed
        self.subscribe(topic, 1)
        until(lambda: self.subscribed > count)

    def leave(self):
        self.disconnect()
        self.loop_stop()


shop, house = Client("shop"), Client("house")
shop.listen("shop/#")
house.listen("#")
for number, topic in enumerate(("shop/door/tag", "shop/door.1/tag", "shop/door 1/tag", "shop/door*/tag")):
    hub, count = Client(f"hub {number}"), len(shop.heard)
    message = hub.publish(topic, "1", 1)
    until(lambda: message.is_published() or hub.ended >= 3)
    if message.is_published():
        until(lambda: len(shop.heard) > count)
        print(f"{topic}: acknowledged, heard as {shop.heard[-1]}")
    else:
        heard = shop.heard[count:] or "nothing"
        print(f"{topic}: not acknowledged, connections {hub.ended} of {hub.ended} ended, heard {heard}")
    hub.leave()
hub = Client("hub")
hub.publish("shop/door/state", "online", 1, True).wait_for_publish(60)
answers = []
for number, topic in enumerate(("shop/door/state", "shop/+/state", "shop/#")):
    late = Client(f"late {number}")
    late.listen(topic)
    got = until(lambda: "shop/door/state" in late.heard, 10)
    answers.append(f"{topic} {'gets ' if number == 0 else ''}{'it' if got else 'nothing'}")
    late.leave()
print("retained under shop/door/state:", ", ".join(answers))
print("a listener to # heard topics under:", ", ".join(sorted({topic.split("/")[0] for topic in house.heard})))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
