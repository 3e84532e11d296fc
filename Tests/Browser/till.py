# SPDX-License-Identifier: Apache-2.0
"""A till and a display as a person sees them: by role and by the words of their message files."""
import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from shop import TEXTS, until

#: EMV's table of colours does not matter here: whatever is filled with green says that money came.
GREENS = """() => [...document.querySelectorAll("*")].filter((one) => {
    const [red, green, blue] = getComputedStyle(one).backgroundColor.match(/[\\d.]+/g).map(Number);
    const alpha = getComputedStyle(one).backgroundColor.startsWith("rgba(0, 0, 0, 0)") ? 0 : 1;
    const box = one.getBoundingClientRect();
    return alpha && box.width * box.height > 1600 && green > red * 1.4 && green > blue * 1.2;
}).length"""
#: WCAG 2.2 A and AA, and what axe holds for good practice beside it.
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}
CASHIER = ("--lane", "main", "--role", "cashier", "--type", "purchase")


class Screen:
    """A window, and the words of its language."""

    def __init__(self, page, language="en"):
        self.page, self.language = page, language
        self.main = page.get_by_role("main")

    def text(self, key, **values):
        return TEXTS[self.language][key].format(**values)

    def shows(self, key, seconds=15, **values):
        expect(self.main.get_by_text(self.text(key, **values), exact=True).filter(visible=True).first).to_be_visible(
            timeout=seconds * 1000)

    def title(self, key, seconds=15):
        """What the screen says first."""
        expect(self.main.get_by_role("heading").first).to_have_text(self.text(key), timeout=seconds * 1000)

    def says(self, key):
        return self.main.get_by_text(self.text(key), exact=True).filter(visible=True).count() > 0

    def words(self):
        return self.main.inner_text()

    def violations(self):
        """What axe finds in this state, and where."""
        drawn(self.page)
        found = Axe().run(self.page, options=RULES).response["violations"]
        return [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found]

    def box(self, locator):
        return locator.bounding_box()


class Till(Screen):
    def button(self, key, **values):
        return self.page.get_by_role("button", name=self.text(key, **values), exact=True).filter(visible=True)

    def press(self, key, **values):
        self.button(key, **values).first.click()

    def open(self, home):
        """The till with an empty sale: it comes back on the screen of the last one, which is left or called off."""
        self.page.goto(f"{home}/till/")
        for _ in range(400):
            if self.amount.count():
                break
            for key in ("till.newSale", "till.cancel", "till.restCash", "till.done"):
                if self.button(key).count():
                    self.press(key)
            self.page.wait_for_timeout(50)
        expect(self.amount).to_be_visible()
        return self

    def connect(self, shop, name="bar-1", options=CASHIER, tutorial=True):
        """Types a code of an administrator, and leaves the tutorial that opens for a new till."""
        self.page.goto(f"{shop.home}/till/")
        self.page.get_by_label(self.text("pair.code")).fill(shop.pair(name, *options))
        self.press("pair.do")
        expect(self.page.get_by_role("heading", name=self.text("learn.title"), exact=True)).to_be_visible()
        if tutorial:
            self.page.get_by_text(self.text("learn.done"), exact=True).click()
            expect(self.page.get_by_label(self.text("till.amount"), exact=True).first).to_be_visible()
        return self

    @property
    def amount(self):
        return self.page.get_by_role("textbox", name=self.text("till.amount"), exact=True)

    def enter(self, amount):
        self.amount.fill(amount)
        return self

    def confirm(self, amount):
        self.enter(amount).press("till.continue")
        expect(self.button("till.card")).to_be_visible()
        return self

    def sell(self, amount):
        """Up to the moment when a card may come."""
        self.confirm(amount).press("till.card")
        return self

    def new(self):
        self.press("till.newSale")
        expect(self.amount).to_be_visible()

    def settings(self):
        self.press("till.settings")
        return self

    def set(self, key, value=True):
        box = self.page.get_by_label(self.text(key))
        if isinstance(value, bool):
            box.set_checked(value)
        elif box.evaluate("(box) => box.tagName") == "SELECT":
            box.select_option(value)
        else:
            box.fill(value)
            box.blur()


class Display(Screen):
    def connect(self, shop, name="display-1", lane="main"):
        code = shop.pair(name, "--lane", lane, "--role", "display")
        self.page.goto(f"{shop.home}/display/")
        self.page.get_by_label(self.text("pair.code")).fill(code)
        self.main.get_by_role("button").first.click()
        self.title("welcome")
        return self


def drawn(page):
    """Once the page has drawn what it was told last."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def marker(page):
    """A request of the page, sent and answered: whatever it sent before is known here then."""
    page.evaluate("fetch('/till/view.js').then((answer) => answer.text())")


def pixels(page, **more):
    """A picture of what is seen, in grey, as rows of numbers."""
    import io

    from PIL import Image
    return Image.open(io.BytesIO(page.screenshot(**more))).convert("L")


def numbers(text):
    return re.findall(r"\d+", text)


def settled(shop, lane="main", seconds=15):
    return until(lambda: (last := shop.last(lane)) and last["state"] in (
        "approved", "declined", "cancelled", "failed", "reversed", "stored", "completed") and last, seconds)
