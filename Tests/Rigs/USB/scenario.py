# SPDX-License-Identifier: Apache-2.0
"""What check-guest.sh asks of the package in a machine with USB. Every line it prints was seen to hold."""

import argparse
import base64
import contextlib
import gzip
import json
import random
import subprocess
import sys
import time

from acr122u import Reader
from guest import Guest, GuestError
from keys import characters, outbox

POS = "/run/nfc-tap/pos.sock"


def say(text):
    print(f"check-guest: {text}", flush=True)


class Scenario:
    def __init__(self, options):
        self.options = options
        self.guest = Guest(
            options.work, options.guest + "/kernel", options.guest + "/initrd", options.guest + "/disk",
            options.package, options.accelerator)
        self.card = None

    # --- words

    def must(self, script, seconds=120):
        status, said = self.guest.run(script, seconds)
        if status:
            raise GuestError(f"`{script}` ended with {status}: {said}")
        return said

    def holds(self, script):
        return self.guest.run(script)[0] == 0

    def await_(self, seconds, what, condition):
        """Milliseconds until the condition held."""
        start = time.monotonic()
        while not condition():
            if time.monotonic() - start > seconds:
                raise GuestError(f"after {seconds} seconds {what}")
            time.sleep(0.02)
        return round((time.monotonic() - start) * 1000)

    def expect(self, is_true, what):
        if not is_true:
            raise GuestError(what)

    def lane(self):
        status, said = self.guest.run(f"curl --silent --max-time 5 --unix-socket {POS} http://localhost/v1/lanes/main")
        with contextlib.suppress(ValueError):
            return json.loads(said) if status == 0 else {}
        return {}

    def is_ready(self):
        return self.lane().get("state") == "ready"

    def node(self, vendor, product):
        """The device node of the reader with these ids, empty while udev has not dealt with it."""
        script = f"""
for device in /sys/bus/usb/devices/*; do
    [ "$(cat $device/idVendor 2>/dev/null):$(cat $device/idProduct 2>/dev/null)" = {vendor:04x}:{product:04x} ] || continue
    udevadm settle
    sed -n 's#^DEVNAME=#/dev/#p' $device/uevent
done"""
        return self.must(script)

    def await_node(self, vendor, product):
        self.await_(20, f"the kernel shows no {vendor:04x}:{product:04x}", lambda: self.node(vendor, product))
        return self.node(vendor, product)

    def rights(self, node):
        return self.must(f"stat -c '%U:%G %a' {node}")

    def pull(self, reader, vendor, product):
        reader.unplug()
        self.await_(10, "the kernel still shows the pulled reader", lambda: not self.node(vendor, product))

    def insert(self, reader, name):
        self.card = subprocess.Popen([self.options.card, name, str(reader.card.port)])

    def remove(self):
        self.card.terminate()
        self.card.wait()

    # --- steps

    def boot(self):
        start = time.monotonic()
        self.guest.boot(180)
        took = time.monotonic() - start
        self.await_(60, "systemd has not started everything", lambda: "running" in self.guest.run("systemctl is-system-running")[1])
        about = self.must("echo $(. /etc/os-release; echo $PRETTY_NAME), Linux $(uname -r), $(systemctl --version | sed -n 1p)")
        say(f"{about} is up after {took:.1f} s ({self.options.accelerator})")

    def install(self):
        # A unit of its own: an emulated processor on a busy machine takes minutes for it.
        self.must(
            f"head --bytes={self.options.package_size} /dev/vdb >/root/nfc-tap.deb && "
            "systemd-run --quiet --unit=install --property=RemainAfterExit=yes dpkg --install /root/nfc-tap.deb")
        state = "systemctl show --property=SubState --value install.service"
        self.await_(600, "the package is not installed", lambda: self.must(state) in ("exited", "failed"))
        self.expect(self.must(state) == "exited", self.guest.run("journalctl --no-pager -u install")[1])
        self.await_(30, "the daemon does not run", lambda: self.holds("systemctl is-active --quiet nfc-tapd.service"))
        self.expect(self.lane().get("state") == "detached", f"no reader is here, and the lane says {self.lane()}")
        self.must("udevadm control --ping")
        process = self.must("systemctl show --property=MainPID --value nfc-tapd.service")
        facts = self.must(f"""
grep -q '^NoNewPrivs:.1' /proc/{process}/status
grep -q '^Seccomp:.2' /proc/{process}/status
grep -q '^CapBnd:.0*$' /proc/{process}/status
[ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]
[ $(nsenter --target {process} --net -- ls /sys/class/net | grep -vc '^lo$') -le 1 ]
echo "exposure $(systemd-analyze security nfc-tapd.service 2>/dev/null | sed -n 's/.*: \\([0-9.]* [A-Z]*\\).*/\\1/p' | tail -n 1)," \\
    "$(awk '/^VmRSS/ {{ print int($2 / 1024) }}' /proc/{process}/status) MB resident"
""")
        say(f"the hardened unit runs the daemon: {facts}")
        self.must("systemctl start nfc-tap-psp-sandbox.service")

    def first_plug(self, reader):
        self.must("systemctl stop nfc-tapd.service")
        reader.plug()
        node = self.await_node(0x072F, 0x2200)
        self.expect(self.rights(node) == "root:root 660", f"the node of a reader for pcscd has {self.rights(node)}")
        known = self.must(f"udevadm info --query=property --name={node}; udevadm info --query=all --name={node} | grep '^E: CURRENT_TAGS'")
        self.expect("SYSTEMD_WANTS=nfc-tapd.service" in known, "udev does not want the daemon")
        current = known.rsplit("CURRENT_TAGS=", 1)[1]
        self.expect(":systemd:" in current and ":uaccess:" not in current, f"the node has the tags {current}")
        self.expect(not self.holds("lsmod | grep -q pn533"), "the kernel's NFC driver was loaded")
        took = self.await_(30, "the daemon was not started by udev", lambda: self.holds("systemctl is-active --quiet nfc-tapd.service"))
        say(f"ACR122U plugged: {node} is {self.rights(node)}, without uaccess, no kernel driver, the daemon started in {took} ms")
        took = self.await_(30, "the lane is not ready", self.is_ready)
        say(f"the lane is ready after {took} ms with \"{self.lane()['reader']['name']}\"")

    def tap(self, reader, amount):
        """A sale whose card comes when the lane waits for it: one that lies there before has to leave first."""
        self.must(
            "rm -f /run/sale.*; systemd-run --quiet --collect --unit=sale "
            f"sh -c 'nfc-tap pay {amount} EUR --json >/run/sale.json 2>/run/sale.log; touch /run/sale.end'")
        self.await_(30, "the lane does not wait for a card", lambda: "until" in self.lane().get("holder", {}))
        self.insert(reader, "visa")
        self.await_(90, "the sale has no end", lambda: self.holds("test -e /run/sale.end"))
        said = json.loads(self.must("cat /run/sale.json"))
        self.remove()
        self.expect(said["state"] == "approved", f"the sale is {said}")

    def pull_and_plug(self, reader):
        """A reader that nobody is using, pulled out and plugged in again."""
        self.expect(self.is_ready(), f"the lane says {self.lane()}")
        self.pull(reader, 0x072F, 0x2200)
        gone = self.await_(10, "the lane is not detached", lambda: self.lane().get("state") == "detached")
        self.expect(not self.holds("nfc-tap status --json | grep -q '\"ready\" *: *true'"), "the daemon is ready without a reader")
        reader.plug()
        self.await_node(0x072F, 0x2200)
        back = self.await_(15, "the lane is not ready again", self.is_ready)
        self.expect(self.must("systemctl show --property=NRestarts --value nfc-tapd.service") == "0", "the daemon was restarted")
        say(f"pulled out: the lane is detached after {gone} ms; plugged in: ready after {back} ms; the daemon ran on")

    def other_reader(self):
        """A CCID reader that our rules do not name, plugged and pulled by QEMU."""
        self.must("systemctl stop nfc-tapd.service nfc-tapd.socket")
        self.guest.ask("device_add", driver="usb-ccid", id="other", bus="xhci.0")
        self.guest.ask("device_add", driver="ccid-card-passthru", id="othercard", bus="other.0", chardev="card")
        node = self.await_node(0x08E6, 0x4433)
        known = self.must(f"udevadm info --query=property --name={node}")
        self.expect("nfc-tapd" not in known, "our rules touch a reader that they do not name")
        time.sleep(1)
        self.expect(not self.holds("systemctl is-active --quiet nfc-tapd.service"), "the daemon was started for another reader")
        self.guest.ask("device_del", id="other")
        self.await_(20, "the kernel still shows the pulled reader", lambda: not self.node(0x08E6, 0x4433))
        self.must("systemctl start nfc-tapd.socket nfc-tapd.service")
        say("08e6:4433 plugged and pulled by QMP: a reader that the rules do not name starts nothing")

    def libnfc_reader(self):
        reader = Reader(self.guest.usb, 0x04E6, 0x5591)
        reader.plug()
        node = self.await_node(0x04E6, 0x5591)
        rights = self.rights(node)
        self.expect(rights == "root:nfc-tapd 660", f"the node of a reader for libnfc has {rights}")
        self.expect(not self.holds("lsmod | grep -q pn533"), "the kernel's NFC driver was loaded")
        read = "systemd-run --quiet --wait --property=User=nfc-tapd --property=DevicePolicy=closed {} " \
            f"dd if={node} of=/dev/null bs=18 count=1 status=none"
        self.expect(not self.holds(read.format("")), "a unit without the drop-in opens a USB node")
        self.must(read.format("--property='DeviceAllow=char-usb_device rw'"))
        self.pull(reader, 0x04E6, 0x5591)
        say(f"SCL3711 plugged: {node} is {rights}, also after libnfc's own rules; only a unit with usb.conf's line opens it")

    def kernel_driver(self, reader):
        """The kernel's NFC driver takes the reader; the doctor says so and cures it."""
        self.must("systemctl stop nfc-tapd.service nfc-tapd.socket pcscd.service")
        self.pull(reader, 0x072F, 0x2200)
        self.must("modprobe pn533_usb")
        reader.plug()
        self.await_node(0x072F, 0x2200)
        taken = "ls -d /sys/bus/usb/drivers/pn533_usb/*:* >/dev/null"
        self.await_(20, "the kernel's driver does not take the reader", lambda: self.holds(taken))
        self.must("systemctl start nfc-tapd.socket nfc-tapd.service")
        self.expect(not self.is_ready(), "pcscd has the reader though the kernel's driver has it")
        status, said = self.guest.run("nfc-tap doctor")
        self.expect("pn533" in said, f"the doctor does not name the kernel's driver: {said}")
        self.guest.run("nfc-tap doctor --fix")
        self.expect(not self.holds("lsmod | grep -q pn533_usb"), "the doctor did not unload the kernel's driver")
        took = self.await_(30, "the lane is not ready after the cure", self.is_ready)
        say(f"the kernel's NFC driver had the reader: the doctor named it, --fix unloaded it, ready after {took} ms")

    def keyboard(self, layout, count):
        """What waits in the hub's outbox is typed, and read back from the kernel's input device."""
        dice = random.Random(layout)
        texts = ["".join(dice.choices("0123456789ABCDEFXYZxyz-", k=dice.randint(4, 14))) for _ in range(count)]
        packed = base64.b64encode(gzip.compress(outbox(texts).encode())).decode()
        self.must(f"""
systemctl stop nfc-tap-hub.service keys.service 2>/dev/null
modprobe uinput && modprobe evdev
echo 'KERNEL=="uinput", SUBSYSTEM=="misc", GROUP="nfc-tap-keyboard", MODE="0660", OPTIONS+="static_node=uinput"' >/etc/udev/rules.d/73-nfc-tap-keyboard.rules
udevadm control --reload && udevadm trigger --settle --sysname-match=uinput
install -D -m 0644 /usr/share/nfc-tap/keyboard.conf /etc/systemd/system/nfc-tap-hub.service.d/keyboard.conf
printf '[[output]]\nname = "counter"\nkind = "keyboard"\nlanes = ["none"]\nlayout = "{layout}"\nenter = true\nttl-seconds = 0\n' >/etc/nfc-tap/nfc-tap-hub.toml
install -d -m 0700 -o nfc-tap-hub -g nfc-tap-hub /var/lib/nfc-tap-hub
base64 --decode <<<{packed} | gunzip >/var/lib/nfc-tap-hub/counter.outbox
chown nfc-tap-hub:nfc-tap-hub /var/lib/nfc-tap-hub/counter.outbox
systemctl daemon-reload
""")
        rights = self.rights("/dev/uinput")
        self.expect(rights == "root:nfc-tap-keyboard 660", f"/dev/uinput is {rights}")
        # It is there before the first key.
        self.must("""
cat >/run/keys.sh <<'END'
while :; do
    for node in /sys/class/input/event*; do
        [ "$(cat $node/device/name 2>/dev/null)" = "nfc-tap counter" ] && exec cat /dev/input/${node##*/} >/run/keys
    done
    sleep 0.02
done
END
rm -f /run/keys
systemd-run --quiet --collect --unit=keys bash /run/keys.sh
systemctl start nfc-tap-hub.service
""")
        typed = lambda: int(self.must("stat -c %s /run/keys 2>/dev/null || echo 0"))
        self.await_(30, "the kernel has no keyboard", lambda: typed() > 0)
        start, before = time.monotonic(), -1
        while before != (before := typed()):
            time.sleep(2)
        took = time.monotonic() - start
        process = self.must("systemctl show --property=MainPID --value nfc-tap-hub.service")
        group = "echo $$ >/sys/fs/cgroup/system.slice/nfc-tap-hub.service/cgroup.procs"
        self.must(f"bash -c '{group}; exec 3>/dev/uinput'")
        for node in ("/dev/vda", "/dev/input/event0", "/dev/virtio-ports/shell"):
            self.expect(not self.holds(f"bash -c '{group}; exec 3<{node}'"), f"the unit opens {node}")
        self.must(f"[ $(readlink /proc/{process}/ns/net) != $(readlink /proc/1/ns/net) ]")
        self.must("systemctl stop nfc-tap-hub.service")
        said = characters(gzip.decompress(base64.b64decode(self.must("gzip --stdout /run/keys | base64 --wrap=0"))), layout)
        wrong = [pair for pair in zip(texts, said.split("\n")) if pair[0] != pair[1]]
        self.expect(said == "".join(text + "\n" for text in texts), f"{len(said)} characters were read, and {wrong[:3]} differ")
        say(f"keyboard {layout}: {count} texts typed in {took:.0f} s and read back equal; the unit opens /dev/uinput and no other device")

    def purge(self, reader):
        self.must("dpkg --purge nfc-tap")
        reader.plug()
        node = self.await_node(0x072F, 0x2200)
        self.expect("nfc-tapd" not in self.must(f"udevadm info --query=property --name={node}"), "the rules outlive the package")
        say("purged: a reader starts nothing any more")

    def run(self):
        self.boot()
        self.install()
        reader = Reader(self.guest.usb)
        self.first_plug(reader)
        start = time.monotonic()
        self.tap(reader, "12.50")
        say(f"a sale over USB, libccid, pcscd, daemon and adapter is approved ({time.monotonic() - start:.1f} s with starting the client)")
        self.pull_and_plug(reader)
        self.tap(reader, "12.50")
        say("and so is one after that")
        self.kernel_driver(reader)
        self.other_reader()
        self.pull(reader, 0x072F, 0x2200)
        self.libnfc_reader()
        for layout in ("us", "de"):
            self.keyboard(layout, 1_000)
        self.purge(reader)


def main():
    parser = argparse.ArgumentParser()
    for name in ("guest", "package", "package-size", "card", "accelerator", "work"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    scenario = None
    try:
        scenario = Scenario(options)
        scenario.run()
    except (GuestError, OSError) as error:
        say(f"FAILED: {error}")
        if scenario:
            with contextlib.suppress(GuestError, OSError):
                say(scenario.guest.run(
                    "journalctl --no-pager --lines=40 -u nfc-tapd -u pcscd -u systemd-udevd 2>&1; "
                    "journalctl --no-pager --lines=20 -k 2>&1")[1])
            with contextlib.suppress(OSError):
                say("console: " + open(scenario.guest.console, errors="replace").read()[-2000:])
        return 1
    finally:
        if scenario:
            if scenario.card and scenario.card.poll() is None:
                scenario.remove()
            scenario.guest.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
