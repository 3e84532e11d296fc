# SPDX-License-Identifier: Apache-2.0
"""What a cashier and a customer see of a sale: requirements R1 to R41, with a till, a display, a daemon in test mode, its virtual
reader and the sandbox. The number of a test is that of its requirement; from R42 on they are rows of docs/internals/guidance.md beyond those."""
import json
import re
import subprocess
import tempfile
import unittest
import urllib.parse

from playwright.sync_api import expect

from shop import PAGES, TEXTS, Chromium, Shop, until
from till import CASHIER, GREENS, Display, Till, marker, numbers, pixels, settled

PROGRAMME = '[loyalty]\n[[loyalty.programme]]\nid = "club"\ndisplay-name = "Example Club"\npriority = 0\n[loyalty.programme.uid]\nformat = "decimal"\n'
ALL = ("--lane", "main", "--lane", "other", "--role", "manager", *(word for name in (
    "purchase", "refund", "verification", "loyalty") for word in ("--type", name)))


def setUpModule():
    global shop, browser, cashier, full, linking, customer
    shop = Shop(lanes=("main", "other"), sandbox=("--slow-seconds", "4"), daemon=PROGRAMME, profile="marketplace")
    unittest.addModuleCleanup(shop.close)
    browser = Chromium()
    unittest.addModuleCleanup(browser.close)
    cashier, full = browser.paired(Till, shop), browser.paired(Till, shop, "bar-2", ALL)
    linking = browser.paired(Till, shop, "bar-3", (*CASHIER, "--type", "link", "--type", "handover"))
    customer = browser.paired(Display, shop)


def sign(screen):
    """Where the sign of a result is: the first thing without words that is neither small nor the whole screen."""
    return screen.main.evaluate("""(main) => [...main.querySelectorAll("*")].filter((one) => !one.textContent.trim())
        .map((one) => one.getBoundingClientRect()).filter(({ width, height }) => width >= 24 && height >= 24 && width < 400)
        .map(({ x, y, width, height }) => ({ x, y, width, height }))[0]""")


def scanned(screen):
    """What a camera reads from the screen, once there is something to read."""
    with tempfile.NamedTemporaryFile(suffix=".png") as shot:
        def read():
            screen.page.screenshot(path=shot.name)
            return subprocess.run(["zbarimg", "-q", "--raw", shot.name], capture_output=True, text=True).stdout.strip()
        return until(read, every=0.3)


class Case(unittest.TestCase):
    def setUp(self):
        self.addCleanup(shop.rest)

    def till(self, state=None, **more):
        window = browser.window(state or cashier, **more)
        self.addCleanup(window.context.close)
        self.addCleanup(lambda: window.is_closed() or window.unroute_all(behavior="ignoreErrors"))
        return Till(window).open(shop.home)

    def display(self, **more):
        window = browser.window(customer, **more)
        self.addCleanup(window.context.close)
        display = Display(window, more.get("language", "en").split("-")[0])
        window.goto(f"{shop.home}/display/")
        return display

    def status(self, till, change):
        """Lets this window's daemon say something else of its state: what no daemon in test mode says."""
        def answer(route):
            said = route.fetch()
            body = said.json()
            change(body)
            route.fulfill(response=said, json=body)
        till.page.route("**/v1/status", answer)

    def terms(self, till, state, blocked=None):
        def change(body):
            body["terms"] = state
            if blocked:
                body["blocked"] = blocked
        self.status(till, change)
        till.page.route("**/v1/terms", lambda route: route.fulfill(json={"state": state, "text": "Words of the service", "version": "1"}))


