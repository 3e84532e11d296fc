# SPDX-License-Identifier: Apache-2.0
"""Several windows of one till in one browser: none of them forgets, hides or sells again what another has begun, whatever becomes of that
window, and all of them hear of what happens."""
import re
import socket
import time
import unittest

from playwright.sync_api import expect

from shop import TEXTS, Chromium, Shop, until
from till import GREENS, Display, Till, settled

RIGHTS = ("--lane", "main", "--lane", "other", "--role", "manager", "--type", "purchase", "--type", "refund", "--type", "verification")
#: How a till calls each end of a sale; one that was in doubt may have either.
ENDS = {"approved": "approved", "declined": "declined", "cancelled": "cancelled", "failed": "failed", "reversed": "till.reversed"}


def setUpModule():
    global shop, browser, cashier, customer
    shop = Shop(lanes=("main", "other"), sandbox=("--slow-seconds", "4"))
    unittest.addModuleCleanup(shop.close)
    browser = Chromium()
    unittest.addModuleCleanup(browser.close)
    cashier = browser.paired(Till, shop, "bar-1", RIGHTS)
    customer = browser.paired(Display, shop)


class Windows(unittest.TestCase):
    def setUp(self):
        self.addCleanup(shop.rest)
        self.before = len(shop.booked())
        self.context = browser.window(cashier).context
        self.addCleanup(self.context.close)
        self.first = self.context.pages[0]

    def open(self, page=None):
        """A window of the one browser, whatever it shows."""
        till = Till(page or self.context.new_page())
        till.page.goto(f"{shop.home}/till/")
        expect(till.main.get_by_role("heading").or_(till.amount).first).to_be_visible()
        return till

    def new(self):
        return len(shop.booked()) - self.before

    def aside(self, till, amount="€12.97"):
        return till.page.get_by_role("button", name=re.compile(re.escape(amount)))

    def offline(self, till):
        return till.page.get_by_text(TEXTS["en"]["till.offline"]).filter(visible=True)

    def reach(self, till, state):
        till.confirm({"declined": "12.51", "partial": "12.10"}.get(state, "12.97"))
        if state == "confirm":
            return
        till.press("till.card")
        if state == "sent":
            return
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        expect(till.button("till.cancel")).to_be_visible()
        if state == "armed":
            return
        if state == "cancelled":
            till.press("till.cancel")
            return till.title("cancelled")
        shop.card("present", "visa")
        if state in ("declined", "partial"):
            return till.title({"partial": "till.partial"}.get(state, state))
        till.shows("till.authorising")
        if state == "unknown":
            shop.kill("sandbox")
            self.addCleanup(lambda: shop.processes["sandbox"].poll() is None or shop.start("sandbox"))
            till.title("till.unknown", 30)
        if state == "approved":
            till.title("approved")

    def test_m4_a_new_sale_in_one_window_leaves_the_others_sale_in_doubt(self):
        one, other = self.open(self.first), self.open()
        self.reach(one, "unknown")
        shop.card("remove")
        # It is in doubt on every window's first screen.
        expect(self.aside(other)).to_be_visible()
        other.confirm("3.30")
        other.main.get_by_label(other.text("till.reader")).select_option("other")
        other.press("till.card")
        until(lambda: (last := shop.last("other")) and last["state"] == "armed")
        other.press("till.cancel")
        other.title("cancelled")
        other.new()
        expect(self.aside(other)).to_be_visible()
        one.page.reload()
        one.title("till.unknown")
        self.assertEqual(0, one.button("till.newSale").count() + one.button("till.again").count())
        one.page.close()
        shop.start("sandbox")
        # The window that stays hears how it ended; nobody charges again.
        key = ENDS[settled(shop, seconds=60)["state"]]
        expect(other.page.get_by_role("button", name=re.compile(f"^{TEXTS['en'][key]}: €12.97"))).to_be_visible(timeout=40_000)
        self.aside(other).click()
        other.title(key)
        other.new()
        expect(self.aside(other)).to_have_count(0)
        self.assertEqual(2, self.new())

    def test_m4_a_window_that_is_closed_in_any_state_leaves_its_sale_to_the_next(self):
        for state in ("confirm", "sent", "armed", "authorising", "unknown", "approved", "partial", "declined", "cancelled"):
            for stays in (False, True):
                with self.subTest(state, stays=stays):
                    self.before = len(shop.booked())
                    closing = self.open()
                    staying = self.open() if stays else None
                    self.reach(closing, state)
                    closing.page.close()
                    if state == "unknown":
                        shop.start("sandbox")
                    if staying and state != "confirm":
                        amount = {"declined": "€12.51", "partial": "€12.10"}.get(state, "€12.97")
                        expect(self.aside(staying, amount)).to_be_visible()
                        staying.page.close()
                    next_ = self.open()
                    if state == "confirm":
                        expect(next_.amount).to_be_visible()
                        self.assertEqual(0, self.new())
                    elif state == "sent" and self.new() == 0:
                        # The request may have gone with its window: then nothing was charged.
                        next_.title("till.notStarted")
                        next_.new()
                    else:
                        if state in ("sent", "armed", "authorising"):
                            self.end(next_, state)
                        last = settled(shop, seconds=60)
                        next_.title("till.partial" if state == "partial" else ENDS[last["state"]], 40)
                        self.assertEqual(1, self.new())
                        if state == "partial":
                            next_.press("till.restCash")
                            next_.press("till.done")
                        else:
                            next_.new()
                    expect(next_.page.locator(".aside-sale")).to_have_count(0)
                    next_.page.close()
                    shop.card("remove")

    def end(self, till, state):
        if state != "authorising":
            until(lambda: till.button("till.cancel").count() or till.button("till.newSale").count())
            if till.button("till.cancel").count():
                shop.card("present", "visa")

    def test_m4_a_browser_whose_entries_were_cleared_hears_of_the_doubt(self):
        till = self.open(self.first)
        self.reach(till, "unknown")
        shop.card("remove")
        till.page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('nfc-tap.sale')).forEach((name) => localStorage.removeItem(name))")
        till.page.close()
        other = self.open()
        expect(self.aside(other)).to_be_visible()
        self.aside(other).click()
        other.title("till.unknown")
        shop.start("sandbox")
        other.title(ENDS[settled(shop, seconds=60)["state"]], 40)
        other.new()
        self.assertEqual(1, self.new())

    def test_d8_seven_windows_work_and_go_on_when_the_first_is_closed(self):
        tills = [self.open(self.first)] + [self.open() for _ in range(6)]
        for till in tills:
            expect(till.amount).to_be_visible()
            expect(self.offline(till)).to_have_count(0)
            expect(till.page.locator("#lane")).to_have_text(re.compile(TEXTS["en"]["lane.ready"]))
        last = tills[-1].sell("12.50")
        until(lambda: (now := shop.last()) and now["state"] == "armed")
        # Each hears that the reader is in use, by its only stream.
        for till in tills[:-1]:
            expect(till.page.locator("#lane")).to_have_text(re.compile(TEXTS["en"]["lane.busy"]))
        for page in [till.page for till in tills[:3]]:
            page.close()
        shop.card("present", "visa")
        last.title("approved")
        for till in tills[3:]:
            expect(till.page.locator("#lane")).to_have_text(re.compile(TEXTS["en"]["lane.ready"]))
            expect(self.offline(till)).to_have_count(0)
        last.new()
        self.assertEqual(1, self.new())

    def test_d8_seven_displays_of_one_browser_show_one_customer(self):
        context = browser.window(customer).context
        self.addCleanup(context.close)
        displays = []
        for page in [context.pages[0]] + [context.new_page() for _ in range(6)]:
            page.goto(f"{shop.home}/display/")
            displays.append(Display(page))
        self.open(self.first).sell("12.50")
        for display in displays:
            display.title("hold")
        displays.pop(0).page.close()
        shop.card("present", "visa")
        for display in displays:
            display.title("approved")
            display.shows("approved.sum", amount="€12.50")

    def test_d8_more_browsers_with_one_token_than_streams_still_sell(self):
        tills = []
        for _ in range(6):
            window = browser.window(cashier)
            self.addCleanup(window.context.close)
            tills.append(self.open(window))
        for till in tills:
            expect(self.offline(till)).to_have_count(0)
        tills[-1].sell("12.50")
        until(lambda: (now := shop.last()) and now["state"] == "armed")
        shop.card("present", "visa")
        tills[-1].title("approved")
        tills[-1].new()


