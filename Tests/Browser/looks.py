# SPDX-License-Identifier: Apache-2.0
"""How till and display look: six sizes, light and dark, English, German, Arabic and Japanese; axe in every state, sizes of targets and
letters, nothing that has to be scrolled, mirrored for Arabic, without motion where none is wanted.

With NFC_TAP_PICTURES it writes a picture of every state there, in two languages, light and dark, and tests nothing else.
"""
import os
import pathlib
import re
import unittest

from playwright.sync_api import expect

from day import BROKEN, DISORDER
from shop import SHOTS, TEXTS, Chromium, Shop, until
from till import CASHIER, Display, Till, drawn, marker

SIZES = ((800, 480), (1024, 600), (1280, 800), (1366, 768), (1920, 1080), (600, 1024))
PICTURES = os.environ.get("NFC_TAP_PICTURES")
FULL = ("--lane", "main", "--role", "cashier", *(word for name in ("purchase", "refund", "verification") for word in ("--type", name)))
LOCALES = {"en": "en-GB", "de": "de-DE", "ar": "ar", "ja": "ja-JP"}


#: Puts each text where the till has it, and gives the words that are on two lines and what sticks out.
FITTING = """languages => {
  const box = document.getElementById("box"), found = new Set();
  const places = {
    end: (text) => `<div class="state"><div class="headline"><span class="sign good"></span><h1>${text}</h1></div></div>`,
    button: (text, back) => `<div class="panel"><div class="actions"><button class="wide">${back}</button><button class="primary wide">${text}</button></div></div>`,
    method: (text) => `<div class="methods"><button class="primary card">${text}</button><button class="method">${text}</button></div>`,
  };
  for (const [language, texts] of Object.entries(languages)) {
    document.documentElement.lang = language; document.documentElement.dir = language === "ar" ? "rtl" : "ltr";
    for (const [key, text] of Object.entries(texts)) for (const [place, made] of Object.entries(places)) {
      if (text.length > 32 || place !== "end" && !/^(till|next|set|day|word)\\./.test(key)) continue;
      box.innerHTML = made(text, texts["till.back"]);
      const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
      for (let node; (node = walker.nextNode());) for (const word of node.data.matchAll(/[^\\s-]+/g)) {
        const range = document.createRange(); range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
        const boxes = [...range.getClientRects()];
        if (new Set(boxes.map((one) => Math.round(one.top))).size > 1 || boxes.some((one) => one.left < 0 || one.right > 360)) found.add(`${language} ${place} ${word[0]}`);
      }
    }
  }
  return [...found];
}"""
#: What is read or heard: no commands, addresses and names, which are the same in every language.
SAID = """() => {
  const said = [document.title], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const place = node.parentElement;
    if ((place.checkVisibility() || place.closest(".spoken")) && !place.closest("script, .address, pre.small, #shop, #lane, bdi")) said.push(node.data);
  }
  for (const one of document.querySelectorAll("[aria-label], [placeholder]")) if (one.checkVisibility()) said.push(one.ariaLabel ?? "", one.placeholder ?? "");
  return said.join(" ");
}"""
COMMANDS = pathlib.Path(__file__).parents[2] / "Sources/Payments/CTexts"
ALL = ("--lane", "main", "--role", "manager", *(word for name in ("purchase", "refund", "verification", "loyalty", "link", "handover") for word in ("--type", name)))
#: Sums that the sandbox ends in its own way.
ENDS = (("12.51", "declined"), ("12.10", "till.partial"))
#: Of the shop, its readers and its cards, and of commands.
NAMES = {"corner", "eur", "example", "shop"}


def words(text):
    return set(re.findall(r"[^\W\d_]{3,}", text.lower()))


FITTING_SUMS = """sums => sums.filter((sum) => {
  document.getElementById("box").innerHTML = `<div class="bill"><div class="total"><h1>1</h1><span class="amount big">${sum}</span></div></div>`;
  return document.querySelector(".amount").getBoundingClientRect().right > 360 || document.documentElement.scrollWidth > 360;
})"""


