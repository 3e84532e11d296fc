# SPDX-License-Identifier: Apache-2.0
"""Both clients as tills of a real gateway: what clients/typescript/tests asks for, and the Python client blocking and with asyncio.
NFC_TAP_PYTHON is a Python with what the clients are made with."""
import os
import subprocess
import unittest

from shop import ROOT, Shop

RIGHTS = ("--lane", "main", "--role", "cashier", "--type", "purchase", "--type", "refund")
PYTHON = """
import asyncio, sys, nfc_tap
way = {"gateway": sys.argv[1], "token": sys.argv[2]}
with nfc_tap.connect(**way) as tap:
    sale = tap.pay(1250, "EUR", order="G-1", key="g-1")
    print(sale.state, tap.find("g-1").id == sale.id, tap.pay(1251, "EUR").state)
    print(str(next(event for event in tap.events(after=0) if event.transaction == sale.id).name))
    try:
        tap.pay(1, "EUR", lane="elsewhere")
    except nfc_tap.TapError as error:
        print(error.code, error.status)
async def later():
    async with nfc_tap.connect_async(**way) as tap:
        print((await tap.pay(300, "EUR")).state)
asyncio.run(later())
"""


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shop = Shop()
        cls.addClassCleanup(cls.shop.close)
        cls.shop.card("present", "visa")

    def make(self, language):
        folder = self.shop.folder / language
        self.shop.run(ROOT / f"clients/make-{language}-client.sh", os.environ["NFC_TAP_PYTHON"], folder)
        return folder

    def test_the_typescript_client(self):
        done = subprocess.run(
            ["node", "--test", "tests/life.test.js"], cwd=self.make("typescript"), capture_output=True, text=True, timeout=180,
            env={**os.environ, "NFC_TAP_TILL": self.shop.home, "NFC_TAP_TOKEN": self.shop.token("till-ts", *RIGHTS)})
        self.assertIn("# pass 5\n", done.stdout, done.stdout + done.stderr)

    def test_the_python_client(self):
        done = subprocess.run(
            [os.environ["NFC_TAP_PYTHON"], "-c", PYTHON, self.shop.home, self.shop.token("till-py", *RIGHTS)], capture_output=True,
            text=True, timeout=120, env={**os.environ, "PYTHONPATH": str(self.make("python"))})
        self.assertEqual("approved True declined\nread.readyForTap\nlane.not_yours 403\napproved\n", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
