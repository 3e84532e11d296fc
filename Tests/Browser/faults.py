# SPDX-License-Identifier: Apache-2.0
"""Gateway, daemon and payment service die in every state of a sale, answers are lost, windows are reloaded: the screens say so, come
back by themselves, and nobody is charged twice or told of money that did not come."""
import re
import tempfile
import unittest

from playwright.sync_api import expect

from shop import ROOT, TEXTS, Chromium, Shop, until
from till import CASHIER, GREENS, Display, Till, settled


def setUpModule():
    global shop, browser, cashier, customer
    shop = Shop(sandbox=("--slow-seconds", "3"))
    unittest.addModuleCleanup(shop.close)
    browser = Chromium()
    unittest.addModuleCleanup(browser.close)
    cashier, customer = browser.paired(Till, shop), browser.paired(Display, shop)


class Faults(unittest.TestCase):
    def setUp(self):
        self.before = len(shop.booked())
        self.addCleanup(shop.rest)
        self.window = browser.window(cashier)
        self.addCleanup(self.window.context.close)
        self.till = Till(self.window).open(shop.home)

    def display(self):
        window = browser.window(customer)
        self.addCleanup(window.context.close)
        window.goto(f"{shop.home}/display/")
        return Display(window)

    def reach(self, state):
        """Leads the till to this state; `authorising` stays for three seconds."""
        till = self.till
        if state == "compose":
            till.enter("12.50")
            return
        till.confirm("12.97" if state == "authorising" else "12.50")
        if state == "confirm":
            return
        till.press("till.card")
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        expect(till.button("till.cancel")).to_be_visible()
        if state == "armed":
            return
        shop.card("present", "visa")
        if state == "authorising":
            till.shows("till.authorising")
            return
        till.title("approved")

    def offline(self):
        return self.till.page.get_by_text(TEXTS["en"]["till.offline"]).filter(visible=True)

    def new(self):
        return len(shop.booked()) - self.before

    def test_the_gateway_dies_and_comes_back_in_every_state(self):
        for state in ("compose", "confirm", "armed", "authorising", "approved"):
            with self.subTest(state):
                self.before = len(shop.booked())
                self.till.open(shop.home)
                self.reach(state)
                shop.kill("gateway")
                expect(self.offline().first).to_be_visible()
                # Nothing that would send stands open while nobody listens.
                for key in ("till.card", "till.again", "till.newSale"):
                    buttons = self.till.button(key)
                    if state in ("armed", "authorising") and buttons.count():
                        expect(buttons.first).to_be_disabled()
                shop.start("gateway")
                expect(self.offline()).to_have_count(0)
                if state == "authorising":
                    self.till.title("approved")
                if state in ("authorising", "approved"):
                    self.assertEqual((1, "approved"), (self.new(), shop.last()["state"]))
                    self.till.new()
                elif state == "armed":
                    # Back within two seconds the sale goes on; later the daemon has called it off. The till says which.
                    if shop.last()["state"] == "armed":
                        shop.card("present", "visa")
                    last = settled(shop)
                    self.assertEqual(1, self.new())
                    expect(self.till.button("till.newSale")).to_be_visible()
                    self.assertEqual(last["state"] == "approved", self.till.says("approved"))
                    self.till.new()
                else:
                    self.assertEqual(0, self.new())
                shop.card("remove")

    def test_the_daemon_dies_and_comes_back_in_every_state(self):
        for state in ("compose", "armed", "authorising", "approved"):
            with self.subTest(state):
                self.before = len(shop.booked())
                self.till.open(shop.home)
                self.reach(state)
                shop.kill("daemon")
                if state != "approved":
                    expect(self.offline().first).to_be_visible()
                shop.start("daemon")
                until(lambda: shop.daemon("GET", "/v1/status").json["ready"])
                expect(self.offline()).to_have_count(0, timeout=40_000)
                if state == "compose":
                    self.assertEqual(0, self.new())
                    continue
                last = settled(shop)
                self.assertEqual(1, self.new())
                # What the till says is what the daemon says.
                words = {"approved": "approved", "reversed": "till.reversed", "cancelled": "cancelled", "failed": "failed"}
                if state == "approved":
                    self.assertEqual("approved", last["state"])
                until(lambda: any(self.till.says(key) for key in (words[last["state"]], "till.reversed", "by.shutdown", "by.disconnect")), 40)
                self.assertEqual(last["state"] == "approved", self.till.says("approved"))
                self.till.new()
                shop.card("remove")

    def test_the_payment_service_dies_while_it_is_asked(self):
        display = self.display()
        self.reach("authorising")
        shop.kill("sandbox")
        until(lambda: self.till.says("till.unknown") or self.till.says("till.reversing"), 40)
        self.assertFalse(self.till.says("approved"))
        self.assertFalse(display.says("approved"))
        self.assertEqual(0, self.till.button("till.again").count())
        shop.start("sandbox")
        last = until(lambda: (last := shop.last())["state"] in ("approved", "reversed", "declined") and last, 60)
        self.assertEqual(1, self.new())
        until(lambda: self.till.says("approved" if last["state"] == "approved" else "till.reversed"), 20)

    def test_a_lost_answer_is_asked_for_again_and_never_sold_anew(self):
        for losses in (["carried out"], ["not sent", "carried out"], ["not sent", "not sent"]):
            with self.subTest(losses):
                self.before = len(shop.booked())
                self.till.open(shop.home)
                sent, left = [], list(losses)

                def lose(route):
                    if route.request.method != "POST":
                        return route.continue_()
                    sent.append((route.request.headers["idempotency-key"], route.request.post_data))
                    if not left:
                        return route.continue_()
                    if left.pop(0) == "carried out":
                        route.fetch()
                    route.abort("connectionreset")

                self.window.route("**/v1/transactions", lose)
                self.till.sell("12.50")

                # It asks by itself; where nothing has arrived it may leave the second try to the cashier.
                def is_armed():
                    if (last := shop.last()) and last["state"] == "armed":
                        return True
                    if self.till.button("till.again").count():
                        self.till.press("till.again")

                until(is_armed, 30)
                shop.card("present", "visa")
                self.till.title("approved")
                self.assertEqual((1, "approved"), (self.new(), shop.last()["state"]))
                self.assertEqual(1, len(set(sent)))
                self.window.unroute("**/v1/transactions")
                self.till.new()
                shop.card("remove")

    def test_a_till_that_is_reloaded_goes_on_where_the_sale_is(self):
        for state, seen in (("armed", "till.cancel"), ("authorising", None), ("approved", "till.newSale")):
            with self.subTest(state):
                self.before = len(shop.booked())
                self.till.open(shop.home)
                self.reach(state)
                self.till.page.reload()
                if seen:
                    expect(self.till.button(seen)).to_be_visible()
                if state == "armed":
                    self.assertIn("€12.50", self.till.words())
                    shop.card("present", "visa")
                self.till.title("approved")
                self.assertEqual((1, "approved"), (self.new(), shop.last()["state"]))
                self.till.new()
                shop.card("remove")

    def test_a_sale_is_written_down_before_it_is_sent(self):
        self.window.route("**/v1/transactions", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
        self.till.sell("12.50")
        until(lambda: "1250" in self.window.evaluate("JSON.stringify(localStorage)"))
        self.assertEqual(0, self.new())
        self.window.unroute("**/v1/transactions")
        self.till.page.reload()
        # It was never sent: it may be sent as it is, or be let go. Nothing happened by itself that charged twice.
        until(lambda: self.till.button("till.card").count() or self.till.button("till.again").count()
              or self.till.button("till.cancel").count() or self.till.button("till.newSale").count())
        self.assertLessEqual(self.new(), 1)

    def test_two_windows_of_one_till_show_one_sale(self):
        other_window = browser.window(cashier)
        self.addCleanup(other_window.context.close)
        other = Till(other_window).open(shop.home)
        self.till.sell("12.50")
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        other.sell("99.00")
        until(lambda: other.page.get_by_text(re.compile("€12.50|busy|in use", re.IGNORECASE)).filter(visible=True).count())
        shop.card("present", "visa")
        self.till.title("approved")
        self.assertEqual(1250, settled(shop)["amount"]["value"])
        self.assertEqual(1, self.new())

    def test_the_display_calls_staff_and_takes_the_sum_away(self):
        window = browser.window(customer)
        self.addCleanup(window.context.close)
        window.clock.install()
        window.goto(f"{shop.home}/display/")
        display = Display(window)
        self.till.sell("12.50")
        display.title("hold")
        self.assertIn("€12.50", display.words())
        shop.kill("gateway")
        try:
            for _ in range(12):
                window.clock.run_for(500)
            display.title("staff")
            for _ in range(26):
                window.clock.run_for(1000)
            until(lambda: "12.50" not in display.words())
        finally:
            shop.start("gateway")
        until(lambda: (window.clock.run_for(1000), not display.says("staff"))[1], 30)

    def test_a_machine_without_a_network_says_so_and_comes_back(self):
        self.reach("compose")
        self.window.context.set_offline(True)
        self.till.press("till.continue")
        if self.till.button("till.card").count():
            self.till.press("till.card")
        expect(self.offline().first).to_be_visible()
        self.window.context.set_offline(False)
        expect(self.offline()).to_have_count(0)
        self.assertLessEqual(self.new(), 1)

    def test_a_till_whose_token_was_revoked_asks_for_a_code(self):
        window = browser.window()
        self.addCleanup(window.context.close)
        till = Till(window).connect(shop, "short-1", CASHIER)
        shop.run(shop.commands["gateway"][0], "revoke", "short-1", "--runtime-directory", shop.folder / "gwrun")
        expect(till.page.get_by_label(till.text("pair.code"))).to_be_visible()


class Stored(unittest.TestCase):
    """A payment that the card has approved while nobody reaches the payment service: accepted, and not paid."""

    @classmethod
    def setUpClass(cls):
        terminal = tempfile.NamedTemporaryFile("w", suffix=".json")
        cls.addClassCleanup(terminal.close)
        # A floor limit below which the terminal lets a card decide; a profile would bring its own terminal.
        terminal.write((ROOT / "docs/examples/terminal-test.json").read_text().replace('"floor": 0', '"floor": 100000'))
        terminal.flush()
        cls.shop = Shop(daemon=f"""[terminal]
file = "{terminal.name}"
[offline]
count = 20
per-card = 20
[[offline.currency]]
code = "EUR"
amount = 2000
total = 20000
""", has_profile=False)
        cls.addClassCleanup(cls.shop.close)

    def test_a_stored_payment_is_not_called_paid_and_can_be_taken_back_for_a_minute(self):
        shop = self.shop
        windows = [browser.window(), browser.window()]
        for window in windows:
            self.addCleanup(window.context.close)
        till, display = Till(windows[0]).connect(shop), Display(windows[1]).connect(shop)
        until(lambda: shop.daemon("GET", "/v1/queue").json.get("expires"))
        shop.kill("sandbox")
        for amount in ("12.50", "7.00"):
            till.sell(amount)
            until(lambda: (last := shop.last()) and last["state"] == "armed")
            shop.card("present", "visa-afl")
            till.title("till.stored")
            display.title("stored")
            self.assertEqual("stored", settled(shop)["state"])
            for screen in (till, display):
                self.assertFalse(screen.says("approved") or screen.says("till.paid"))
                self.assertEqual(0, screen.page.evaluate(GREENS))
                self.assertEqual([], screen.violations())
            display.shows("stored.sum", amount=f"€{amount}")
            shop.card("remove")
            if amount == "12.50":
                till.shows("till.storedHow")
                till.new()
        # How many wait, and how much.
        until(lambda: "2 · €19.50" in till.words())
        till.press("till.declineStored")
        until(lambda: shop.last()["state"] == "declined")
        till.title("declined")
        self.assertEqual(1, shop.daemon("GET", "/v1/queue").json["count"])
        shop.start("sandbox")
        until(lambda: shop.daemon("GET", "/v1/queue").json["count"] == 0, 90)


if __name__ == "__main__":
    unittest.main()
