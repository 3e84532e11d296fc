#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): amqtt 0.12.1 (a broker in Python), paho-mqtt 2.2.0
#
# Guess: a session lasts because its client asked for it (clean session 0) and the broker said so; how the client logged in is
# another matter. A message has at most the QoS it was published with.
# What happens: with a password the till that was away gets what was published meanwhile. Without one, which is how such a broker is tried
# out, its session is gone, its subscription too, and the hub's five messages of QoS 1 were acknowledged all the same. To a
# subscription of QoS 2 each message goes out with QoS 2, one that was published with 0 too.
#
# Seen:
# > password: 5 of 5 messages acknowledged; the till comes back: session present True, received 1 2 3 4 5; then live 6
# > anonymous: 5 of 5 messages acknowledged; the till comes back: session present False, received nothing; then live nothing
# > published with QoS 0 1 2, subscribed with 2, received with QoS 2 2 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check amqtt==0.12.1 paho-mqtt==2.2.0

"$folder/venv/bin/python" - "$folder" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import asyncio
import logging
import socket
import sys
import threading
import time

import paho.mqtt.client as mqtt
from amqtt.broker import Broker
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

logging.disable(logging.CRITICAL)
passwords = f"{sys.argv[1]}/passwords"
with open(passwords, "w") as file:
    file.write("shop:" + PasswordHash((Argon2Hasher(),)).hash("secret") + "\n")


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


def broker(plugin, settings):
    """A broker on a port of its own, in a thread of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ready = threading.Event()

    async def run():
        await Broker(
            {
                "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
                "plugins": {f"amqtt.plugins.authentication.{plugin}": settings},
            }
        ).start()
        ready.set()
        await asyncio.Event().wait()

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    ready.wait(60)
    return port


class Client(mqtt.Client):
    def __init__(self, port, name, user, lasting=False):
        super().__init__(mqtt.CallbackAPIVersion.VERSION2, name, clean_session=not lasting)
        self.received, self.subscribed, self.present = [], [], None
        if user:
            self.username_pw_set(user, "secret")
        self.on_connect = lambda client, data, flags, *more: setattr(self, "present", flags.session_present)
        self.on_subscribe = lambda *more: self.subscribed.append(1)
        self.on_message = lambda client, data, message: self.received.append(message)
        self.connect("127.0.0.1", port)
        self.loop_start()
        until(lambda: self.present is not None)

    def listen(self, topic, qos):
        self.subscribe(topic, qos)
        until(lambda: self.subscribed)

    def leave(self):
        self.disconnect()
        until(lambda: not self.is_connected())
        self.loop_stop()
        # The broker has no word for "I have seen it": a second is long for it.
        time.sleep(1)

    def say(self, topic, text, qos=1):
        sent = self.publish(topic, text, qos)
        sent.wait_for_publish(60)
        return sent.is_published()


def words(client):
    return " ".join(message.payload.decode() for message in client.received) or "nothing"


for title, user, plugin, settings in (
    ("password", "shop", "FileAuthPlugin", {"password_file": passwords}),
    ("anonymous", None, "AnonymousAuthPlugin", {"allow_anonymous": True}),
):
    port = broker(plugin, settings)
    hub, till = Client(port, "hub", user), Client(port, "till", user, lasting=True)
    till.listen("sales", 1)
    till.leave()
    acknowledged = sum(hub.say("sales", str(number)) for number in range(1, 6))
    till = Client(port, "till", user, lasting=True)
    until(lambda: len(till.received) == 5, 5)
    back = words(till)
    till.received.clear()
    hub.say("sales", "6")
    until(lambda: till.received, 5)
    print(f"{title}: {acknowledged} of 5 messages acknowledged; the till comes back: session present {till.present}, received {back}; then live {words(till)}")
other = Client(port, "other", user)
other.listen("levels", 2)
for qos in (0, 1, 2):
    hub.say("levels", str(qos), qos)
until(lambda: len(other.received) == 3)
print(f"published with QoS {words(other)}, subscribed with 2, received with QoS", " ".join(str(message.qos) for message in other.received))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