class Before(Case):
    def test_r01_settings_offer_the_terms_before_the_first_customer(self):
        till = self.till()
        self.terms(till, "notAccepted")
        till.open(shop.home)
        self.assertTrue(till.button("till.continue").count())
        till.settings()
        expect(till.page.get_by_role("heading", name=till.text("set.terms"))).to_be_visible()
        till.shows("terms.notAccepted")

    def test_r02_only_an_administrator_accepts(self):
        till = self.till()
        self.terms(till, "notAccepted")
        till.open(shop.home).settings()
        self.assertIn("nfc-tap terms accept", till.words())
        self.assertRegex(till.words(), "(?i)administrator")
        self.assertEqual(0, till.page.get_by_role("button", name=re.compile("accept", re.IGNORECASE)).count())

    def test_r03_what_is_out_of_date_comes_before_the_terms(self):
        till = self.till()
        self.terms(till, "notAccepted", {
            "code": "reader.unsupported", "message": "Version no longer supported", "resolution": "Upgrade nfc-tap to 2.0",
            "retryable": False, "who": "administrator", "docs": ""})
        till.open(shop.home).settings()
        notice = till.main.get_by_text("Upgrade nfc-tap to 2.0").filter(visible=True).first
        expect(notice).to_be_visible()
        terms = till.page.get_by_role("heading", name=till.text("set.terms"))
        self.assertLess(till.box(notice)["y"], till.box(terms)["y"])

    def test_r02_the_page_of_the_payment_service_where_terms_are_accepted_is_named(self):
        till = self.till()
        self.status(till, lambda body: body.update(terms="notAccepted", termsPage="https://pay.example/terms/M-1"))
        till.open(shop.home).settings()
        till.shows("terms.elsewhere")
        expect(till.page.locator("#terms a")).to_have_attribute("href", "https://pay.example/terms/M-1")

    def test_r04_card_can_be_chosen_before_the_terms_are_accepted_and_says_why_not(self):
        till = self.till()
        self.terms(till, "notAccepted")
        till.open(shop.home).confirm("12.50")
        expect(till.button("till.card")).to_be_enabled()
        refusal = {"error": {"code": "terms.not_accepted", "message": "Terms of the payment service not accepted",
                             "resolution": "Read them with nfc-tap terms show", "retryable": False, "who": "administrator", "docs": ""}}
        till.page.route("**/v1/transactions", lambda route: route.fulfill(status=409, json=refusal))
        till.press("till.card")
        expect(till.page.get_by_text("Terms of the payment service not accepted").filter(visible=True).first).to_be_visible()
        expect(till.page.get_by_text("Read them with nfc-tap terms show").filter(visible=True).first).to_be_visible()
        # Accepted meanwhile, the payment that was asked for goes on by itself.
        till.page.unroute("**/v1/transactions")
        till.page.unroute("**/v1/status")
        self.status(till, lambda body: body.update(terms="accepted"))
        till.title("hold", 30)

    def test_r05_the_tutorial_has_a_section_for_each_kind_and_one_on_pin(self):
        window = browser.window(full)
        self.addCleanup(window.context.close)
        window.goto(f"{shop.home}/till/education.html")
        features = shop.daemon("GET", "/v1/lanes/main").json["features"]
        self.assertEqual({"purchase", "refund", "verification", "loyalty"}, set(features))
        for key in ("payTitle", "refundTitle", "checkTitle", "passTitle", "pinTitle"):
            heading = window.get_by_role("heading", name=TEXTS["en"][f"learn.{key}"], exact=True)
            expect(heading).to_be_visible()
            self.assertGreater(len(heading.locator("xpath=following-sibling::*[1]").inner_text()), 40)

    def test_r06_a_new_till_opens_the_tutorial_and_settings_keep_it(self):
        window = browser.window()
        self.addCleanup(window.context.close)
        # `connect` waits for it.
        till = Till(window).connect(shop, "new-1")
        till.settings()
        link = till.page.get_by_text(till.text("set.tutorial"), exact=True)
        expect(link).to_be_visible()
        link.click()
        expect(till.page.get_by_role("heading", name=till.text("learn.title"), exact=True)).to_be_visible()
        expect(till.page.get_by_role("heading", name=till.text("set.terms"), exact=True)).to_be_visible()
        # Open once, not each time.
        till.open(shop.home)

    def test_r07_a_try_out_moves_no_money_and_both_screens_say_so(self):
        display = self.display()
        till = self.till()
        till.page.goto(f"{shop.home}/till/education.html")
        till.page.get_by_text(till.text("learn.tryDo"), exact=True).click()
        expect(till.main.get_by_text("€12.50").filter(visible=True).first).to_be_visible()
        for key in ("till.continue", "till.card"):
            till.press(key)
        display.title("hold")
        self.assertIn("12.50", display.words())
        for screen in (till, display):
            expect(screen.page.get_by_text(screen.text("test")).filter(visible=True).first).to_be_visible()
        self.assertEqual(("test", 1250), (shop.last()["mode"], shop.last()["amount"]["value"]))

    def test_r08_the_lane_is_prepared_at_the_start_and_when_the_window_comes_back_once_a_minute(self):
        window = browser.window(cashier)
        self.addCleanup(window.context.close)
        asked = []
        window.on("request", lambda request: asked.append(request) if request.url.endswith("/prepare") else None)
        window.clock.install()
        till = Till(window).open(shop.home)
        until(lambda: len(asked) == 1)
        self.assertTrue(asked[0].url.endswith("/v1/lanes/main/prepare") and asked[0].method == "POST")
        back = "document.dispatchEvent(new Event('visibilitychange'))"
        till.page.evaluate(back)
        marker(till.page)
        self.assertEqual(1, len(asked))
        window.clock.fast_forward(61_000)
        till.page.evaluate(back)
        until(lambda: len(asked) == 2)

    def test_r09_the_card_button_works_while_the_lane_prepares_and_progress_has_a_percent_once_it_is_known(self):
        till = self.till()
        events = {"n": 0}

        def stream(route):
            events["n"] += 1
            transaction = shop.last()["id"]
            percent = {"percent": 40} if events["n"] > 1 else {}
            data = {"id": 10_000_000 + events["n"], "name": "prepare.progress", "at": "2026-01-01T00:00:00.000Z", "lane": "main",
                    "transaction": transaction, "reason": "start", "step": "adapter", **percent}
            route.fulfill(content_type="text/event-stream", body=f"id: {data['id']}\nevent: prepare.progress\ndata: {json.dumps(data)}\n\n")

        def preparing(route):
            said = route.fetch()
            body = said.json()
            if body.get("state") in ("created", "armed"):
                body["state"] = "preparing"
            route.fulfill(response=said, json=body)

        till.confirm("12.50")
        expect(till.button("till.card")).to_be_enabled()
        till.page.route(re.compile(r"/v1/transactions(/[0-9a-f-]+)?(\?.*)?$"), preparing)
        till.press("till.card")
        until(lambda: (last := shop.last()) and last["state"] in ("created", "armed"))
        till.shows("till.preparing")
        bar = till.main.get_by_role("progressbar").first
        expect(bar).to_be_visible()
        self.assertIsNone(bar.get_attribute("value"))
        till.page.route("**/v1/events*", stream)
        # The stream that is open now is the daemon's own: it ends with the gateway.
        shop.kill("gateway")
        shop.start("gateway")
        until(lambda: bar.get_attribute("value") is not None, seconds=20)
        self.assertAlmostEqual(0.4, float(bar.get_attribute("value")) / float(bar.get_attribute("max") or 1), places=3)


