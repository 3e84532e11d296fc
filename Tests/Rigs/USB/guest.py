# SPDX-License-Identifier: Apache-2.0
"""A machine in QEMU: its serial console goes to a file, a root shell is behind a virtio port, devices come by QMP."""

import base64
import json
import os
import socket
import subprocess
import time


class GuestError(Exception):
    pass


class Guest:
    def __init__(self, folder, kernel, initrd, disk, package, accelerator):
        self.folder = folder
        self.console = os.path.join(folder, "console")
        self.usb = os.path.join(folder, "usb.sock")
        places = {name: os.path.join(folder, name + ".sock") for name in ("shell", "qmp", "card")}
        processor = "max" if accelerator == "tcg" else "host"
        command = [
            "qemu-system-x86_64", "-M", "q35", "-accel", accelerator, "-cpu", processor, "-m", "768", "-smp", "1",
            "-display", "none", "-no-reboot", "-nic", "none", "-serial", "file:" + self.console,
            "-kernel", kernel, "-initrd", initrd,
            "-append", "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on",
            "-drive", f"file={disk},format=raw,if=virtio,snapshot=on",
            "-drive", f"file={package},format=raw,if=virtio,readonly=on",
            "-device", "qemu-xhci,id=xhci",
            "-device", "virtio-serial", "-chardev", f"socket,id=shell,path={places['shell']},server=on,wait=off",
            "-device", "virtserialport,chardev=shell,name=shell",
            "-chardev", f"socket,id=usb,path={self.usb},server=on,wait=off",
            "-device", "usb-redir,id=redirected,chardev=usb,bus=xhci.0",
            "-chardev", f"socket,id=card,path={places['card']},server=on,wait=off",
            "-qmp", f"unix:{places['qmp']},server=on,wait=off",
        ]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        self.shell = self.connect(places["shell"])
        self.qmp = self.connect(places["qmp"]).makefile("rw", encoding="utf-8")
        self.qmp.readline()
        self.ask("qmp_capabilities")
        self.number, self.buffer = 0, b""

    def connect(self, path):
        for _ in range(200):
            if self.process.poll() is not None:
                raise GuestError(f"QEMU ended with {self.process.returncode}")
            try:
                stream = socket.socket(socket.AF_UNIX)
                stream.connect(path)
                return stream
            except OSError:
                stream.close()
                time.sleep(0.05)
        raise GuestError(f"QEMU made no {path}")

    def ask(self, command, **arguments):
        """One QMP command; events that come meanwhile are not needed."""
        self.qmp.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.qmp.flush()
        for line in self.qmp:
            answer = json.loads(line)
            if "error" in answer:
                raise GuestError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise GuestError("QMP ended")

    def line(self, seconds):
        deadline = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            self.shell.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                part = self.shell.recv(65536)
            except TimeoutError:
                raise GuestError(f"the guest said nothing for {seconds} seconds") from None
            if not part:
                raise GuestError("the guest is gone")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def boot(self, seconds):
        while self.line(seconds) != "guest is up":
            pass

    def run(self, script, seconds=120):
        """Exit status and output of a script for bash, as root."""
        self.number += 1
        self.shell.sendall(f"{self.number} {base64.b64encode(script.encode()).decode()}\n".encode())
        while True:
            words = self.line(seconds).split(" ")
            if words[0] == str(self.number):
                return int(words[1]), base64.b64decode(words[2]).decode(errors="replace").rstrip("\n")

    def stop(self):
        if self.process.poll() is None:
            try:
                self.shell.sendall(f"0 {base64.b64encode(b'systemctl poweroff').decode()}\n".encode())
                self.process.wait(20)
            except (OSError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
