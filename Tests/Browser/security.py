# SPDX-License-Identifier: Apache-2.0
"""Who gets through the gateway: vectors of raw HTTP, and pages of other origins in a real browser."""
import contextlib
import http.server
import json
import os
import re
import socket
import threading
import unittest

from shop import BIN, Chromium, Shop, free_port, until

CASHIER = ("--lane", "main", "--role", "cashier", "--type", "purchase")
SALE = {"type": "purchase", "lane": "main", "amount": {"value": 1250, "currency": "EUR"}}
FETCH = """async ([address, more]) => {
    try {
        const answer = await fetch(address, more);
        return [answer.status, answer.type === "opaque" ? "" : await answer.text()];
    } catch (error) { return [0, String(error)]; }
}"""


class Blank(http.server.BaseHTTPRequestHandler):
    """A page of somebody else: empty, without rules of its own."""

    def do_GET(self):
        body = b"<!doctype html><title>A shop's own page</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def setUpModule():
    global shop, browser, t1, t2, allowed, stranger
    allowed, stranger = free_port(), free_port()
    for port in (allowed, stranger):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Blank)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    shop = Shop(lanes=("main", "other"), origins=["https://pos.example", f"http://127.0.0.1:{allowed}"], gateway="reversal-minutes = 0")
    unittest.addModuleCleanup(shop.close)
    t1 = shop.token("bar-1", *CASHIER, "--origin", f"http://127.0.0.1:{allowed}", "--origin", "https://pos.example")
    t2 = shop.token("bar-2", *CASHIER)
    browser = Chromium("--host-resolver-rules=MAP evil.example 127.0.0.1")
    unittest.addModuleCleanup(browser.close)


def forget():
    """A gateway that was started anew has forgotten how many wrong tokens came in this minute."""
    shop.kill("gateway")
    shop.start("gateway")


def raw(*lines, body=b""):
    """A request as it stands: the status line's number, and all of the answer."""
    with socket.create_connection(("127.0.0.1", shop.port), 10) as line:
        line.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode() + body)
        answer = b""
        try:
            while piece := line.recv(65_536):
                answer += piece
        except OSError:
            pass
    text = answer.decode(errors="replace")
    return int(text[9:12]) if text.startswith("HTTP/1.1 ") else 0, text


def host(name=None):
    return f"Host: {name or f'127.0.0.1:{shop.port}'}"


def bearer(token):
    return f"Authorization: Bearer {token}"


def key(value):
    return {"Idempotency-Key": value}


def code_of(answer):
    return answer.json["error"]["code"]


def sell(token, sale=None, name="k", **more):
    """A new sale that is called off at once, so that the lane is free again."""
    answer = shop.gateway("POST", "/v1/transactions", {**SALE, **(sale or {}), **more}, token, key(name))
    if answer.status == 429:
        until(lambda: (answer := shop.gateway("POST", "/v1/transactions", {**SALE, **(sale or {}), **more}, token, key(name))).status != 429,
              every=0.3)
        answer = shop.gateway("POST", "/v1/transactions", {**SALE, **(sale or {}), **more}, token, key(name))
    return answer


def call_off(token, answer):
    shop.gateway("DELETE", f"/v1/transactions/{answer.json['id']}", token=token)


def count():
    return len(shop.booked())


