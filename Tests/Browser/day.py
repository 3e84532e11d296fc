# SPDX-License-Identifier: Apache-2.0
"""A shop's day at the till, as a person who knows no shell does it: sells, holds and captures with a tip, gives a named sale back, finds what
became of one whose answer is lost, closes the day, prints its report. In English, German and Arabic, on a telephone's width and a desk's.

NFC_TAP_SHOTS names where a picture of each step goes. With NFC_TAP_INSTALLED=1 the package's own units are driven (make check-package).
"""
import os
import re
import unittest

from playwright.sync_api import expect

from shop import SHOTS, Chromium, Installed, Shop, until
from till import Till, drawn, settled

MANAGER = ("--lane", "main", "--role", "manager", "--type", "purchase", "--type", "refund")
LOCALES = {"en": "en-GB", "de": "de-DE", "ar": "ar"}
SIZES = {"phone": (360, 780), "desk": (1280, 800)}
#: What is on two lines, or sticks out, of the words that stand on the screen.
BROKEN = """() => {
  const found = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const place = node.parentElement;
    if (!place.offsetParent || place.closest("pre, .spoken, .address, [role=alert], .small")) continue;
    for (const word of node.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange(); range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
      const boxes = [...range.getClientRects()];
      if (new Set(boxes.map((one) => Math.round(one.top))).size > 1 || boxes.some((one) => one.left < -1 || one.right > innerWidth + 1)) found.add(word[0]);
    }
  }
  return [...found];
}"""
#: Sums, dates, times and ids whose signs are not where they are written, among words that come from the right; and fields for sums that would show
#: "-2.37" as "2.37-". The source is UAX #9: a number after Arabic letters takes their direction (W2, W6).
DISORDER = """() => {
  const found = [], walker = document.createTreeWalker(document.querySelector("dialog[open]") ?? document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    if (!node.parentElement.checkVisibility()) continue;
    for (const number of node.data.matchAll(/-?\\d[\\d.,:-]*\\d( \\d\\d:\\d\\d)?|-\\d/g)) {
      const places = [...number[0]].map((_, at) => {
        const range = document.createRange(); range.setStart(node, number.index + at); range.setEnd(node, number.index + at + 1);
        return range.getBoundingClientRect();
      });
      if (places.some((one, at) => at && one.top < places[at - 1].bottom && one.left < places[at - 1].left)) found.push(number[0]);
    }
  }
  for (const one of document.querySelectorAll("input[inputmode=decimal]")) if (getComputedStyle(one).direction !== "ltr") found.push(one.id);
  return found;
}"""


def setUpModule():
    global shop, browser
    shop = Installed() if os.environ.get("NFC_TAP_INSTALLED") else Shop(sandbox=("--slow-seconds", "4"))
    unittest.addModuleCleanup(shop.close)
    browser = Chromium()
    unittest.addModuleCleanup(browser.close)


class Case(unittest.TestCase):
    def setUp(self):
        self.addCleanup(shop.rest)

    def till(self, name, rights=MANAGER, language="en", size="desk"):
        window = browser.window(None, SIZES[size], "light", LOCALES[language])
        self.addCleanup(window.context.close)
        return Till(window, language).connect(shop, name, rights)

    def paid(self, till, amount, title="approved"):
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        shop.card("present", "visa")
        till.title(title)
        shop.card("remove")
        till.new()

    def day(self, till):
        till.press("day.title")
        till.title("day.title")
        till.main.locator("h2").first.wait_for()
        return till

    def sale(self, till, amount):
        """Looks for it by its sum, and opens it."""
        till.page.get_by_label(till.text("day.find")).fill(amount)
        till.press("day.findDo")
        expect(till.button("day.all")).to_be_visible()
        till.main.locator("button.row:has(.words)").first.click()
        expect(till.button("till.receipt")).to_be_visible()