def setUpModule():
    global shop, browser, cashier, customer
    shop = Shop(sandbox=("--slow-seconds", "9"))
    unittest.addModuleCleanup(shop.close)
    browser = Chromium()
    unittest.addModuleCleanup(browser.close)
    cashier, customer = browser.paired(Till, shop, "bar-1", (*CASHIER, "--type", "link")), browser.paired(Display, shop)


def fresh(display):
    """The display of a new gateway begins with its welcome, whatever was on it."""
    shop.kill("gateway")
    shop.start("gateway")
    display.page.goto(f"{shop.home}/display/")
    display.title("welcome")


def walk(till, display, visit, goods="10.00"):
    """Leads both through the states of a sale of goods and 2.97; `visit` is given the name of each."""
    shop.card("remove")
    fresh(display)
    till.open(shop.home)
    till.enter(goods).press("till.add")
    till.enter("2.97")
    visit("compose")
    till.press("till.add")
    till.press("till.continue")
    visit("confirm")
    till.press("till.card")
    display.title("hold")
    expect(till.button("till.cancel")).to_be_visible()
    until(lambda: shop.last()["state"] == "armed")
    till.main.locator("[data-seconds]:not(:empty)").wait_for()
    visit("armed")
    shop.card("present", "visa")
    till.shows("till.authorising")
    display.title("wait")
    visit("authorising")
    till.title("approved", 30)
    display.title("approved")
    until(lambda: display.main.locator("img, svg").count() > 0)
    visit("approved")
    shop.card("remove")
    till.new()
    for amount, state, title in (("12.51", "declined", "declined"), ("12.10", "partial", "till.partial")):
        till.sell(amount)
        until(lambda: shop.last()["state"] == "armed")
        shop.card("present", "visa")
        till.title(title)
        display.page.locator(f"html[data-phase={state}]").wait_for()
        visit(state)
        shop.card("remove")
        if state == "declined":
            till.press("next.paymentLink")
            till.title("till.linkOpen")
            display.title("link")
            for screen in (till, display):
                screen.main.locator("img.qr").wait_for()
            visit("link")
        till.open(shop.home)
    till.sell("12.50").press("till.cancel")
    expect(till.button("till.newSale")).to_be_visible()
    display.title("cancelled")
    visit("cancelled")
    till.new()
    till.sell("12.97")
    until(lambda: shop.last()["state"] == "armed")
    shop.card("present", "visa")
    till.shows("till.authorising")
    shop.kill("sandbox")
    till.title("till.unknown", 60)
    display.title("unknown")
    visit("unknown")
    shop.start("sandbox")
    until(lambda: shop.last()["state"] in ("approved", "reversed", "declined"), 60)
    shop.card("remove")
    until(lambda: till.button("till.newSale").count(), 40)
    till.new()
    fresh(display)
    shop.card("detach")
    until(lambda: shop.daemon("GET", "/v1/lanes/main").json["state"] == "detached")
    till.sell("12.50")
    till.main.locator(".failure").wait_for()
    display.page.locator("html[data-phase=notReady]").wait_for()
    visit("detached")
    shop.card("attach")
    until(lambda: shop.daemon("GET", "/v1/lanes/main").json["state"] == "ready")
    till.open(shop.home).settings()
    visit("settings")
    till.open(shop.home)
    shop.kill("gateway")
    till.page.locator("html.away").wait_for()
    display.title("staff")
    visit("offline")
    shop.start("gateway")


