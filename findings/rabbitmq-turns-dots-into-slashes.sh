#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages: rabbitmq-server 3.10.8-1.1+deb12u* (Debian 12) with its MQTT plugin; paho-mqtt 2.2.0 (PyPI)
#
# Guess: a broker delivers a message under the topic it was published with, and a new subscriber gets the retained messages of all topics
# that it subscribes to, wildcards among them.
# What happens: a dot arrives as a slash. A till named by its host, `shop/till.example/sale`, is heard as `shop/till/example/sale`, and so
# is a level deeper than those who count levels expect; `shop/1.5/sale` is heard by who listens to `shop/1/5/sale`. A `*` arrives as `+`,
# which MQTT forbids in a topic. Retained messages come to who subscribes to the very topic, and to no wildcard, so that whoever
# waits for the states under `shop/#` waits for the next change.
#
# Seen:
# > published shop/till.example/sale: shop/+/sale gets nothing; shop/# gets shop/till/example/sale
# > published shop/1.5/sale: shop/1/5/sale gets shop/1/5/sale; shop/1.5/sale gets shop/1/5/sale
# > published shop/a*/sale: shop/# gets shop/a+/sale
# > retained under state/till: state/till gets it, state/+ nothing, state/# nothing, # nothing
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
# Nothing is started by the installation.
policy=/usr/sbin/policy-rc.d
[ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod 755 "$policy"; trap 'rm -rf "$folder" "$policy"' EXIT; }
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends rabbitmq-server python3-venv \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
case $(dpkg-query -W -f '${Version}' rabbitmq-server) in 3.10.8-1.1+deb12u*) ;; *) echo "$(basename "$0"): another version of rabbitmq" >&2; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check paho-mqtt==2.2.0
mkdir "$folder/broker"
printf '[rabbitmq_mqtt].\n' >"$folder/broker/plugins"
printf 'listeners.tcp.local = 127.0.0.1:5672\nmqtt.listeners.tcp.1 = 127.0.0.1:1883\n' >"$folder/broker/rabbitmq.conf"
chmod 755 "$folder"
chown -R rabbitmq "$folder/broker"

# A network and a process space of its own: the ports are free, and nothing is left running.
timeout -s KILL 600 unshare -n -p -f --kill-child "$folder/venv/bin/python" - "$folder/broker" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import fcntl
import os
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
os.environ.update(
    HOME=folder,
    RABBITMQ_NODENAME="rig@127.0.0.1",
    RABBITMQ_USE_LONGNAME="true",
    RABBITMQ_MNESIA_BASE=f"{folder}/books",
    RABBITMQ_LOG_BASE=f"{folder}/logs",
    RABBITMQ_ENABLED_PLUGINS_FILE=f"{folder}/plugins",
    RABBITMQ_CONFIG_FILE=f"{folder}/rabbitmq",
)
with open(f"{folder}/output", "w") as output:
    subprocess.Popen(["/usr/lib/rabbitmq/bin/rabbitmq-server"], stdout=output, stderr=output)


def until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


def is_up():
    try:
        socket.create_connection(("127.0.0.1", 1883)).close()
        return True
    except OSError:
        return False


class Client(mqtt.Client):
    def __init__(self, name):
        super().__init__(mqtt.CallbackAPIVersion.VERSION2, name)
        self.received, self.subscribed = [], []
        self.username_pw_set("guest", "guest")
        self.on_message = lambda client, data, message: self.received.append(message.topic)
        self.on_subscribe = lambda *more: self.subscribed.append(1)
        self.connect("127.0.0.1", 1883)
        self.loop_start()
        until(self.is_connected)

    def listen(self, topic):
        count = len(self.subscribed)
        self.subscribe(topic, 1)
        until(lambda: len(self.subscribed) > count)


def publish(topic, retain=False):
    hub.publish(topic, "1", 1, retain).wait_for_publish(120)


def heard(topic, filters):
    """What one listener each hears until a last message that all of them wait for has come."""
    listeners = []
    for text in filters:
        listener = Client(f"listener {len(names)}")
        names.append(text)
        listener.listen("end")
        listener.listen(text)
        listeners.append(listener)
    if topic:
        publish(topic)
    publish("end")
    answers = []
    for text, listener in zip(filters, listeners):
        until(lambda: "end" in listener.received)
        answers.append(" ".join(name for name in listener.received if name != "end") or "nothing")
        listener.disconnect()
        listener.loop_stop()
    return answers


until(is_up, 300)
names = []
hub = Client("hub")
for topic, filters in (
    ("shop/till.example/sale", ["shop/+/sale", "shop/#"]),
    ("shop/1.5/sale", ["shop/1/5/sale", "shop/1.5/sale"]),
    ("shop/a*/sale", ["shop/#"]),
):
    answers = heard(topic, filters)
    print(f"published {topic}:", "; ".join(f"{text} gets {answer}" for text, answer in zip(filters, answers)))
publish("state/till", True)
answers = ["it" if answer == "state/till" else answer for answer in heard(None, ["state/till", "state/+", "state/#", "#"])]
print(f"retained under state/till: state/till gets {answers[0]}, state/+ {answers[1]}, state/# {answers[2]}, # {answers[3]}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