class Day(Case):
    def walk(self, language, size):
        name = f"day-{language}-{size}"
        till = self.till(name, MANAGER, language, size)

        def seen(step):
            drawn(till.page)
            for paper in till.page.locator("dialog pre").all():
                with self.subTest(f"{name} {step}: each sum of a paper is on the screen"):
                    self.assertLessEqual(paper.evaluate("one => one.scrollWidth - one.clientWidth"), 0)
                    self.assertLessEqual(paper.evaluate("one => one.getBoundingClientRect().right - innerWidth"), 0)
            SHOTS.mkdir(parents=True, exist_ok=True)
            till.page.screenshot(path=SHOTS / f"{name}-{step}.png", full_page=False)
            with self.subTest(f"{name} {step}"):
                self.assertEqual([], till.page.evaluate(BROKEN))
                self.assertEqual([], till.page.evaluate(DISORDER))
                self.assertLessEqual(till.page.evaluate("document.documentElement.scrollWidth - innerWidth"), 0)
                self.assertEqual([], till.violations())
                self.assertEqual(0, till.page.locator("button:disabled").count())
        # Sells.
        till.sell("12.37")
        self.paid(till, "12.37")
        # Holds 50.00 and captures 40.00 with a tip of 5.00: what is left is released.
        till.confirm("50.00")
        till.page.get_by_label(till.text("till.amountKind")).select_option("preauthorized")
        till.press("till.card")
        self.paid(till, "50.00", "held")
        self.day(till)
        seen("day")
        self.sale(till, "50.00")
        till.title("word.held")
        seen("held")
        # Nothing is captured yet: the button says so.
        till.press("till.refund")
        till.shows("day.nothingCaptured")
        till.press("day.capture")
        till.page.get_by_label(till.text("till.amount"), exact=True).fill("99999.00")
        till.page.locator("#go").click()
        expect(till.page.locator("#act-problem")).not_to_be_empty()
        till.page.get_by_label(till.text("till.amount"), exact=True).fill("40.00")
        till.page.get_by_label(till.text("till.tip"), exact=True).fill("5.00")
        seen("capture")
        till.page.locator("#go").click()
        expect(till.main.get_by_role("heading").first).to_contain_text(till.text("word.captured"))
        seen("captured")
        held = next(one for one in shop.daemon("GET", f"/v1/transactions?limit=10&till={name}").json["transactions"] if one["amount"]["value"] == 5000)
        self.assertEqual((4500, 500, 0), tuple(held["account"][part] for part in ("captured", "released", "remaining")))
        till.press("till.receipt")
        expect(till.page.locator("dialog pre")).to_contain_text(re.compile("45[.,]00"))
        seen("receipt")
        till.press("till.close")
        # Gives a part of a named sale back, without a card.
        till.press("till.back")
        self.sale(till, "12.37")
        till.press("till.refund")
        till.page.get_by_label(till.text("till.amount"), exact=True).fill("2.37")
        seen("refund")
        till.page.locator("#go").click()
        till.title("refunded")
        seen("refunded")
        till.new()
        refund = shop.daemon("GET", f"/v1/transactions?limit=1&till={name}").json["transactions"][0]
        self.assertEqual(("refund", 237), (refund["type"], refund["amount"]["value"]))
        self.assertTrue(refund["of"])
        # Finds what became of a sale whose answer is lost: the payment service dies over it, and comes back.
        till.sell("8.97")
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        shop.card("present", "visa")
        till.shows("till.authorising")
        shop.kill("sandbox")
        self.addCleanup(lambda: shop.runs("sandbox") or shop.start("sandbox"))
        till.title("till.unknown", 40)
        seen("unknown")
        shop.card("remove")
        till.press("till.aside")
        self.day(till)
        self.sale(till, "8.97")
        till.shows("open.wait")
        seen("lost")
        shop.start("sandbox")
        lost = settled(shop, seconds=90)
        word, more = {"approved": ("word.captured", 897), "reversed": ("word.reversed", 0)}[lost["state"]]
        expect(till.main.get_by_role("heading").first).to_contain_text(till.text(word), timeout=60_000)
        seen("found")
        till.press("till.back")
        till.title("day.title")
        # Closes the day, and prints its report.
        till.press("day.end")
        till.title("day.end")
        till.main.locator("table.sums").first.wait_for()
        seen("end")
        till.press("day.endDo")
        paper = till.page.locator("dialog pre")
        expect(till.page.locator("dialog h2")).to_have_text(re.compile(till.text("day.report", number="\\d+")))
        total = 5737 + more
        expect(paper).to_contain_text(re.compile(f"{total // 100}[.,]{total % 100}"))
        expect(paper).to_contain_text(re.compile("-2[.,]37"))
        expect(paper).to_have_css("direction", "rtl" if language == "ar" else "ltr")
        seen("report")
        till.page.emulate_media(media="print")
        expect(paper).to_be_visible()
        expect(till.button("till.print")).to_have_count(0)
        till.page.emulate_media(media="screen")
        till.press("till.close")
        number = shop.daemon("GET", "/v1/days?limit=2").json["days"][1]["number"]
        till.page.get_by_role("button", name=re.compile(re.escape(till.text("day.report", number=number)))).first.click()
        expect(paper).not_to_be_empty()
        till.press("till.close")
        self.assertEqual([], till.page.complaints)

    def test_d7_english_on_a_telephones_width(self):
        self.walk("en", "phone")

    def test_d7_german_on_a_desk(self):
        self.walk("de", "desk")

    def test_d7_arabic_on_a_telephones_width(self):
        self.walk("ar", "phone")