class Looks(unittest.TestCase):
    def windows(self, language, scheme, size=(1280, 800), **more):
        pair = []
        for kind, state in ((Till, cashier), (Display, customer)):
            window = browser.window(state, size, scheme, LOCALES[language], **more)
            self.addCleanup(window.context.close)
            pair.append(kind(window, language))
        return pair

    def inspect(self, name, screen, kind):
        page = screen.page
        with self.subTest(f"{kind}, {name}: axe"):
            self.assertEqual([], screen.violations())
        with self.subTest(f"{kind}, {name}: P11, numbers in their order"):
            self.assertEqual([], page.evaluate(DISORDER))
        with self.subTest(f"{kind}, {name}: R38, no picture but the receipt's code"):
            self.assertEqual(0, page.locator("svg, picture, canvas, video, img:not(.qr)").count())
        with self.subTest(f"{kind}, {name}: targets"):
            # What lies under a dialog cannot be pressed; at a dialog's end nothing is under its last buttons.
            place = page
            if (dialog := page.get_by_role("dialog")).count():
                place = dialog
                dialog.evaluate("(one) => one.scrollTo(0, one.scrollHeight)")
            boxes = [(one.inner_text() or one.get_attribute("aria-label"), one.bounding_box())
                     for one in place.get_by_role("button").filter(visible=True).all()]
            small = [(text, box) for text, box in boxes if box["width"] < 64 or box["height"] < 64]
            self.assertEqual([], small)
            close = [(a[0], b[0]) for i, a in enumerate(boxes) for b in boxes[i + 1:] if gap(a[1], b[1]) < 8]
            self.assertEqual([], close)
        fixed = name in ("armed", "authorising", "approved", "declined", "link", "partial", "cancelled", "unknown")
        with self.subTest(f"{kind}, {name}: sizes"):
            for width, height in SIZES if fixed else ():
                page.set_viewport_size({"width": width, "height": height})
                drawn(page)
                over = page.evaluate("[document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollWidth - innerWidth]")
                self.assertLessEqual(max(over), 0, f"{width}×{height}")
            page.set_viewport_size({"width": 320, "height": 640})
            drawn(page)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 320)
            page.set_viewport_size({"width": 800, "height": 480})
            drawn(page)
            sizes = """(list) => [...document.querySelectorAll(list)].filter((one) => one.offsetParent && one.innerText?.trim())
                .map((one) => [one.innerText.slice(0, 20), parseFloat(getComputedStyle(one).fontSize)])"""
            if kind == "display" and name != "offline":
                self.assertEqual([], [one for one in page.evaluate(sizes, "main h1") if one[1] < 40])
            if kind == "display" and name == "armed":
                amount = page.get_by_text("12.97").or_(page.get_by_text("12,97")).or_(page.get_by_text("١٢٫٩٧")).filter(visible=True).last
                self.assertGreaterEqual(amount.evaluate("(one) => parseFloat(getComputedStyle(one).fontSize)"), 72)
            if kind == "till":
                self.assertEqual([], [one for one in page.evaluate(sizes, "main h1, main p, main button, main label") if one[1] < 18 and one[0]])
            page.set_viewport_size({"width": 1280, "height": 800})

    def walk(self, language, scheme):
        till, display = self.windows(language, scheme)

        def visit(name):
            for kind, screen in (("till", till), ("display", display)):
                self.inspect(name, screen, kind)
        walk(till, display, visit)
        errors = [line for screen in (till, display) for line in screen.page.complaints
                  if "Failed to load resource" not in line and "ERR_" not in line]
        self.assertEqual([], errors)

    def test_english_light(self):
        self.walk("en", "light")

    def test_german_dark(self):
        self.walk("de", "dark")

    def test_arabic_light_is_mirrored(self):
        self.walk("ar", "light")
        till, display = self.windows("ar", "light")
        till.open(shop.home)
        display.page.goto(f"{shop.home}/display/")
        for screen in (till, display):
            root = screen.page.locator("html")
            expect(root).to_have_attribute("dir", "rtl")
            expect(root).to_have_attribute("lang", "ar")
        # The keys stay as they are on every keypad; what is read runs from the right.
        mirrored, plain = till.box(till.button("till.settings")), None
        english, _ = self.windows("en", "light")
        plain = english.open(shop.home).box(english.button("till.settings"))
        self.assertAlmostEqual(1280 - plain["x"] - plain["width"], mirrored["x"], delta=40)
        for amount in ("20.00", "-2.37"):
            till.enter(amount).press("till.add")
        till.amount.fill("-1.50")
        expect(till.main.locator("ul.lines li")).to_have_count(2)
        self.assertEqual([], till.page.evaluate(DISORDER))

    def test_screens_beside_a_sale(self):
        for language, scheme in (("en", "light"), ("de", "dark"), ("ar", "light")):
            windows = [browser.window(state, (1280, 800), scheme, LOCALES[language]) for state in (None, customer)]
            till, display = Till(windows[0], language), Display(windows[1], language)

            def visit(name, screen=till, kind="till"):
                self.inspect(f"{name} in {language}", screen, kind)
            till.page.goto(f"{shop.home}/till/")
            expect(till.button("pair.do")).to_be_visible()
            visit("pairing")
            till.connect(shop, f"beside-{language}", FULL, tutorial=False)
            visit("tutorial")
            till.page.get_by_text(till.text("learn.done"), exact=True).click()
            till.press("till.more")
            visit("other actions")
            till.press("till.back")
            till.settings()
            for name, value in (("set.tips", True), ("set.donations", True), ("set.link", "https://pay.example/{order}")):
                till.set(name, value)
            till.open(shop.home).enter("12.10").press("till.continue")
            for name in ("till.noTip", "till.noDonation"):
                expect(till.button(name)).to_be_visible()
                visit(name)
                till.press(name)
            for name in ("till.cash", "till.link"):
                till.press(name)
                visit(name)
                till.press("till.back")
            till.press("till.card")
            until(lambda: (last := shop.last()) and last["state"] == "armed")
            display.page.goto(f"{shop.home}/display/")
            display.title("hold")
            display.page.get_by_role("button").first.click()
            visit("languages", display, "display")
            shop.card("present", "visa")
            till.title("till.partial")
            shop.card("remove")
            for name in ("till.receipt", "till.help"):
                till.press(name)
                expect(till.button("till.close")).to_be_visible()
                visit(name)
                till.press("till.close")
            till.press("till.reverse")
            till.title("till.reversed")
            visit("reversed")
            for window in windows:
                window.context.close()

    def test_what_the_service_says_in_english_runs_from_the_left_in_arabic_too(self):
        till, _ = self.windows("ar", "light")
        till.open(shop.home).press("till.help")
        page = till.page.locator("dialog div[lang=en]")
        expect(page).to_have_css("direction", "ltr")
        expect(till.page.locator("dialog")).to_have_css("direction", "rtl")
        till.press("till.close")
        shop.card("detach")
        self.addCleanup(shop.card, "attach")
        until(lambda: shop.daemon("GET", "/v1/lanes/main").json["state"] == "detached")
        till.sell("12.50")
        for words in (till.main.locator(".failure"), till.page.locator("#banner")):
            expect(words).to_have_css("direction", "ltr")

    def test_d8_no_word_is_broken_inside_at_360_px_in_any_language(self):
        """Each text of the till in the places where it stands: heads of end screens, buttons, tiles. Japanese has no words to break."""
        page = browser.browser.new_page(viewport={"width": 360, "height": 780})
        self.addCleanup(page.close)
        css = (pathlib.Path(__file__).parents[2] / "share/till/till.css").read_text()
        page.set_content(f"<style>{css}</style><main><div id=box></div></main>")
        broken = page.evaluate(FITTING, {name: texts for name, texts in TEXTS.items() if name != "ja"})
        self.assertEqual([], broken)
        self.assertEqual([], page.evaluate(FITTING_SUMS, ["9,999,999.99 HUF", "9 999 999,99 Ft", "99,999,999 LBP"]))

    def test_the_times_of_the_last_tap_fit_at_360_px_in_every_language(self):
        """One bar a part, each from where the one before it ended, from the side where the language begins; no other till sees them."""
        till, _ = self.windows("en", "light", (360, 780))
        till.open(shop.home).sell("12.31")
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        shop.card("present", "visa")
        till.title("approved")
        shop.card("remove")
        tap = shop.daemon("GET", "/v1/lanes/main").json["lastTap"]
        self.assertEqual(shop.last()["id"], tap["transaction"])
        other = shop.token("bar-2", *CASHIER)
        self.assertNotIn("lastTap", shop.gateway("GET", "/v1/lanes/main", token=other).body)
        for language in TEXTS:
            window = browser.window(cashier, (360, 780), "light", LOCALES.get(language, language))
            till = Till(window, language).open(shop.home)
            till.press("till.help")
            parts = window.locator("dialog .tap li")
            for place, name in enumerate(("air", "card", "sending", "service")):
                expect(parts.nth(place)).to_contain_text(till.text(f"tap.{name}"))
            parts.last.scroll_into_view_if_needed()
            drawn(window)
            if SHOTS.is_dir():
                window.screenshot(path=SHOTS / f"tap-{language}.png")
            with self.subTest(language):
                self.assertEqual([], [] if language == "ja" else window.evaluate(BROKEN))
                self.assertEqual([], till.violations())
                lines = window.evaluate("""() => [...document.querySelectorAll(".tap li")].map((one) => {
                    const line = one.getBoundingClientRect(), bar = one.querySelector(".bar").getBoundingClientRect(), rtl = document.dir === "rtl";
                    const from = rtl ? line.right - bar.right : bar.left - line.left, left = rtl ? bar.left - line.left : line.right - bar.right;
                    return { from, part: bar.width, left, whole: line.width, height: bar.height, sum: one.querySelector("bdi").textContent };
                })""")
                self.assertEqual(4, len(lines))
                for line in lines:
                    self.assertGreaterEqual(min(line["from"], line["left"]), -0.5, line)
                    self.assertGreaterEqual(min(line["part"], line["height"]), 4, line)
                    self.assertRegex(line["sum"], r"\d")
                whole = max(tap["card"] + tap["sending"] + tap["service"], tap["air"])
                for line, begin in zip(lines, (0, 0, tap["card"], tap["card"] + tap["sending"])):
                    self.assertAlmostEqual(begin / whole, line["from"] / line["whole"], delta=0.02)
            window.context.close()

    def test_d8_an_end_begins_with_its_sum_and_uses_its_field(self):
        """Sum, act, card, from the top; the sum is the largest thing of an end that moved money, on both screens."""
        till, display = self.windows("en", "light")
        till.open(shop.home)
        display.page.goto(f"{shop.home}/display/")
        till.sell("12.37")
        until(lambda: (last := shop.last()) and last["state"] == "armed")
        shop.card("present", "visa")
        till.title("approved")
        display.page.locator("html.good").wait_for()
        shop.card("remove")
        for screen in (till, display):
            drawn(screen.page)
            sizes = screen.page.evaluate("""() => [...document.querySelectorAll("main *")].filter((one) => one.offsetParent && !one.children.length && one.textContent.trim())
                .map((one) => [parseFloat(getComputedStyle(one).fontSize), one.getBoundingClientRect().top, one.textContent])""")
            largest = max(sizes)
            self.assertGreaterEqual(largest[0], 90)
            self.assertIn("12.37", largest[2])
            self.assertEqual(largest[1], min(top for _, top, _ in sizes), "the sum stands first")
            self.assertEqual(1, screen.words().count("12.37"))
            # A field of the screen's height, not some lines in its midst.
            field = screen.page.evaluate("document.querySelector('.state, .scene').getBoundingClientRect().height / innerHeight")
            self.assertGreater(field, 0.7)
        card = till.page.locator(".fact", has_text=till.text("till.cardNumber"))
        expect(card).to_have_text(re.compile(r"\d{4} \(Visa\)$"))

    def test_p8_no_screen_says_a_word_of_another_language(self):
        """Screens, dialogs, paper and spoken words, with what a person may do on each; an end of each kind."""
        ours = {language: words(" ".join(texts.values()) + (COMMANDS / f"{language}.json").read_text()) for language, texts in TEXTS.items()}
        for language in sorted(set(TEXTS) - {"en"}):
            windows = [browser.window(None, (1280, 800), "light", LOCALES.get(language, language)), browser.window(customer, (1280, 800), "light", LOCALES.get(language, language))]
            till, display = Till(windows[0], language), Display(windows[1], language)
            seen = set()

            def visit(name, *screens):
                for screen in screens or (till, display):
                    drawn(screen.page)
                    said = screen.page.evaluate(SAID)
                    found = words(said) & ours["en"] - ours[language] - NAMES
                    with self.subTest(f"{language}, {name}"):
                        self.assertEqual(set(), found, said)
                seen.add(name)
            fresh(display)
            till.page.goto(f"{shop.home}/till/")
            expect(till.button("pair.do")).to_be_visible()
            unpaired = Display(browser.window(None, (1280, 800), "light", LOCALES.get(language, language)), language)
            unpaired.page.goto(f"{shop.home}/display/")
            expect(unpaired.main.get_by_role("button")).to_be_visible()
            for screen in (till, unpaired):
                expect(screen.page.locator("html")).to_have_attribute("lang", language)
                expect(screen.page.locator("html")).to_have_attribute("dir", "rtl" if language == "ar" else "ltr")
            visit("pairing", till, unpaired)
            unpaired.page.context.close()
            till.connect(shop, f"words-{language}", ALL, tutorial=False)
            visit("tutorial")
            till.page.get_by_text(till.text("learn.done"), exact=True).click()
            till.settings()
            for name, value in (("set.tips", True), ("set.donations", True)):
                till.set(name, value)
            visit("settings")
            till.press("till.back")
            till.enter("1.x").press("till.continue")
            visit("an amount that is none")
            till.enter("12.37").press("till.more")
            visit("other actions")
            till.press("till.back")
            till.press("till.continue")
            for name in ("till.noTip", "till.noDonation"):
                expect(till.button(name)).to_be_visible()
                visit(name)
                till.press(name)
            visit("confirm")
            till.press("till.card")
            display.title("hold")
            until(lambda: (last := shop.last()) and last["state"] == "armed")
            visit("armed")
            shop.card("present", "visa")
            till.title("approved")
            visit("approved")
            shop.card("remove")
            for name in ("till.receipt", "till.help"):
                till.press(name)
                expect(till.button("till.close")).to_be_visible()
                if name == "till.help":
                    topics = till.page.locator("nav.topics button")
                    topics.first.wait_for()
                    for topic in range(topics.count()):
                        topics.nth(topic).click()
                        expect(topics.nth(topic)).to_have_attribute("aria-current", "true")
                        visit(f"help {topic}")
                visit(name)
                till.press("till.close")
            till.new()
            for amount, title in ENDS:
                till.enter(amount).press("till.continue")
                for name in ("till.noTip", "till.noDonation", "till.card"):
                    till.press(name)
                until(lambda: (last := shop.last()) and last["state"] == "armed")
                shop.card("present", "visa")
                till.title(title)
                visit(f"{amount} {title}")
                shop.card("remove")
                till.open(shop.home)
            till.press("day.title")
            till.main.locator("h2").first.wait_for()
            visit("day")
            till.main.locator("button.row:has(.words)").first.click()
            expect(till.button("till.receipt")).to_be_visible()
            visit("sale")
            till.press("till.back")
            till.press("day.end")
            till.main.locator("table.sums").first.wait_for()
            visit("end of day")
            till.press("day.endDo")
            till.page.locator("dialog pre").wait_for()
            visit("report")
            self.assertGreaterEqual(len(seen), 24, language)
            for window in windows:
                window.context.close()

    def test_japanese_dark(self):
        self.walk("ja", "dark")

    def test_nothing_moves_where_no_motion_is_wanted(self):
        till, display = self.windows("en", "light", reduced_motion="reduce")
        till.open(shop.home).sell("12.97")
        display.page.goto(f"{shop.home}/display/")
        display.title("hold")
        shop.card("present", "visa")
        till.shows("till.authorising")
        for screen in (till, display):
            moving = screen.page.evaluate("document.getAnimations().filter((one) => one.playState === 'running' && "
                                          "one.effect.getComputedTiming().duration > 1).length")
            self.assertEqual(0, moving)
        till.title("approved", 30)
        shop.card("remove")

    def test_forced_colours_keep_borders(self):
        till, _ = self.windows("en", "light", forced_colors="active")
        till.open(shop.home)
        for button in till.page.get_by_role("button").filter(visible=True).all():
            self.assertGreater(button.evaluate("(one) => parseFloat(getComputedStyle(one).borderTopWidth)"), 0)

    def test_everything_can_be_reached_by_keyboard_and_focus_is_seen(self):
        till, _ = self.windows("en", "light")
        till.open(shop.home)
        wanted = till.page.get_by_role("button").filter(visible=True).count()
        reached = set()
        for _ in range(wanted + 25):
            till.page.keyboard.press("Tab")
            name, ring = till.page.evaluate("""() => { const one = document.activeElement, style = getComputedStyle(one);
                return [one.tagName + one.outerHTML.slice(0, 120), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2
                    || style.boxShadow !== "none"]; }""")
            if not name.startswith("BODY"):
                self.assertTrue(ring, name)
                reached.add(name)
        enabled = till.page.locator("button:visible:enabled").count()
        self.assertGreaterEqual(sum(name.startswith("BUTTON") for name in reached), enabled - 1)
        till.amount.fill("12.50")
        till.amount.press("Enter")
        till.page.keyboard.press("Enter")

    def test_escape_cancels_only_with_a_second_press(self):
        till, _ = self.windows("en", "light")
        till.open(shop.home).sell("12.50")
        until(lambda: shop.last()["state"] == "armed")
        sent = []
        till.page.on("request", lambda request: sent.append(request.method))
        till.page.keyboard.press("Escape")
        marker(till.page)
        self.assertNotIn("DELETE", sent)
        till.page.keyboard.press("Escape")
        until(lambda: shop.last()["state"] == "cancelled")

    def test_a_screen_reader_hears_progress_and_results_once(self):
        till, display = self.windows("en", "light")
        till.open(shop.home)
        display.page.goto(f"{shop.home}/display/")
        for screen in (till, display):
            tree = screen.page.context.new_cdp_session(screen.page).send("Accessibility.getFullAXTree")["nodes"]
            live = {node["role"]["value"]: {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
                    for node in tree if node.get("role", {}).get("value") in ("status", "alert")}
            self.assertEqual(("polite", True), (live["status"].get("live"), live["status"].get("atomic")))
            self.assertEqual("assertive", live["alert"].get("live"))


class Pictures(unittest.TestCase):
    def test_pictures(self):
        folder = pathlib.Path(PICTURES)
        folder.mkdir(parents=True, exist_ok=True)
        # Another sum for each walk: the till says so where the same card pays the same sum again.
        sums = iter(("10.00", "11.00", "12.00", "13.00"))
        for language in ("en", "de"):
            for scheme in ("light", "dark"):
                # Nothing moves, so that each picture is whole.
                windows = [browser.window(state, (1024, 600), scheme, LOCALES[language], reduced_motion="reduce") for state in (cashier, customer)]
                till, display = Till(windows[0], language), Display(windows[1], language)

                def visit(name):
                    for kind, screen in (("till", till), ("display", display)):
                        drawn(screen.page)
                        screen.page.screenshot(path=folder / f"{kind}-{name}-{language}-{scheme}.png")
                walk(till, display, visit, next(sums))
                for window in windows:
                    window.context.close()


def gap(one, other):
    """Pixels between two boxes; targets that overlap have none."""
    across = max(one["x"] - other["x"] - other["width"], other["x"] - one["x"] - one["width"])
    down = max(one["y"] - other["y"] - other["height"], other["y"] - one["y"] - one["height"])
    return max(across, down)


def load_tests(loader, tests, _):
    """Pictures or tests, not both."""
    return loader.loadTestsFromTestCase(Pictures if PICTURES else Looks)


if __name__ == "__main__":
    unittest.main()