class Acts(unittest.TestCase):
    def setUp(self):
        self.addCleanup(shop.rest)
        window = browser.window(cashier)
        self.addCleanup(window.context.close)
        self.till = Till(window).open(shop.home)
        window = browser.window(customer)
        self.addCleanup(window.context.close)
        window.goto(f"{shop.home}/display/")
        self.display = Display(window)

    def ends(self, key, sentence, greens, card="visa"):
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        shop.card("present", card)
        for screen in (self.till, self.display):
            screen.title(key)
            if sentence:
                screen.shows(sentence, amount="€12.50")
            self.assertEqual(greens, screen.page.evaluate(GREENS) > 0)
            self.assertEqual(key == "approved", screen.says("approved"))
            self.assertEqual([], screen.violations())

    def test_m9_a_sale_says_its_sum(self):
        self.till.sell("12.50")
        self.ends("approved", "approved.sum", True)
        self.display.shows("thanks")

    def test_m9_a_refund_says_that_money_goes_back(self):
        self.till.enter("12.50").press("till.more")
        self.till.press("till.refund")
        self.ends("refunded", "refunded.sum", False)
        self.assertFalse(self.display.says("thanks"))

    def test_m9_a_sum_that_is_only_held_is_not_called_paid(self):
        self.till.confirm("12.50")
        self.till.main.get_by_label(self.till.text("till.amountKind")).select_option("preauthorized")
        self.till.press("till.card")
        self.ends("held", "held.sum", False)
        self.assertFalse(self.display.says("thanks"))

    def test_m9_a_check_of_a_card_says_that_nothing_was_charged(self):
        self.till.press("till.more")
        self.till.press("till.verify")
        self.ends("checked", None, False)


