#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): epos-print-xml 0.3, requests 2.32.5 (receipts on Epson's network printers)
#
# The protocol: Epson ePOS-Print XML over HTTP. `timeout` in the address is the milliseconds that the printer may take for a document, as it does when it has
# another one before it, and the response says what became of it. `cut` has the types no_feed and feed, `logo` the alignments left, center and right.
# Guess: the client waits for the response as long as it has told the printer, a document can be printed again, and the names it offers are the protocol's.
# What happens: it tells the printer 5 seconds and hangs up after 3: the receipt is printed, and who tries again prints a second one. Each print
# adds a cut to the document itself, so that a second copy is followed by an empty piece of paper and the third by two. A cut or an aligned logo goes out with
# a name of Python, cuttype.feed, and a DataBar without its last letter, none of which the protocol has. The README's `epos` is installed as `src.epos`.
#
# Seen:
# > told to take 5000 ms, printed after 4000 ms: ReadTimeout, receipts printed 1
# > three copies of one document: success True True True, cuts 1 2 3
# > Cut(CutType.FEED): <cut type="cuttype.feed"/>
# > Logo(32, 32, Align.CENTER): <logo key1="32" key2="32" align="align.center"/>
# > Barcode(BarcodeType.GS1_DATABAR_OMNIDIRECTIONAL): type gs1_databar_omnidirectiona
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check epos-print-xml==0.3 requests==2.32.5

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import queue
import threading
import time
import urllib.parse
import xml.etree.ElementTree as XML
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from src.epos.constants import Align, BarcodeType, CutType
from src.epos.document import EposDocument
from src.epos.elements import Barcode, Cut, Logo, Text
from src.epos.printer import Printer

EPOS = "http://www.epson-pos.com/schemas/2011/03/epos-print"
ANSWER = (
    '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>'
    f'<response success="true" code="" status="251658262" battery="0" xmlns="{EPOS}"/></s:Body></s:Envelope>'
).encode()
wait, printed = 0.0, queue.Queue()


class Epson(BaseHTTPRequestHandler):
    """A printer that prints after `wait` seconds and then says so."""

    def do_POST(self):
        document = XML.fromstring(self.rfile.read(int(self.headers["Content-Length"])))
        limit = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)["timeout"][0]
        time.sleep(wait)
        printed.put((limit, len(document.findall(f".//{{{EPOS}}}cut"))))
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/xml; charset=utf-8")
            self.send_header("Content-Length", str(len(ANSWER)))
            self.end_headers()
            self.wfile.write(ANSWER)
        except OSError:
            pass

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Epson)
threading.Thread(target=server.serve_forever, daemon=True).start()
printer = Printer(f"127.0.0.1:{server.server_port}")


def receipt(*elements):
    document = EposDocument()
    for element in (Text("Espresso 2.50\n"), *elements):
        document.add_body(element)
    return document


wait = 4.0
try:
    said = printer.print(receipt())
except Exception as error:
    said = type(error).__name__
limit, _ = printed.get(timeout=10)
print(f"told to take {limit} ms, printed after {wait * 1000:.0f} ms: {said}, receipts printed {1 + printed.qsize()}")

wait, document = 0.0, receipt()
said = [printer.print(document).success for _ in range(3)]
cuts = [printed.get(timeout=10)[1] for _ in range(3)]
print("three copies of one document: success {} {} {}, cuts {} {} {}".format(*said, *cuts))


def written(element):
    return receipt(element).body_to_str().partition("</text>")[2].removesuffix("</epos-print>")


print("Cut(CutType.FEED):", written(Cut(CutType.FEED)))
print("Logo(32, 32, Align.CENTER):", written(Logo(32, 32, Align.CENTER)))
barcode = XML.fromstring(written(Barcode(BarcodeType.GS1_DATABAR_OMNIDIRECTIONAL, "0541234500001")))
print("Barcode(BarcodeType.GS1_DATABAR_OMNIDIRECTIONAL): type", barcode.get("type"))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
