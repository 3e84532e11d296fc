# SPDX-License-Identifier: Apache-2.0
"""What a person does first: `make till` with its buttons, and the two steps of docs/integrating/gateway.md that pair a till."""
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

from playwright.sync_api import expect

from shop import BIN, PATIENCE, ROOT, TEXTS, Chromium, Shop, free_port, until
from till import Display, Till


def setUpModule():
    global browser
    browser = Chromium()
    unittest.addModuleCleanup(browser.close)


def running(session):
    """Programs of this session that have not ended."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(folder.name))
    return found


class MakeTill(unittest.TestCase):
    def setUp(self):
        # A shell that was started in the background ignores the signal, and all that it starts: a terminal's does not.
        self.bench = subprocess.Popen(
            [ROOT / "scripts/till.sh", BIN], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            env={name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")})
        self.addCleanup(self.end)
        said = ""
        while "Ctrl-C" not in said:
            line = self.bench.stdout.readline()
            self.assertTrue(line, said)
            said += line
        self.place = {name: re.search(rf"^{name} +(http://127\.0\.0\.1:\d+/\w*)$", said, re.MULTILINE)[1]
                      for name in ("till", "customer display", "virtual cards")}

    def end(self):
        for process in running(self.bench.pid):
            os.kill(process, signal.SIGKILL)
        self.bench.wait(20)
        self.bench.stdout.close()

    def window(self, context, name):
        page = context.new_page()
        page.goto(self.place[name])
        return page

    def test_a_till_that_pairs_itself_is_paid_with_a_press_and_all_of_it_ends_with_control_c(self):
        context = browser.browser.new_context(locale="en-GB")
        self.addCleanup(context.close)
        context.set_default_timeout(PATIENCE)
        cards, till, display = (self.window(context, name) for name in ("virtual cards", "till", "customer display"))
        till, display = Till(till), Display(display)
        # A new till begins with the tutorial.
        till.page.get_by_text(till.text("learn.done"), exact=True).click()
        expect(till.amount).to_be_visible()
        self.assertNotIn("code=", till.page.url + display.page.url)
        for amount, title in (("12.50", "approved"), ("12.51", "declined")):
            till.sell(amount)
            display.title("hold")
            for screen in (till, display):
                expect(screen.page.get_by_text(screen.text("test")).filter(visible=True).first).to_be_visible()
            cards.get_by_role("button", name="Card A").click()
            till.title(title)
            display.title(title)
            till.new()
        # The buttons are for this page alone.
        for headers in ({"Origin": "http://elsewhere.example"}, {}, {"Host": "elsewhere.example"}):
            request = urllib.request.Request(self.place["virtual cards"] + "cards/visa", b"", headers)
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=20)
            self.assertEqual(403, refused.exception.code)
        # As a terminal does it: everything in the foreground gets the signal.
        os.killpg(self.bench.pid, signal.SIGINT)
        self.assertEqual(0, self.bench.wait(30))
        self.assertEqual([], running(self.bench.pid))
        with self.assertRaises(OSError):
            urllib.request.urlopen(self.place["virtual cards"], timeout=5)


class FirstSteps(unittest.TestCase):
    """docs/integrating/gateway.md, "Two steps to the first sale": the second of them, with the command and the address as they stand there."""

    def test_the_command_as_the_book_has_it_and_the_address_that_it_prints_make_a_till(self):
        shop = Shop()
        self.addCleanup(shop.close)
        book = (ROOT / "docs/integrating/gateway.md").read_text()
        command, wanted = re.search(r"\$ sudo nfc-tap-gateway (pair.*)\n((?: +.+\n)+?) +```", book).groups()
        said = shop.run(BIN / "nfc-tap-gateway", *command.split(), "--runtime-directory", shop.folder / "gwrun")
        # The same words, but for the code and the port.
        plain = [re.sub(r"[0-9A-Z]{4}-[0-9A-Z]{4}|:\d+/", "", " ".join(text.split())) for text in (wanted, said)]
        self.assertEqual(*plain)
        window = browser.window()
        self.addCleanup(window.context.close)
        till = Till(window)
        window.goto(re.search(r"http://\S+", said)[0])
        window.get_by_text(till.text("learn.done"), exact=True).click()
        expect(till.amount).to_be_visible()
        till.sell("12.50")
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        shop.card("present", "visa")
        till.title("approved")


class Kiosk(unittest.TestCase):
    """systemd/nfc-tap-kiosk.service without systemd: its own command line, under a cage that has no screen."""

    #: The unit's user is nobody's here; cage refuses root.
    NOBODY = 65534

    def test_the_units_command_opens_a_paired_display_that_fills_the_screen(self):
        shop = Shop()
        self.addCleanup(shop.close)
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        run = pathlib.Path(folder.name)
        (run / "nfc-tap-kiosk-code").mkdir()
        (run / "nfc-tap-kiosk-code/url").write_text(
            shop.run(BIN / "nfc-tap-gateway", "--kiosk-url", "--lane", "main", "--runtime-directory", shop.folder / "gwrun"))
        unit = (ROOT / "systemd/nfc-tap-kiosk.service").read_text()
        port = free_port()
        line = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1].replace("%t", str(run)).replace(
            " --kiosk ", f" --kiosk --no-sandbox --disable-gpu --user-data-dir={run}/profile --remote-debugging-port={port} ")
        as_user = []
        if os.geteuid() == 0:
            as_user = ["setpriv", f"--reuid={self.NOBODY}", f"--regid={self.NOBODY}", "--clear-groups"]
            for path in (run, *run.rglob("*")):
                os.chown(path, self.NOBODY, self.NOBODY)
        kiosk = subprocess.Popen(
            as_user + shlex.split(line), cwd="/", start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={
                **os.environ, "HOME": str(run), "XDG_RUNTIME_DIR": str(run), "XDG_SESSION_TYPE": "wayland",
                "WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"})
        self.addCleanup(lambda: (os.killpg(kiosk.pid, signal.SIGKILL), kiosk.wait()))
        tills = lambda: shop.run(BIN / "nfc-tap-gateway", "tills", "--runtime-directory", shop.folder / "gwrun")  # noqa: E731
        until(lambda: "display-main\tdisplay" in tills(), 60)
        window = browser.playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
        page = window.contexts[0].pages[0]
        expect(page.get_by_role("heading")).to_have_text(TEXTS["en"]["welcome"])
        expect(page.get_by_text(TEXTS["en"]["test"])).to_be_visible()
        self.assertEqual(*page.evaluate("[[innerWidth, innerHeight], [screen.width, screen.height]]"))
        self.assertNotIn("code=", page.url)
        window.close()


if __name__ == "__main__":
    unittest.main()