class Crowds(unittest.TestCase):
    """What others do at the same door, with the bytes of a program."""

    def setUp(self):
        self.addCleanup(shop.rest)
        self.token = shop.token(f"crowd-{self._testMethodName[5:7]}-{self._testMethodName.count('_')}", *RIGHTS)
        self.id = shop.gateway("POST", "/v1/transactions", {"type": "purchase", "lane": "main", "amount": {"value": 1250, "currency": "EUR"}},
                               self.token, {"Idempotency-Key": "crowd"}).json["id"]
        until(lambda: shop.last()["state"] == "armed")

    def wait(self):
        one = socket.create_connection(("127.0.0.1", shop.port), 10)
        one.sendall(f"GET /v1/transactions/{self.id}?wait=60 HTTP/1.1\r\nHost: 127.0.0.1:{shop.port}\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode())
        self.addCleanup(one.close)
        return one

    def ask(self, method="GET"):
        """Its state, and how many seconds the answer took."""
        begin = time.monotonic()
        answer = shop.gateway(method, f"/v1/transactions/{self.id}", token=self.token)
        self.assertEqual(200, answer.status, answer.body)
        return answer.json.get("state") or answer.json["outcome"], time.monotonic() - begin

    def test_a3_waits_that_were_given_up_leave_the_next_call_free_and_the_payment_alone(self):
        waits = [self.wait() for _ in range(4)]
        time.sleep(1)
        for one in waits:
            one.close()
        state, seconds = self.ask()
        self.assertLess(seconds, 10)
        # Nobody asks for longer than the daemon waits for a client that is gone; the till has been away for less than its twenty seconds.
        time.sleep(5)
        self.assertEqual("armed", shop.last()["state"])
        self.assertEqual("cancelled", self.ask("DELETE")[0])

    def test_a3_a_cancel_beside_many_waits_is_answered(self):
        for _ in range(24):
            self.wait()
        time.sleep(3)
        outcome, seconds = self.ask("DELETE")
        self.assertEqual("cancelled", outcome)
        self.assertLess(seconds, 10)

    def test_a4_idle_connections_of_strangers_keep_no_till_out(self):
        for _ in range(200):
            self.addCleanup(socket.create_connection(("127.0.0.1", shop.port), 10).close)
        for _ in range(5):
            state, seconds = self.ask()
            self.assertEqual("armed", state)
            self.assertLess(seconds, 10)
        page = shop.gateway("GET", "/till/")
        self.assertEqual(200, page.status)


if __name__ == "__main__":
    unittest.main()