class Choosing(Case):
    def test_r10_the_card_button_is_in_sight_and_not_smaller_than_the_others(self):
        till = self.till(size=(800, 480)).confirm("12.50")
        card, cash = till.box(till.button("till.card")), till.box(till.button("till.cash"))
        self.assertGreaterEqual(card["y"], 0)
        self.assertLessEqual(card["y"] + card["height"], 480)
        self.assertLessEqual(card["x"] + card["width"], 800)
        self.assertGreaterEqual(card["width"] * card["height"], cash["width"] * cash["height"])

    def test_r11_the_only_method_opens_the_tap_screen_by_itself(self):
        till = self.till().settings()
        till.set("set.cash", False)
        till.open(shop.home).enter("12.50").press("till.continue")
        until(lambda: (last := shop.last()) and last["state"] == "armed" and last["amount"]["value"] == 1250)
        expect(till.button("till.cancel")).to_be_visible()

    def test_r12_the_reader_can_be_changed_on_the_way(self):
        till = self.till(full).confirm("12.50")
        other = till.main.get_by_role("combobox").filter(has=till.page.locator("option", has_text="other"))
        if other.count():
            other.first.select_option(index=1)
        else:
            till.main.get_by_text("other").filter(visible=True).first.click()
        till.press("till.card")
        last = until(lambda: (last := shop.last("other")) and last["state"] == "armed" and last)
        self.assertEqual("other", last["lane"])
        shop.daemon("DELETE", f"/v1/transactions/{last['id']}")

    def test_r13_r39_no_message_names_a_maker_a_wallet_or_a_scheme(self):
        # As names are written; in Swedish "visar" is "shows".
        names = re.compile(r"\b(Apple|iPhone|Google|Samsung|Visa|Mastercard|Maestro|Amex|American Express|Discover|JCB|UnionPay|"
                           r"[Gg]irocard|PayPal|Tap to Pay on)\b")
        for language, texts in TEXTS.items():
            for name, text in texts.items():
                self.assertIsNone(names.search(text), f"{language} {name}: {text}")
        for path in PAGES.iterdir():
            if path.is_file():
                self.assertIsNone(names.search(path.read_text()), path.name)
        self.assertEqual("Tap to pay by card or phone", TEXTS["en"]["till.card"])

    def test_r14_r16_what_changes_the_sum_comes_before_the_tap(self):
        till = self.till(full)
        till.settings().set("set.preferred", "A000000042")
        till.open(shop.home).confirm("12.50")
        # Reader, kind of amount, and the customer's own choice between two applications of a card.
        self.assertEqual(2, till.main.get_by_role("combobox").count())
        expect(till.page.get_by_label(till.text("till.cardsChoice"))).to_be_visible()
        till.press("till.card")
        expect(till.button("till.cancel")).to_be_visible()
        till.title("hold")
        for role in ("textbox", "combobox", "spinbutton", "slider", "radio", "checkbox"):
            self.assertEqual(0, till.page.get_by_role(role).filter(visible=True).count(), role)

    def test_r15_both_screens_show_the_final_sum_to_the_last_cent(self):
        display = self.display()
        till = self.till()
        for typed, value, shown in (("12.50", 1250, "€12.50"), ("0.01", 1, "€0.01"), ("1234567.89", 123456789, "€1,234,567.89")):
            till.sell(typed)
            until(lambda: (last := shop.last()) and last["state"] == "armed" and last["amount"] == {"value": value, "currency": "EUR"})
            display.title("hold")
            for screen in (till, display):
                self.assertIn(shown, screen.words())
            till.press("till.cancel")
            till.shows("cancelled" if till.says("cancelled") else "by.client")
            till.new()

    def test_r20_a_tap_that_failed_offers_what_the_answer_says_in_its_order(self):
        till = self.till().sell("12.51")
        shop.card("present", "visa")
        till.title("declined")
        wanted = shop.daemon("GET", f"/v1/transactions/{settled(shop)['id']}").json["result"]["next"]
        self.assertTrue(wanted)
        labels = [TEXTS["en"][f"next.{one}"] for one in wanted]
        shown = [text for text in (button.inner_text().strip() for button in till.main.get_by_role("button").all()) if text in labels]
        self.assertEqual(labels, shown)

    def test_r24_reads_without_a_sum_have_plain_labels(self):
        till = self.till(full)
        till.press("till.more")
        for key, label in (("till.lookUp", "Look up"), ("till.saveCard", "Store card"), ("till.verify", "Check card"), ("till.refund", "Refund")):
            self.assertEqual(label, till.text(key))
            expect(till.button(key)).to_be_visible()
        for language, texts in TEXTS.items():
            for key in ("till.lookUp", "till.saveCard", "till.verify"):
                self.assertIsNone(re.search(r"\b(pay|bezahl|payer|pagar|paga|betaal|betala)", texts[key], re.IGNORECASE), f"{language} {key}")

    def test_r25_passes_have_a_button_of_their_own_without_a_word_of_payment(self):
        display = self.display()
        # With a sum: a button that cannot be pressed is pale.
        till = self.till(full).enter("12.50")
        # A button that is drawn anew at that moment has no colour.
        colour = lambda one: until(lambda: one.evaluate("(one) => getComputedStyle(one).backgroundColor"))  # noqa: E731
        paying = colour(till.button("till.continue"))
        if not till.button("till.passes").count():
            till.press("till.more")
        passes = till.button("till.passes")
        expect(passes).to_be_visible()
        self.assertNotEqual(paying, colour(passes))
        self.assertIsNone(re.search("pay|card$|tap", till.text("till.passes").replace("Member card", ""), re.IGNORECASE))
        passes.click()
        display.title("pass")
        self.assertEqual([], [number for number in numbers(display.words()) if len(number) > 1])
        self.assertEqual("loyalty", shop.last()["type"])

    def test_a_refund_is_not_called_a_payment(self):
        display = self.display()
        till = self.till(full).enter("12.50")
        till.press("till.more")
        till.press("till.refund")
        display.title("hold")
        for screen in (till, display):
            expect(screen.main.get_by_text(re.compile(rf"^{screen.text('till.refund')}\b")).filter(visible=True).first).to_be_visible()
            self.assertNotRegex(screen.words(), r"\bPay\b")
            self.assertIn("€12.50", screen.words())
        self.assertEqual("refund", shop.last()["type"])

    def test_whose_money_is_collected_is_said_in_the_customers_language(self):
        till = self.till()
        till.settings().set("set.customerLanguage", "de")
        display = self.display(language="de-DE")
        till.open(shop.home).sell("12.50")
        expect(display.main.get_by_text("Market Hall, über Corner Shop bezahlen", exact=True)).to_be_visible()

    def test_a_display_says_test_before_its_first_sale(self):
        # A gateway that has seen no sale, and a browser that has seen no display.
        shop.kill("gateway")
        shop.start("gateway")
        window = browser.window()
        self.addCleanup(window.context.close)
        display = Display(window).connect(shop, "display-2")
        expect(display.page.get_by_text(display.text("test"))).to_be_visible()

    def test_r37_r38_all_methods_stand_side_by_side_in_words_alone(self):
        till = self.till().settings()
        till.set("set.link", "https://pay.example/{order}")
        till.open(shop.home).confirm("12.50")
        for key in ("till.card", "till.cash", "till.link"):
            expect(till.button(key)).to_be_visible()
            self.assertEqual(0, till.button(key).locator("img, svg, picture, canvas").count())
        self.assertEqual(0, till.page.locator("img").count())
        for path in PAGES.glob("*.css"):
            self.assertNotIn("url(", path.read_text(), path.name)

    def test_r26_lines_are_short_few_and_never_hide_a_sum(self):
        display = self.display()
        till = self.till()
        for line in range(10):
            till.enter(f"{line + 1}.00").press("till.add")
        till.press("till.continue")
        till.press("till.card")
        display.title("hold")
        words = until(lambda: (words := display.words()) and "€1.00" in words and words)
        lines = [line for line in range(10) if re.search(rf"€{line + 1}\.00", words)]
        self.assertLessEqual(len(lines), 8)
        self.assertIn("€55.00", words)
        self.assertEqual(10, len(shop.daemon("GET", f"/v1/transactions/{shop.last()['id']}").json["details"]["items"]))
        hidden = display.page.evaluate("""() => [...document.querySelectorAll("bdi, .amount, [class*=amount]")]
            .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline").length""")
        self.assertEqual(0, hidden)

    def test_r27_lines_may_be_negative_but_the_total_is_above_zero(self):
        till = self.till()
        for lines, allowed in ((("5.00", "-5.00"), False), (("5.00", "-5.01"), False), (("5.00", "-4.99"), True)):
            till.open(shop.home)
            for line in lines:
                till.enter(line).press("till.add")
            if allowed:
                expect(till.button("till.continue")).to_be_enabled()
            else:
                # Not grey: it says what is missing once it is pressed.
                till.press("till.continue")
                till.shows("entry.notPositive")
                expect(till.amount).to_be_visible()
        answer = shop.gateway("POST", "/v1/transactions", {
            "type": "purchase", "lane": "main", "amount": {"value": 1000, "currency": "EUR"},
            "items": [{"label": "a", "amount": {"value": 999, "currency": "EUR"}}]}, shop.token("sum", *CASHIER), {"Idempotency-Key": "s"})
        self.assertEqual((422, "amount.items_mismatch"), (answer.status, answer.json["error"]["code"]))

    def test_r28_r29_the_payee_stands_beside_the_total(self):
        display = self.display()
        till = self.till().confirm("12.50")
        # R29: who sells, and for whom the money is collected; the same before the card is asked for.
        payee = re.compile("^Pay Market Hall.*Corner Shop")
        expect(till.main.get_by_role("heading", name=payee)).to_be_visible()
        till.press("till.card")
        display.title("hold")
        for screen in (till, display):
            total = screen.page.get_by_text("€12.50", exact=True).filter(visible=True).first
            pay = screen.page.get_by_text(payee).filter(visible=True).last
            expect(pay).to_be_visible()
            # The screen may be drawn anew between the two.
            one, other = until(lambda: (boxes := (screen.box(total), screen.box(pay))) and all(boxes) and boxes)
            gap = max(other["y"] - one["y"] - one["height"], one["y"] - other["y"] - other["height"])
            self.assertLess(gap, 40)

    def test_r30_a_sum_that_is_not_final_is_marked(self):
        display = self.display()
        till = self.till()
        for label, status in (("status.pending", "pending"), ("status.preauthorized", "preauthorized")):
            till.confirm("12.50")
            till.main.get_by_role("combobox").filter(has=till.page.locator("option", has_text=till.text(label))).first.select_option(label=till.text(label))
            till.press("till.card")
            until(lambda: (last := shop.last()) and last["state"] == "armed")
            self.assertEqual(status, shop.daemon("GET", f"/v1/transactions/{shop.last()['id']}").json["details"]["amountStatus"])
            display.shows("pending")
            till.press("till.cancel")
            till.new()

    def test_r31_a_subscription_says_how_often_from_when_and_what_is_charged_today(self):
        till = self.till()
        till.enter("9.99")
        till.main.get_by_text(till.text("till.lineDetails")).click()
        till.main.get_by_label(till.text("till.kind")).select_option(label=till.text("kind.recurring"))
        till.main.get_by_label(till.text("till.frequency")).select_option(label=till.text("every.monthly"))
        till.main.get_by_label(till.text("till.begins")).fill("2027-01-31")
        till.press("till.add")
        till.press("till.continue")
        till.press("till.card")
        until(lambda: (last := shop.last()) and last["state"] == "armed" and last["amount"]["value"] == 999)
        item = shop.daemon("GET", f"/v1/transactions/{shop.last()['id']}").json["details"]["items"][0]
        self.assertEqual(("recurring", "monthly", "2027-01-31", 999), (
            item["kind"], item["frequency"], item["begins"], item["amount"]["value"]))

    def test_r32_a_donation_has_a_line_of_its_own_three_sums_and_other(self):
        till = self.till().settings()
        till.set("set.donations", True)
        till.open(shop.home).enter("12.50").press("till.continue")
        expect(till.button("till.noDonation")).to_be_visible()
        offered = [button for button in till.main.get_by_role("button").all() if re.search(r"€\d", button.inner_text())]
        self.assertEqual(3, len(offered))
        expect(till.button("till.otherAmount").or_(till.page.get_by_label(till.text("till.otherAmount"))).first).to_be_visible()
        sum_ = int("".join(numbers(re.search(r"€[\d.]+", offered[0].inner_text())[0])))
        offered[0].click()
        till.press("till.card")
        last = until(lambda: (last := shop.last()) and last["state"] == "armed" and last)
        self.assertEqual(1250 + sum_, last["amount"]["value"])
        items = shop.daemon("GET", f"/v1/transactions/{last['id']}").json["details"]["items"]
        self.assertEqual([("donation", sum_)], [(item["kind"], item["amount"]["value"]) for item in items if item.get("kind") == "donation"])

    def test_r33_errors_are_short_and_stand_at_their_field(self):
        for language, texts in TEXTS.items():
            for name, text in texts.items():
                if name.startswith("entry."):
                    self.assertLessEqual(len(text), 128)
                    self.assertFalse(text.endswith(("." , "!", "。")), f"{language} {name}")
        till = self.till().enter("twelve")
        till.amount.press("Enter")
        described = till.amount.get_attribute("aria-describedby")
        self.assertTrue(described)
        expect(till.page.locator(f"#{described.split()[0]}")).to_have_text(till.text("entry.unclear"))

    def test_r34_input_is_forgiving(self):
        till = self.till()
        for typed in ("12,50", "12.50", " 12.50 ", "€12.50", "12,50 €", "EUR 12.50", "12 . 50"):
            till.enter(typed).amount.blur()
            expect(till.main.get_by_text("€12.50", exact=True).filter(visible=True).first).to_be_visible()
            till.enter("")
        till.settings().set("set.implied", True)
        till.open(shop.home).enter("1250").amount.blur()
        expect(till.main.get_by_text("€12.50", exact=True).filter(visible=True).first).to_be_visible()