class Rights(Case):
    def test_d7_a_cashier_closes_no_day_and_refunds_named_sales_only_and_is_told_why(self):
        till = self.till("plain", ("--lane", "main", "--role", "cashier", "--type", "purchase", "--type", "refund"))
        self.day(till).press("day.end")
        expect(till.page.locator("#told")).to_contain_text("--role manager")
        days = shop.daemon("GET", "/v1/days").json["days"][0]["number"]
        till.press("till.back")
        till.enter("5.00").press("till.more")
        till.press("till.refund")
        till.title("day.title")
        expect(till.page.locator("#told")).to_contain_text("--role manager")
        # Whatever the page does: the gateway lets neither through.
        token = till.page.evaluate("localStorage.getItem('nfc-tap.token')")
        for path, body in (("/v1/days", {}), ("/v1/transactions", {"type": "refund", "lane": "main", "amount": {"value": 500, "currency": "EUR"}})):
            answer = shop.gateway("POST", path, body, token, {"Idempotency-Key": f"no{path}"})
            self.assertEqual((403, "auth.role_missing"), (answer.status, answer.json["error"]["code"]), path)
        self.assertEqual(days, shop.daemon("GET", "/v1/days").json["days"][0]["number"])

    def test_d7_a_manager_gives_money_back_without_a_sale(self):
        till = self.till("boss").enter("3.00")
        till.press("till.more")
        till.press("till.refund")
        self.paid(till, "3.00", "refunded")

    def test_d7_an_answer_that_is_lost_captures_once(self):
        till = self.till("lossy")
        till.confirm("20.00")
        till.page.get_by_label(till.text("till.amountKind")).select_option("preauthorized")
        till.press("till.card")
        self.paid(till, "20.00", "held")
        self.day(till)
        self.sale(till, "20.00")
        lost = []

        def lose(route):
            """The daemon has it, and the page hears nothing."""
            if len(lost) < 2:
                lost.append(route.fetch().status)
                return route.abort()
            return route.continue_()
        till.page.route("**/captures", lose)
        till.press("day.capture")
        till.page.locator("#go").click()
        till.title("word.captured", 60)
        self.assertEqual(2, len(lost))
        sale = shop.daemon("GET", "/v1/transactions?limit=1&till=lossy").json["transactions"][0]
        self.assertEqual(1, len(shop.daemon("GET", f"/v1/transactions/{sale['id']}/operations").json["operations"]))
        self.assertEqual(2000, sale["account"]["captured"])


if __name__ == "__main__":
    unittest.main()