class Vectors(unittest.TestCase):
    """The 22 vectors; the test's number is the vector's."""

    def setUp(self):
        forget()

    def test_01_a_till_reads_the_status(self):
        self.assertEqual(200, shop.gateway("GET", "/v1/status", token=t1).status)

    def test_02_another_host_gets_421_and_nothing_of_the_daemon(self):
        for name in (f"evil.example:{shop.port}", "127.0.0.1", f"127.0.0.1.:{shop.port}", f"127.1:{shop.port}",
                     f"0.0.0.0:{shop.port}", f"127.0.0.1:{shop.port + 1}"):
            status, text = raw("GET /v1/status HTTP/1.1", host(name), bearer(t1))
            self.assertEqual(421, status, name)
            self.assertNotIn('"lanes"', text)
        self.assertEqual(200, raw("GET /v1/status HTTP/1.1", host(f"LOCALHOST:{shop.port}"), bearer(t1))[0])

    def test_03_two_hosts_or_none_get_400(self):
        self.assertEqual(400, raw("GET /v1/status HTTP/1.1", host(), host(), bearer(t1))[0])
        self.assertEqual(400, raw("GET /v1/status HTTP/1.1", bearer(t1))[0])

    def test_04_an_allowed_origin_is_named_in_the_answer(self):
        answer = shop.gateway("GET", "/v1/status", token=t1, headers={"Origin": "https://pos.example"})
        self.assertEqual((200, "https://pos.example", "Origin"), (
            answer.status, answer.headers["Access-Control-Allow-Origin"], answer.headers["Vary"]))
        self.assertIsNone(answer.headers["Access-Control-Allow-Credentials"])

    def test_05_06_another_origin_and_null_get_403_without_cors(self):
        for origin in ("https://pos.example.evil.example", "null", "http://pos.example", "https://pos.example:443",
                       "https://POS.example", "https://pos.example/", f"http://localhost:{allowed}"):
            answer = shop.gateway("GET", "/v1/status", token=t1, headers={"Origin": origin})
            self.assertEqual((403, "origin.refused", None), (
                answer.status, code_of(answer), answer.headers["Access-Control-Allow-Origin"]), origin)

    def test_07_a_preflight_needs_no_token(self):
        answer = shop.gateway("OPTIONS", "/v1/transactions", headers={
            "Origin": "https://pos.example", "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type,idempotency-key"})
        self.assertEqual((204, "https://pos.example", "600"), (
            answer.status, answer.headers["Access-Control-Allow-Origin"], answer.headers["Access-Control-Max-Age"]))
        self.assertEqual({"GET", "POST", "DELETE"}, set(answer.headers["Access-Control-Allow-Methods"].split(", ")))
        self.assertLessEqual({"authorization", "content-type", "idempotency-key", "prefer", "last-event-id", "accept-language"},
                             set(answer.headers["Access-Control-Allow-Headers"].split(", ")))
        self.assertFalse([name for name in answer.headers if "private-network" in name.lower()])

    def test_08_another_content_type_gets_415(self):
        answer = shop.gateway("POST", "/v1/transactions", json.dumps(SALE), t1, {"Content-Type": "text/plain", **key("v8")})
        self.assertEqual(415, answer.status)

    def test_09_without_a_token_401_can_be_read_by_the_page(self):
        answer = shop.gateway("POST", "/v1/transactions", SALE, headers={"Origin": "https://pos.example", **key("v9")})
        self.assertEqual((401, "token.unknown", "Bearer", "https://pos.example"), (
            answer.status, code_of(answer), answer.headers["WWW-Authenticate"], answer.headers["Access-Control-Allow-Origin"]))

    def test_10_a_till_cannot_name_another(self):
        answer = shop.gateway("POST", "/v1/transactions", SALE, t1, {"NFC-Tap-On-Behalf-Of": "bar-2", **key("v10")})
        self.assertEqual(400, answer.status)

    def test_11_12_types_and_lanes_of_others_get_403(self):
        refund = shop.gateway("POST", "/v1/transactions", {**SALE, "type": "refund"}, t1, key("v11"))
        self.assertEqual((403, "auth.role_missing"), (refund.status, code_of(refund)))
        for more in ({"lane": "other"}, {"lanes": ["main", "other"]}):
            lane = shop.gateway("POST", "/v1/transactions", {"type": "purchase", "amount": SALE["amount"], **more}, t1, key("v12"))
            self.assertEqual((403, "lane.not_yours"), (lane.status, code_of(lane)))

    def test_12b_a_sale_that_names_no_lane_never_goes_to_a_lane_of_others(self):
        # The daemon would take its first free lane.
        shop.card("detach")
        self.addCleanup(lambda: (shop.card("attach"), until(lambda: shop.daemon("GET", "/v1/lanes/main").json["state"] == "ready")))
        until(lambda: shop.daemon("GET", "/v1/lanes/main").json["state"] == "detached")
        unnamed = {name: value for name, value in SALE.items() if name != "lane"}
        answer = shop.gateway("POST", "/v1/transactions", unnamed, t1, key("v12b"))
        if answer.status == 201:
            call_off(t1, answer)
        self.assertEqual((400, "lane"), (answer.status, answer.json.get("error", {}).get("field")))

    def test_13_two_tills_may_use_one_key(self):
        first = sell(t1, name="v13")
        self.assertEqual(201, first.status, first.body)
        call_off(t1, first)
        second = until(lambda: (answer := sell(t2, name="v13", sale={"amount": {"value": 999, "currency": "EUR"}})).status == 201 and answer)
        call_off(t2, second)
        self.assertNotEqual(first.json["id"], second.json["id"])
        self.assertEqual(first.json["id"], sell(t1, name="v13").json["id"])

    def test_14_a_till_cannot_call_off_read_or_reverse_anothers(self):
        mine = sell(t1, name="v14")
        self.assertEqual(201, mine.status, mine.body)
        path = f"/v1/transactions/{mine.json['id']}"
        for method, path, body in (("DELETE", path, None), ("GET", path, None), ("POST", f"{path}/reversal", {"reason": "malfunction"})):
            answer = shop.gateway(method, path, body, t2)
            self.assertEqual((403, "session.not_owner"), (answer.status, code_of(answer)), f"{method} {path}")
        call_off(t1, mine)
        self.assertEqual("cancelled", until(lambda: shop.gateway("GET", f"/v1/transactions/{mine.json['id']}", token=t1).json["state"]))

    def test_15_an_unresolved_order_is_unresolved_for_every_till(self):
        shop.card("present", "visa")
        self.addCleanup(shop.card, "remove")
        sale = {"amount": {"value": 1298, "currency": "EUR"}, "order": "A-17"}
        first = until(lambda: (answer := sell(t2, sale=sale, name="v15")).status == 201 and answer)
        until(lambda: shop.gateway("GET", f"/v1/transactions/{first.json['id']}", token=t2).json["state"] in ("sent", "unknown"))
        again = until(lambda: (answer := sell(t1, sale=sale, name="v15-1")).status != 429 and answer, every=0.5)
        self.assertEqual(409, again.status, again.body)
        self.assertIn(code_of(again), ("order.unresolved", "reader.busy"))
        call_off(t2, first)

    def test_16_17_18_the_daemon_believes_its_gateways_header_only_as_far_as_it_may(self):
        named = {"NFC-Tap-On-Behalf-Of": "bar-1"}
        self.assertEqual(403, shop.daemon("GET", "/v1/status", headers={**named, "NFC-Tap-Roles": "admin"}).status)
        for wrong in ("Bar-1", "1bar", "a" * 33, "bar_1"):
            self.assertEqual(400, shop.daemon("GET", "/v1/status", headers={"NFC-Tap-On-Behalf-Of": wrong}).status, wrong)
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(shop.folder / "pos.sock"))
            statuses = []
            for till in ("bar-1", "bar-2"):
                line.sendall(f"GET /v1/status HTTP/1.1\r\nHost: x\r\nNFC-Tap-On-Behalf-Of: {till}\r\n\r\n".encode())
                answer = b""
                while b"\r\n\r\n" not in answer:
                    answer += line.recv(65_536)
                head, _, rest = answer.partition(b"\r\n\r\n")
                length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])
                while len(rest) < length:
                    rest += line.recv(65_536)
                statuses.append(int(head[9:12]))
        self.assertEqual([200, 400], statuses)

    def test_19_five_wrong_codes_end_every_open_one(self):
        # A gateway of its own: the attempts of a minute are counted in all.
        with contextlib.closing(Shop()) as other:
            code = other.pair("guess", "--lane", "main", "--role", "monitor")
            wrong = [other.gateway("POST", "/v1/pairings", {"code": f"2222-222{letter}"}).status for letter in "3456789ABCDE"]
            self.assertTrue(set(wrong[:5]).isdisjoint({200, 201, 429}), wrong)
            self.assertEqual(429, wrong[-1])
            answer = other.gateway("POST", "/v1/pairings", {"code": code})
            self.assertIn(answer.status, (410, 429))
            self.assertNotIn("nt1.", answer.body)

    def test_20_a_code_is_good_once(self):
        code = shop.pair("once", "--lane", "main", "--role", "monitor")
        typed = code.lower().replace("-", " ")
        self.assertEqual(201, shop.gateway("POST", "/v1/pairings", {"code": typed}).status)
        again = shop.gateway("POST", "/v1/pairings", {"code": code})
        self.assertEqual((410, "pairing.used"), (again.status, code_of(again)))

    def test_21_a_revoked_till_is_out_at_once(self):
        token = shop.token("gone", "--lane", "main", "--role", "monitor")
        with socket.create_connection(("127.0.0.1", shop.port), 10) as line:
            line.sendall(f"GET /v1/events HTTP/1.1\r\n{host()}\r\n{bearer(token)}\r\n\r\n".encode())
            self.assertIn(b"200", line.recv(65_536))
            shop.run(shop.commands["gateway"][0], "revoke", "gone", "--runtime-directory", shop.folder / "gwrun")
            line.settimeout(1)
            while line.recv(65_536):
                pass
        self.assertEqual(401, shop.gateway("GET", "/v1/status", token=token).status)

    def test_22_no_path_leaves_the_table_of_pages(self):
        for path in ("/../../etc/passwd", "/till/%2e%2e/%2e%2e/etc/passwd", "/till//till.js", "/till/till.js%00", "/till/../till.js",
                     "/etc/passwd", "/till/messages", "/till/messages/", "/v1/metrics", "/metrics", "/v1/queue/batches", "/v2/status"):
            status, text = raw(f"GET {path} HTTP/1.1", host(), bearer(t1))
            self.assertIn(status, (400, 404), path)
            self.assertNotIn("root:", text)
        answer = shop.gateway("POST", "/v1/terms/acceptance", {"hash": "0" * 64}, t1)
        self.assertEqual(404, answer.status)