class Result(Case):
    def approve(self, amount="12.50", card="visa", state=None, display=None):
        till = self.till(state).sell(amount)
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        shop.card("present", card)
        return till

    def doubt(self):
        """A sale whose answer is lost: the payment service dies over it, and stays away."""
        till = self.approve("12.97")
        till.shows("till.authorising")
        shop.kill("sandbox")
        self.addCleanup(lambda: shop.processes["sandbox"].poll() is None or shop.start("sandbox"))
        till.title("till.unknown", 30)
        return till

    def test_r17_authorising_is_shown_before_there_is_a_result(self):
        display = self.display()
        till = self.approve("12.97")
        display.title("read")
        display.title("wait", 4)
        till.shows("till.authorising", 3)
        self.assertEqual("sent", shop.last()["state"])
        self.assertGreater(till.page.locator("[aria-busy=true]").count(), 0)
        self.assertEqual(0, till.page.evaluate(GREENS))
        till.title("approved")
        display.title("approved")
        self.assertEqual(0, till.page.locator("[aria-busy=true]").count())

    def test_r18_a_result_is_told_by_word_and_shape_without_colour(self):
        pictures = {}
        display = self.display()
        for amount, key in (("12.50", "approved"), ("12.51", "declined")):
            till = self.approve(amount)
            till.title(key)
            display.title(key)
            expect(till.main.get_by_text(till.text(key), exact=True).first).to_be_visible()
            pictures[key] = [pixels(screen.page, clip=sign(screen)).point(lambda value: 255 * (value > 128)) for screen in (till, display)]
            shop.card("remove")
            till.press("till.newSale")
            till.page.context.close()
        for one, other in zip(pictures["approved"], pictures["declined"]):
            other = other.resize(one.size)
            # As drawn, and with light and dark exchanged: the ground's colour must not be the difference.
            differing = sum(a != b for a, b in zip(one.tobytes(), other.tobytes())) / (one.size[0] * one.size[1])
            self.assertGreater(min(differing, 1 - differing), 0.05)

    def test_r19_the_code_on_the_display_is_the_receipts(self):
        display = self.display(size=(1280, 800))
        self.approve().title("approved")
        wanted = shop.daemon("GET", f"/v1/transactions/{settled(shop)['id']}/receipt").json["qr"]
        display.shows("receipt")
        self.assertEqual(wanted, scanned(display))
        # Five whole pixels a module, or more: cameras are worse than screenshots.
        code = display.main.locator("img").first
        modules = int(re.search(r"viewBox=\D{1,3}0\D{1,3}0\D{1,3}(\d+)", urllib.parse.unquote(code.get_attribute("src")))[1])
        size = display.box(code)["width"] / modules
        self.assertTrue(size >= 5 and size == int(size), size)

    def test_r21_a_pin_is_asked_for_elsewhere(self):
        display = self.display()
        till = self.approve("12.70")
        till.title("declined")
        self.assertEqual("useOtherTerminal", shop.daemon("GET", f"/v1/transactions/{settled(shop)['id']}").json["result"]["action"])
        self.assertIn(display.text("chip"), until(lambda: display.words() if display.says("declined") or display.says("chip") else None))
        for screen in (till, display):
            self.assertEqual(0, screen.page.locator("input:visible").count())

    def test_r22_an_error_for_staff_says_what_it_is_and_what_to_do(self):
        till = self.till()
        shop.card("detach")
        until(lambda: shop.daemon("GET", "/v1/lanes/main").json["state"] == "detached")
        till.sell("12.50")
        error = shop.daemon("POST", "/v1/transactions", {"type": "purchase", "lane": "main", "amount": {"value": 1, "currency": "EUR"}},
                            {"Idempotency-Key": "r22", "Accept-Language": "en"}).json["error"]
        for part in ("message", "resolution"):
            expect(till.page.get_by_text(error[part]).filter(visible=True).first).to_be_visible()
        small = till.page.get_by_text(error["code"]).filter(visible=True).first
        size = "(one) => parseFloat(getComputedStyle(one).fontSize)"
        self.assertLess(small.evaluate(size), till.page.get_by_text(error["message"]).filter(visible=True).first.evaluate(size))

    def test_r23_help_is_one_press_away_and_fits(self):
        till = self.approve("12.51")
        till.title("declined")
        till.press("till.help")
        topic = shop.daemon("GET", "/v1/help/declined", headers={"Accept-Language": "en"}).json
        expect(till.page.get_by_text(topic["title"], exact=True).filter(visible=True).first).to_be_visible()
        expect(till.page.get_by_text(topic["text"][0]).filter(visible=True).first).to_be_visible()
        expect(till.button("till.copy")).to_be_visible()
        self.assertIn(shop.daemon("GET", "/v1/status").json["support"], till.page.locator("body").inner_text())
        # Where the time of this sale's tap went.
        self.assertEqual(shop.last()["id"], shop.daemon("GET", "/v1/lanes/main").json["lastTap"]["transaction"])
        expect(till.page.locator(".tap li")).to_have_text([re.compile(f"^{re.escape(till.text(f'tap.{part}'))}[0-9.,]+ ms$") for part in ("air", "card", "sending", "service")])

    def test_r35_closing_the_till_calls_the_sale_off(self):
        till = self.till().sell("12.50")
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        till.page.context.close()
        until(lambda: shop.last()["state"] == "cancelled", seconds=27, every=1)

    def test_r36_an_approval_is_thanked_for_and_leads_on(self):
        display = self.display()
        till = self.approve()
        till.title("approved")
        display.title("approved")
        display.shows("thanks")
        for key in ("till.newSale", "till.receipt"):
            expect(till.button(key)).to_be_visible()
        till.new()
        # The sum stands with the word of what became of it, and nowhere else.
        display.shows("approved.sum", amount="€12.50")
        self.assertEqual(1, display.words().count("12.50"))

    def test_a_receipt_is_printed_alone_and_legibly(self):
        till = self.approve()
        till.title("approved")
        till.page.evaluate("void (window.print = () => { window.printed = (window.printed ?? 0) + 1; })")
        till.press("till.receipt")
        # The dialog around it has the same name.
        paper = till.page.locator("pre").and_(till.page.get_by_label(till.text("till.receipt"), exact=True))
        for copy in ("customer", "merchant"):
            till.press(f"till.{copy}Copy")
            wanted = shop.daemon("GET", f"/v1/transactions/{settled(shop)['id']}/receipt?copy={copy}&width=42", headers={
                "Accept": "text/plain", "Accept-Language": "en"}).body.strip()
            until(lambda: paper.inner_text().strip() == wanted)
            till.press("till.print")
        self.assertEqual(2, till.page.evaluate("window.printed"))
        # What the printer gets: the words of a PDF that Chromium makes of the page, by a program of others.
        with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
            till.page.pdf(path=file.name)
            printed = subprocess.run(["pdftotext", "-layout", file.name, "-"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(wanted.split(), re.sub(r"[\f\n]+", "\n", printed).split()[-len(wanted.split()):])
        for key in ("till.print", "till.close", "till.newSale", "till.settings"):
            self.assertNotRegex(printed, rf"\b{till.text(key)}\b")

    def test_r40_nothing_is_green_before_the_final_state(self):
        display = self.display()
        till = self.till().sell("12.50")
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        shop.stop("sandbox")
        self.addCleanup(shop.go_on, "sandbox")
        shop.card("present", "visa")
        till.shows("till.authorising")
        display.title("wait")

        def seconds():
            for screen in (till, display):
                self.assertEqual(0, screen.page.evaluate(GREENS))
                self.assertFalse(screen.says("approved"))
                self.assertNotIn(TEXTS["en"]["till.paid"], screen.words())
            return re.search(rf"^{till.text('till.passed', n='([3-9]|[1-9][0-9])')}$", till.words(), re.MULTILINE)

        until(seconds)
        shop.go_on("sandbox")
        till.title("approved")
        until(lambda: till.page.evaluate(GREENS) > 0)

    def test_r41_it_all_runs_against_a_stand_in(self):
        self.assertEqual("test", shop.daemon("GET", "/v1/status").json["mode"])
        self.assertEqual({"virtual"}, {lane["reader"]["driver"] for lane in shop.daemon("GET", "/v1/lanes").json["lanes"]})
        till = self.approve()
        till.title("approved")
        self.assertEqual("test", settled(shop)["mode"])

    def test_the_customer_never_reads_why(self):
        display = self.display()
        for amount in ("12.41", "12.43", "12.51", "12.54"):
            till = self.approve(amount)
            display.title("declined")
            reason = shop.daemon("GET", f"/v1/transactions/{settled(shop)['id']}").json["result"]["reason"]
            self.assertNotIn(TEXTS["en"][f"reason.{reason}"], display.page.locator("body").inner_text())
            self.assertNotRegex(display.page.locator("body").inner_text(), r"\*|0010|Visa")
            shop.card("remove")
            till.page.context.close()

    def test_a_part_is_paid_and_the_rest_is_a_sale_of_its_own(self):
        display = self.display()
        till = self.approve("12.10")
        till.title("till.partial")
        self.assertIn("€6.05", till.words())
        self.assertIn("€6.05", display.words())
        shop.card("remove")
        till.press("till.restCard")
        last = until(lambda: (last := shop.last()) and last["state"] == "armed" and last)
        self.assertEqual(605, last["amount"]["value"])

    def test_a_rest_that_is_declined_leads_back_to_the_part_that_is_paid(self):
        till = self.approve("12.10")
        till.title("till.partial")
        part = shop.last()["id"]
        shop.card("remove")
        till.press("till.restCard")
        until(lambda: (last := shop.last())["state"] == "armed" and last["id"] != part)
        shop.card("present", "visa")
        # The sandbox declines sums that end in 05.
        till.title("declined")
        shop.card("remove")
        till.page.reload()
        till.title("declined")
        till.shows("till.openAmount")
        self.assertEqual(2, till.words().count("€6.05"))
        self.assertEqual(0, till.button("till.newSale").count())
        till.press("till.back")
        till.title("till.partial")
        till.press("till.reverse")
        till.title("till.reversed")
        self.assertEqual("reversed", shop.daemon("GET", f"/v1/transactions/{part}").json["state"])
        till.new()

    def test_a_sale_in_doubt_stands_aside_with_its_sum_and_the_next_bill_waits(self):
        till = self.doubt()
        shop.card("remove")
        till.press("till.aside")
        doubtful = till.page.get_by_role("button", name=re.compile(f"{till.text('till.unresolved')}.*€12.97"))
        expect(doubtful).to_be_visible()
        # The reader is the first customer's until the daemon knows; the till says whose.
        till.sell("3.30")
        till.title("till.refused")
        doubtful.click()
        expect(till.main.get_by_text("€12.97").filter(visible=True).first).to_be_visible()
        shop.start("sandbox")
        settled(shop, seconds=60)
        expect(till.button("till.newSale").first).to_be_visible(timeout=40_000)
        till.new()
        expect(till.amount).to_have_value("3.30")
        expect(doubtful).to_have_count(0)

    def test_the_cashier_hears_how_a_sale_that_was_put_aside_has_ended(self):
        till = self.doubt()
        shop.card("remove")
        till.press("till.aside")
        till.enter("3.3")
        shop.start("sandbox")
        last = settled(shop, seconds=60)
        words = {"approved": "approved", "reversed": "till.reversed", "declined": "declined"}[last["state"]]
        expect(till.page.get_by_role("button", name=re.compile(f"^{till.text(words)}.*€12.97"))).to_be_visible(timeout=10_000)
        # Whoever is typing goes on.
        till.page.keyboard.type("0")
        expect(till.amount).to_have_value("3.30")

    def test_a_payment_that_is_not_known_is_asked_for_and_never_sold_again(self):
        display = self.display()
        till = self.doubt()
        display.title("unknown")
        self.assertEqual(0, till.button("till.again").count())
        posted = []
        till.page.on("request", lambda request: posted.append(request.url) if request.method == "POST" and "/transactions" in request.url else None)
        with till.page.expect_response(lambda answer: "/v1/transactions" in answer.url):
            till.press("till.lookAgain")
        marker(till.page)
        self.assertEqual([], posted)
        self.assertEqual(0, till.page.evaluate(GREENS))
        shop.start("sandbox")
        # The daemon asks again after half a minute at the most.
        settled(shop, seconds=60)


class Rows(Case):
    def test_r42_whose_cards_are_taken_is_said_in_words(self):
        networks = shop.daemon("GET", "/v1/status").json["networks"]
        self.assertIn("Card", networks)
        for language in ("en", "ar"):
            display = self.display(language=language)
            display.title("welcome")
            words = until(lambda: (words := display.words()) and "Visa" in words and words)
            for name in networks:
                self.assertIn(display.text("taken.other") if name == "Card" else name, words)
        till = self.till().settings()
        self.assertIn("Mastercard", till.words())
        # While somebody pays, the sum has the screen.
        till.open(shop.home).sell("12.50")
        display.title("hold")
        self.assertNotIn("Visa", display.words())

    def line(self, till, kind, amount, **fields):
        till.enter(amount)
        details = till.main.locator("details")
        if details.get_attribute("open") is None:
            details.locator("summary").click()
        till.page.get_by_label(till.text("till.kind"), exact=True).select_option(label=till.text(f"kind.{kind}"))
        for key, value in fields.items():
            till.page.get_by_label(till.text(f"till.{key}"), exact=True).fill(value)

    def test_r43_a_coupon_has_its_code_and_what_is_due_later_is_no_part_of_the_sum(self):
        display = self.display()
        till = self.till()
        self.line(till, "charge", "20.00", label="Deposit")
        till.press("till.add")
        self.line(till, "coupon", "5.00")
        till.press("till.add")
        till.shows("entry.coupon")
        till.page.get_by_label(till.text("till.couponCode"), exact=True).fill("SPRING-26")
        till.press("till.add")
        self.line(till, "deferred", "80.00", label="Balance", due="2027-03-31")
        till.press("till.add")
        till.press("till.continue")
        till.press("till.card")
        display.title("hold")
        words = until(lambda: (words := display.words()) and "Balance" in words and words)
        self.assertIn("€15.00", words)
        self.assertIn("2027-03-31", words)
        details = shop.daemon("GET", f"/v1/transactions/{shop.last()['id']}").json
        self.assertEqual(1500, details["amount"]["value"])
        self.assertEqual([
            {"label": "Deposit", "amount": {"value": 2000, "currency": "EUR"}},
            {"label": "Coupon SPRING-26", "amount": {"value": -500, "currency": "EUR"}, "kind": "discount"},
            {"label": "Balance", "amount": {"value": 8000, "currency": "EUR"}, "kind": "deferred", "begins": "2027-03-31"},
        ], details["details"]["items"])

    def test_r44_reader_link_and_another_terminal_are_chosen_in_one_place_before_any_card(self):
        till = self.till(linking, size=(1280, 900)).confirm("12.99")
        other = till.button("till.otherTerminal", name="sandbox-terminal")
        for choice in (till.button("till.card"), till.button("till.link"), other):
            expect(choice).to_be_visible()
        # What is only held is held by a card: the others would charge it.
        held = till.page.get_by_label(till.text("till.amountKind"), exact=True)
        held.select_option(label=till.text("status.preauthorized"))
        expect(other).to_have_count(0)
        expect(till.button("till.link")).to_have_count(0)
        held.select_option(label=till.text("status.final"))
        other.click()
        till.title("till.elsewhere")
        self.assertIn("sandbox-terminal", till.words())
        begun = shop.daemon("GET", "/v1/transactions?type=handover&limit=1").json["transactions"][0]
        self.assertNotIn("retryOf", begun)
        self.assertEqual(1299, begun["amount"]["value"])
        till.press("till.cancel")
        till.title("declined")
        # The same sum by a card at this reader then.
        till.press("next.otherCard")
        last = until(lambda: (last := shop.last()) and last["state"] == "armed" and last)
        self.assertEqual(("purchase", 1299), (last["type"], last["amount"]["value"]))
        till.press("till.cancel")
        till.title("cancelled")
        till.new()
        # One that is paid there.
        till.confirm("12.00")
        till.button("till.otherTerminal", name="sandbox-terminal").click()
        till.title("approved")
        till.new()
        # A till that may not hand over offers none.
        expect(self.till().confirm("12.00").button("till.otherTerminal", name="sandbox-terminal")).to_have_count(0)

    def test_r45_the_receipt_goes_to_an_address_that_stays_nowhere(self):
        till = self.till().sell("12.50")
        shop.card("present", "visa")
        till.title("approved")
        till.press("till.receipt")
        field = till.page.get_by_label(till.text("receipt.address"), exact=True)
        for typed, asked in (("ada@", None), ("0151 123456", None), ("ada@example.com", {"email": "ada@example.com"}),
                             ("+49 (151) 123-45678", {"phone": "+4915112345678"}), ("0049 151 12345678", {"phone": "+4915112345678"})):
            field.fill(typed)
            if asked is None:
                till.press("receipt.send")
                expect(till.page.get_by_text(till.text("entry.address"), exact=True)).to_be_visible()
                continue
            with till.page.expect_response(lambda answer: answer.url.endswith("/receipt") and answer.request.method == "POST") as answer:
                till.press("receipt.send")
            self.assertEqual((204, asked), (answer.value.status, json.loads(answer.value.request.post_data)))
            expect(till.page.get_by_text(till.text("receipt.sent"), exact=True)).to_be_visible()
            expect(field).to_have_value("")
        kept = till.page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")
        self.assertNotRegex(kept, "example.com|15112345678")
        self.assertEqual([], till.violations())

    def test_r49_a_customer_types_the_address_at_the_display(self):
        till, display = self.till(), self.display()
        till.sell("12.50")
        shop.card("present", "visa")
        display.title("approved")
        page = display.page
        page.locator("#ask-receipt").click()
        field = page.locator("#address")
        for letter in "ada@":
            page.locator(".keys").get_by_role("button", name=letter, exact=True).click()
        page.locator("#address-send").click()
        expect(page.get_by_text(display.text("entry.address"), exact=True)).to_be_visible()
        for letter in "examplex":
            page.locator(".keys").get_by_role("button", name=letter, exact=True).click()
        page.locator(".keys").get_by_role("button", name=display.text("display.delete"), exact=True).click()
        for letter in ".org":
            page.locator(".keys").get_by_role("button", name=letter, exact=True).click()
        expect(field).to_have_value("ada@example.org")
        self.assertEqual([], display.violations())
        with page.expect_response(lambda answer: answer.url.endswith("/v1/display/receipt")) as answer:
            page.locator("#address-send").click()
        self.assertEqual((204, {"email": "ada@example.org"}), (answer.value.status, json.loads(answer.value.request.post_data)["to"]))
        expect(display.main.get_by_text(display.text("receipt.sent"), exact=True)).to_be_visible()
        expect(page.locator("#ask-receipt")).to_have_count(0)
        self.assertNotIn("ada@", page.content())
        kept = page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")
        self.assertNotIn("example.org", kept)
        self.assertEqual([], display.violations())

    def test_r46_who_is_new_at_the_till_is_offered_the_tutorial_until_it_was_seen(self):
        till = self.till().settings()
        till.set("set.cashiers", "Ada, Grace")
        choice = till.page.get_by_role("combobox", name=till.text("till.cashier"), exact=True)
        offer = till.page.get_by_role("dialog").get_by_text(till.text("learn.offer"), exact=True)
        choice.select_option("Ada")
        expect(offer).to_be_visible()
        self.assertEqual([], till.violations())
        till.press("learn.later")
        choice.select_option("Grace")
        till.page.get_by_role("dialog").get_by_role("button", name=till.text("set.tutorial"), exact=True).click()
        expect(till.page.get_by_role("heading", name=till.text("learn.title"), exact=True)).to_be_visible()
        till.open(shop.home)
        expect(choice).to_have_value("Grace")
        choice.select_option("Ada")
        expect(offer).to_be_visible()
        till.press("learn.later")
        choice.select_option("Grace")
        expect(choice).to_have_value("Grace")
        expect(offer).to_have_count(0)

    def test_r47_drawings_show_where_to_hold_a_card_and_both_ways_of_a_pin(self):
        readers = [{"model": place, "hold": f"over {place}", "place": place} for place in (
            "copperLoop", "stick", "lights", "top", "behindSlot", "besideDisplay", "besideSlot", "symbol")]
        for scheme in ("light", "dark"):
            window = browser.window(full, size=(1280, 900), scheme=scheme)
            self.addCleanup(window.context.close)
            window.route("**/v1/help/holding", lambda route: route.fulfill(json={
                "topic": "holding", "language": "en", "title": "Holding", "text": ["Hold"], "readers": [*readers, {"model": "New", "hold": "there"}]}))
            window.goto(f"{shop.home}/till/education.html")
            for reader in readers:
                shown = window.locator("#hold").get_by_role("img", name=reader["hold"], exact=True)
                expect(shown).to_be_visible()
                box = shown.bounding_box()
                self.assertTrue(box["width"] >= 150 and box["height"] >= 100, box)
            self.assertEqual(len(readers), window.locator("#hold").get_by_role("img").count())
            self.assertEqual(2, window.locator("#pin").get_by_role("img").count())
            self.assertEqual([], Till(window).violations())
            self.assertEqual([], window.complaints)

    def test_r48_a_reader_that_is_too_old_says_what_to_do_and_takes_cards_meanwhile(self):
        notice = {"code": "reader.firmware_too_old", "message": "Firmware of the reader too old", "resolution": "Update it with its maker's program",
                  "who": "administrator", "retryable": False, "docs": "errors.md"}

        def old(body):
            body["lanes"][0]["notice"] = notice
            body["lanes"][0]["reader"] |= {"firmware": "1.4", "minimumFirmware": "1.6"}
        window = browser.window(cashier)
        self.addCleanup(window.context.close)
        self.addCleanup(lambda: window.unroute_all(behavior="ignoreErrors"))
        till = Till(window)
        self.status(till, old)
        till.open(shop.home)
        expect(till.page.get_by_text(re.compile(re.escape(notice["resolution"]))).filter(visible=True).first).to_be_visible()
        till.settings()
        for text in (notice["message"], notice["resolution"], re.compile("1.4 < 1.6")):
            expect(till.main.get_by_text(text).filter(visible=True).first).to_be_visible()
        till.press("till.settings")
        till.sell("12.50")
        shop.card("present", "visa")
        till.title("approved")


class Links(Case):
    def declined(self, amount="50.51", card="visa", title="declined", state=None):
        till = self.till(state or linking, size=(1280, 900)).sell(amount)
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        shop.card("present", card)
        till.title(title)
        shop.card("remove")
        return till

    def linked(self, amount="50.51", **more):
        """A link in the place of a sale that was declined. The sandbox's stays open for this sum."""
        till = self.declined(amount, **more)
        till.press("next.paymentLink")
        till.title("till.linkOpen")
        return till

    def link(self):
        return shop.daemon("GET", "/v1/transactions?type=link&limit=1").json["transactions"][0]

    def address(self):
        return shop.daemon("GET", f"/v1/transactions/{self.link()['id']}").json["link"]["url"]

    def test_a_link_can_be_chosen_before_any_card_and_asked_for_again(self):
        till = self.till(linking, size=(1280, 900)).confirm("50.52")
        till.press("till.link")
        till.title("till.linkOpen")
        self.assertNotIn("retryOf", self.link())
        first = self.link()["id"]
        till.press("till.cancel")
        till.title("till.linkClosed")
        till.press("next.paymentLink")
        till.title("till.linkOpen")
        self.assertNotEqual(first, self.link()["id"])
        till.press("till.cancel")
        till.title("till.linkClosed")
        # Or by a card, for the same sum.
        till.press("next.otherCard")
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        self.assertEqual(("purchase", 5052), (shop.last()["type"], shop.last()["amount"]["value"]))

    def test_a_link_stands_on_both_screens_with_its_sum_until_it_is_closed(self):
        display = self.display(size=(1280, 800))
        till = self.linked()
        display.title("link")
        for screen in (till, display):
            self.assertEqual(self.address(), scanned(screen))
            self.assertIn("€50.51", screen.words())
            self.assertEqual(0, screen.page.evaluate(GREENS))
        self.assertIn(self.address(), till.words())
        self.assertNotIn("pay.example", display.words())
        # A display that is opened now has it, too, and so has a till that is loaded anew.
        late = self.display(size=(1280, 800))
        late.title("link")
        self.assertEqual(self.address(), scanned(late))
        till.page.reload()
        till.title("till.linkOpen")
        # A reader is not needed for it.
        shop.card("detach")
        until(lambda: shop.daemon("GET", "/v1/lanes/main").json["state"] == "detached")
        shop.card("attach")
        until(lambda: shop.daemon("GET", "/v1/lanes/main").json["state"] == "ready")
        display.title("link")
        till.press("till.cancel")
        till.title("till.linkClosed")
        display.title("cancelled")
        self.assertEqual("declined", self.link()["state"])
        self.assertEqual(0, till.page.evaluate(GREENS))
        # After it comes a card again, on the till's reader, or another link.
        till.press("next.otherCard")
        last = until(lambda: (last := shop.last()) and last["state"] == "armed" and last)
        self.assertEqual(("purchase", 5051), (last["type"], last["amount"]["value"]))
        display.title("hold")

    def test_a_link_that_is_paid_is_approved_on_both_screens(self):
        display = self.display(size=(1280, 800))
        till = self.linked("12.50", card="no-ppse", title="failed")
        display.title("link")
        till.title("approved")
        display.title("approved")
        self.assertEqual("approved", self.link()["state"])
        till.new()

    def test_a_link_stands_aside_for_the_next_customer_whose_sale_takes_the_display(self):
        display = self.display(size=(1280, 800))
        till = self.linked("50.54")
        display.title("link")
        till.press("till.aside")
        waiting = till.page.get_by_role("button", name=re.compile(f"{till.text('till.link')}.*€50.54"))
        expect(waiting).to_be_visible()
        till.sell("3.30")
        display.title("hold")
        self.assertNotIn("€50.54", display.words())
        till.press("till.cancel")
        till.title("cancelled")
        till.new()
        waiting.click()
        till.title("till.linkOpen")
        till.press("till.cancel")
        till.title("till.linkClosed")
        till.new()
        expect(waiting).to_have_count(0)

    def test_the_receipt_of_an_open_link_says_that_nothing_is_paid(self):
        till = self.linked()
        till.press("till.receipt")
        dialog = till.page.get_by_role("dialog")
        expect(dialog.get_by_text("NOT PAID YET")).to_be_visible()
        expect(dialog.get_by_role("img", name=till.text("link"))).to_be_visible()
        till.press("till.close")
        till.press("till.cancel")
        till.title("till.linkClosed")

    def test_another_terminal_takes_a_sale_that_this_reader_cannot_and_the_till_waits_for_it(self):
        till = self.declined("12.99", card="gpo-6984", title="failed")
        till.page.get_by_role("button", name=re.compile("sandbox-terminal")).click()
        till.title("till.elsewhere")
        self.assertIn("sandbox-terminal", till.words())
        self.assertEqual(0, till.page.evaluate(GREENS))
        till.press("till.cancel")
        till.title("declined")
        till.new()
        till = self.declined("12.00", card="gpo-6984", title="failed")
        till.page.get_by_role("button", name=re.compile("sandbox-terminal")).click()
        till.title("approved")
        last = shop.daemon("GET", "/v1/transactions?type=handover&limit=1").json["transactions"][0]
        self.assertEqual(("approved", 1200), (last["state"], last["amount"]["value"]))
        till.new()

    def test_a_till_that_may_open_no_links_opens_none(self):
        till = self.declined(state=cashier)
        posted = []
        till.page.on("request", lambda request: posted.append(request.url) if request.method == "POST" and "/transactions" in request.url else None)
        till.press("next.paymentLink")
        till.shows("till.linkMissing")
        marker(till.page)
        self.assertEqual([], posted)


if __name__ == "__main__":
    unittest.main()
