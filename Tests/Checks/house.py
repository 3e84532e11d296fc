# SPDX-License-Identifier: Apache-2.0
"""Home Assistant behind the broker of check-hub.py, with a component that writes down each `tag_scanned`.

Version 2024.3.3 is the last one for Python 3.11: make a venv for it, `pip install homeassistant==2024.3.3 paho-mqtt==1.6.1 janus==1.0.0
psutil-home-assistant==0.0.1 Pillow==10.2.0 home-assistant-frontend==20240307.0 SQLAlchemy==2.0.27 fnv-hash-fast==0.5.0 securetar==2024.2.1`, and give
check-hub.py its `bin/hass` with --house.
"""
import collections
import json
import pathlib
import subprocess
import time

from local import free_port, until

COMPONENT = '''
def setup(hass, config):
    def scanned(event):
        with open(hass.config.path("scanned"), "a") as file:
            file.write(event.data["tag_id"] + "\\n")
    hass.bus.listen("tag_scanned", scanned)
    return True
'''
CONFIGURATION = """
http:
  server_host: 127.0.0.1
  server_port: {port}
tag:
watcher:
logger:
  default: warning
  logs:
    homeassistant.components.mqtt: info
"""


class HomeAssistant:
    def __init__(self, folder, program, broker):
        self.folder = pathlib.Path(folder, "house")
        component = self.folder / "custom_components/watcher"
        component.mkdir(parents=True)
        (component / "__init__.py").write_text(COMPONENT)
        (component / "manifest.json").write_text(json.dumps({"domain": "watcher", "name": "Watcher", "version": "1.0.0", "dependencies": ["tag"]}))
        (self.folder / "configuration.yaml").write_text(CONFIGURATION.format(port=free_port()))
        (self.folder / ".storage").mkdir()
        entry = {"entry_id": "mqtt", "version": 1, "minor_version": 1, "domain": "mqtt", "title": "broker", "options": {}, "pref_disable_new_entities": False,
                 "pref_disable_polling": False, "source": "user", "unique_id": None, "disabled_by": None,
                 "data": {"broker": "127.0.0.1", "port": broker, "discovery": True}}
        (self.folder / ".storage/core.config_entries").write_text(
            json.dumps({"version": 1, "minor_version": 1, "key": "core.config_entries", "data": {"entries": [entry]}}))
        self.program = program
        self.start()

    def start(self):
        log = open(self.folder.parent / "house.log", "ab")
        self.process = subprocess.Popen([self.program, "-c", str(self.folder), "--skip-pip"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def scanned(self):
        """Each tag that it has scanned, in its order."""
        file = self.folder / "scanned"
        return file.read_text().split("\n")[:-1] if file.exists() else []

    def stop(self):
        self.process.kill()
        self.process.wait()


def watch(house, taps, outages):
    """Taps before a House of check-hub.py whose broker goes away again and again, and what Home Assistant made of them.

    While it listens each tap is scanned once. Of a tap while the broker is away it is once at most, and never once the tap's time is over.
    """
    home, dice, faults, tapped = house.home, house.dice, [], set()
    probes, listened, late, kept = 0, 0, 0, 0

    def scanned():
        return [tag for tag in home.scanned() if not tag.startswith("probe")]

    def listens():
        # Its subscriptions come a moment after its connection.
        nonlocal probes
        probes += 1
        house.client.publish("nfc-tap/door/tag", json.dumps({"id": f"probe-{probes}", "tag": f"probe-{probes}"}), qos=0)
        end = time.monotonic() + 1
        while time.monotonic() < end:
            if f"probe-{probes}" in home.scanned():
                return True
            time.sleep(0.02)
        return False

    until("Home Assistant", listens)
    for number in range(1, taps + 1):
        before = len(scanned())
        if number % (taps // outages) == 0:
            house.processes["broker"].terminate()
            house.processes["broker"].wait()
            tapped.add(house.tap("member-card")[1])
            is_late = dice.random() < 0.3
            # Longer than ttl-seconds: it opens no door any more.
            time.sleep(12 if is_late else dice.random() * 3)
            house.start("broker", "mosquitto", "-c", f"{house.folder}/mosquitto.conf")
            until("Home Assistant again", listens)
            time.sleep(2)
            found = len(scanned()) - before
            late, kept = late + is_late, kept + found
            if found > (0 if is_late else 1):
                faults.append(f"tap {number}, {'too late' if is_late else 'while the broker was away'}: scanned {found} times")
            if number % (4 * (taps // outages)) == 0:
                # What was retained would be scanned at a start.
                home.stop()
                home.start()
                until("Home Assistant's start", listens)
            continue
        state, id, _ = house.tap("member-card")
        tapped.add(id)
        if state != "completed":
            continue
        listened += 1
        try:
            until(f"tap {number}", lambda: len(scanned()) > before, 20)
        except RuntimeError:
            faults.append(f"tap {number}: not scanned")
    time.sleep(2)
    twice = len(scanned()) - listened - kept + sum("not scanned" in fault for fault in faults)
    if twice:
        again = {id: count for id, count in collections.Counter(tap["id"] for tap in house.heard).items() if count > 1}
        faults.append(f"{twice} scanned again; the check's own subscriber heard again {again}")
    faults += [f"not of a tap: {house.story(id)}" for id in house.ids(house.heard) - tapped if not id.startswith("probe")]
    print(f"Home Assistant: {listened} taps while it listened, each scanned once; {outages} outages, {late} of them longer than a tap is good for, "
          f"{kept} taps of the others scanned afterwards")
    return faults