class Pages(unittest.TestCase):
    def setUp(self):
        forget()
        self.page = browser.window()
        self.addCleanup(self.page.context.close)
        self.heads = []

    def at(self, address):
        self.page.goto(address)
        return lambda path, **more: self.page.evaluate(FETCH, [shop.home + path, more])

    def sale(self, token, name):
        return {"method": "POST", "body": json.dumps(SALE),
                "headers": {"Content-Type": "application/json", "Authorization": f"Bearer {token}", "Idempotency-Key": name}}

    def test_a_page_of_an_allowed_origin_pays(self):
        fetch = self.at(f"http://127.0.0.1:{allowed}/")
        shop.card("present", "visa")
        self.addCleanup(shop.card, "remove")
        status, body = until(lambda: (said := fetch("/v1/transactions", **self.sale(t1, "page")))[0] not in (409, 429) and said, every=0.5)
        self.assertEqual(201, status, body)
        path = f"/v1/transactions/{json.loads(body)['id']}"
        headers = {"Authorization": f"Bearer {t1}"}
        until(lambda: json.loads(fetch(path, headers=headers)[1])["state"] == "approved", every=0.3)

    def test_a_page_of_an_allowed_origin_hears_events(self):
        self.page.goto(f"http://127.0.0.1:{allowed}/")
        heard = self.page.evaluate("""async ([address, token]) => {
            const stop = new AbortController();
            const answer = await fetch(address + "/v1/events", { headers: { Authorization: `Bearer ${token}` }, signal: stop.signal });
            const reader = answer.body.getReader();
            const first = reader.read();
            const status = answer.status;
            stop.abort();
            return [status, await first.then(() => "read", (error) => error.name)];
        }""", [shop.home, t1])
        self.assertEqual(200, heard[0])

    def test_a_page_of_another_origin_gets_nothing_and_begins_nothing(self):
        before = count()
        for origin in (f"http://127.0.0.1:{stranger}", f"http://localhost:{allowed}"):
            fetch = self.at(f"{origin}/")
            self.assertEqual(0, fetch("/v1/transactions", **self.sale(t1, "stranger"))[0])
            self.assertEqual(0, fetch("/v1/status", headers={"Authorization": f"Bearer {t1}"})[0])
            # It arrives, without a preflight, and is refused there.
            fetch("/v1/transactions", method="POST", mode="no-cors", body=json.dumps(SALE))
            fetch("/v1/pairings", method="POST", mode="no-cors", body=json.dumps({"code": "2222-2222"}))
            self.assertEqual(0, fetch("/v1/status")[0])
        self.assertEqual(before, count())

    def test_a_form_and_a_frame_of_another_origin_begin_and_show_nothing(self):
        before = count()
        self.page.goto(f"http://127.0.0.1:{stranger}/")
        answers = [self.page.expect_response(lambda answer, end=end: answer.url.endswith(end)) for end in ("/v1/transactions", "/till/")]
        with answers[0], answers[1]:
            self.page.evaluate("""(address) => {
            document.body.innerHTML = `<form method="post" enctype="text/plain" action="${address}/v1/transactions" target="f">
                <input name='{"type":"purchase","amount":{"value":1,"currency":"EUR"},"order":"' value='"}'></form>
                <iframe name="f"></iframe><iframe name="g" src="${address}/till/"></iframe>`;
            document.forms[0].submit();
        }""", shop.home)
        self.assertEqual(before, count())
        frames = [frame for frame in self.page.frames if frame.name == "g"]
        self.assertTrue(all("till" not in (frame.title() or "").lower() and frame.locator("button").count() == 0 for frame in frames))

    def test_a_name_that_was_bound_to_this_machine_gets_421(self):
        answer = self.page.goto(f"http://evil.example:{shop.port}/till/")
        self.assertEqual(421, answer.status)
        self.assertEqual(0, self.page.locator("button").count())
        status, body = self.page.evaluate(FETCH, [f"http://evil.example:{shop.port}/v1/status", {"headers": {"Authorization": f"Bearer {t1}"}}])
        self.assertNotIn('"lanes"', body)
        self.assertEqual(421, status)

    def test_foreign_expired_and_misplaced_tokens_are_refused_in_words(self):
        fetch = self.at(f"http://127.0.0.1:{allowed}/")
        gone = shop.token("expired", *CASHIER, "--origin", f"http://127.0.0.1:{allowed}")
        shop.run(shop.commands["gateway"][0], "revoke", "expired", "--runtime-directory", shop.folder / "gwrun")
        for token in (gone, t1[:-1] + ("A" if t1[-1] != "A" else "B"), "nt1.nobody." + "A" * 43):
            status, body = fetch("/v1/status", headers={"Authorization": f"Bearer {token}"})
            self.assertEqual((401, "token.unknown"), (status, json.loads(body)["error"]["code"]))
            self.assertTrue(json.loads(body)["error"]["resolution"])
        # A till that may speak from no other page: its token does not work from this one.
        self.assertEqual(401, fetch("/v1/status", headers={"Authorization": f"Bearer {t2}"})[0])
        forget()
        # Neither in the address nor in a cookie.
        self.assertEqual(401, fetch(f"/v1/status?token={t1}")[0])
        self.assertEqual(401, shop.gateway("GET", "/v1/status", headers={"Cookie": f"token={t1}"}).status)

    def test_who_was_refused_stands_in_the_audit_chain(self):
        gone = shop.token("gone-1", *CASHIER, "--origin", f"http://127.0.0.1:{allowed}")
        shop.run(shop.commands["gateway"][0], "revoke", "gone-1", "--runtime-directory", shop.folder / "gwrun")
        before = self.chain()
        answer = until(lambda: (said := sell(t2, name="audit")).status == 201 and said, every=0.5)
        shop.card("present", "visa")
        sold = f"/v1/transactions/{answer.json['id']}"
        until(lambda: shop.daemon("GET", sold).json["state"] == "approved")
        shop.card("remove")
        mine, theirs = {"Authorization": f"Bearer {t1}"}, {"Authorization": f"Bearer {t2}"}
        evil = self.at(f"http://127.0.0.1:{stranger}/")
        self.assertEqual(0, evil("/v1/status", headers=mine)[0])
        self.assertEqual(421, shop.gateway("GET", "/v1/status", headers={**mine, "Host": "evil.example"}).status)
        fetch = self.at(f"http://127.0.0.1:{allowed}/")
        self.assertEqual(401, fetch("/v1/status", headers={"Authorization": f"Bearer {gone}"})[0])
        self.assertEqual(401, fetch("/v1/status", headers=theirs)[0])
        taken = {"reason": "customerCancel"}
        answer = shop.gateway("POST", f"{sold}/reversal", taken, t1)
        self.assertEqual((403, "session.not_owner"), (answer.status, code_of(answer)))
        answer = shop.gateway("POST", f"{sold}/reversal", taken, t2)
        self.assertEqual((403, "reversal.too_late"), (answer.status, code_of(answer)))
        self.assertTrue(answer.json["error"]["resolution"])
        wanted = {f"by uid {os.getuid()} till bar-2: reversal.too_late", "host.refused 1", "origin.refused ", "session.not_owner 1 till bar-1",
                  "token.unknown 1 till bar-2", "token.unknown 1 till gone-1"}
        found = until(lambda: (new := [line for line in self.chain()[len(before):] if line["kind"] == "refusal"])
                      and all(any(one in line["detail"] for line in new) for one in wanted) and new, seconds=30, every=0.5)
        self.assertEqual([answer.json["error"]["transaction"]], [line["subject"] for line in found if "too_late" in line["detail"]])

    def chain(self):
        """The audit chain, as an administrator exports it, once it was found whole."""
        journal = shop.folder / "state/journal.sqlite"
        shop.run(BIN / "nfc-tap", "audit", "verify", "--file", journal)
        return [json.loads(line) for line in shop.run(BIN / "nfc-tap", "audit", "export", "--file", journal).splitlines()]

    def test_a_page_counted_as_public_does_not_reach_the_gateway_without_leave(self):
        public = Chromium(f"--ip-address-space-overrides=127.0.0.1:{allowed}=public", playwright=browser.playwright)
        self.addCleanup(public.close)
        page = public.window()
        page.goto(f"http://127.0.0.1:{allowed}/")
        self.assertEqual(0, page.evaluate(FETCH, [shop.home + "/v1/status", {"headers": {"Authorization": f"Bearer {t1}"}}])[0])
        page.context.grant_permissions(["local-network-access"], origin=f"http://127.0.0.1:{allowed}")
        self.assertEqual(200, page.evaluate(FETCH, [shop.home + "/v1/status", {"headers": {"Authorization": f"Bearer {t1}"}}])[0])

    def test_the_own_pages_stand_under_their_policy_without_a_complaint(self):
        for path in ("/till/", "/display/", "/till/education.html"):
            answer = self.page.goto(shop.home + path)
            self.page.get_by_role("heading").first.wait_for()
            policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
            self.assertEqual(("'none'", "'self'", "'self'", "'none'", "'none'", "'none'", "'script'"), tuple(
                policy[name] for name in ("default-src", "script-src", "connect-src", "base-uri", "form-action", "frame-ancestors",
                                          "require-trusted-types-for")))
            self.assertEqual(("nosniff", "no-referrer", "same-origin", "same-origin", None), tuple(answer.headers.get(name) for name in (
                "x-content-type-options", "referrer-policy", "cross-origin-opener-policy", "cross-origin-resource-policy", "set-cookie")))
            self.assertEqual([], self.page.complaints, path)
            self.assertEqual("TypeError", self.page.evaluate(
                "() => { try { document.body.innerHTML = '<b>x</b>'; return 'done' } catch (error) { return error.name } }"))
            self.assertEqual(0, self.page.evaluate(FETCH, [f"http://127.0.0.1:{stranger}/", {}])[0])
            self.page.complaints.clear()
        self.assertEqual([], self.page.context.cookies())
        self.assertEqual(0, self.page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)"))

    def test_localhost_leads_to_one_origin(self):
        self.page.goto(f"http://localhost:{shop.port}/till/")
        self.assertTrue(self.page.url.startswith(shop.home), self.page.url)


if __name__ == "__main__":
    unittest.main()
