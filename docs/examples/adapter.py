"""A PSP adapter in fifty lines: adapter.py SOCKET. Approves up to 100.00; a real one asks its gateway."""
import http.server, json, os, socketserver, sys, threading

sales, reversed_keys, stored, lock = {}, set(), set(), threading.Lock()  # A real adapter keeps these on disk, for keyLife seconds.

def authorize(sale, is_reversed):
    # sale["envelope"] is the card, sealed to the payment service's key: hand it on as it is, never write it down.
    if is_reversed or sale["amount"]["value"] > 10_000 or sale.get("token", "") not in stored | {""}:
        return {"outcome": "declined", "responseCode": "51"}
    answer = {"outcome": "approved", "responseCode": "00", "approvalCode": "123456", "pspReference": sale["id"]}
    if "agreement" in sale and "token" not in sale:  # The card is to be stored, under a name that is not its number.
        answer["cardToken"] = "card-" + sale["id"][-6:]
        stored.add(answer["cardToken"])
    return answer

class Adapter(http.server.BaseHTTPRequestHandler):
    protocol_version, log_message = "HTTP/1.1", lambda *_: None

    def do_GET(self):
        if self.path == "/v1/health":
            supports = ["sale", "verify", "charge", "tokenDeletion"]
            return self.reply(200, {"status": "ok", "protocolVersions": ["v1"], "supports": supports, "keyLife": 86_400})
        _, answer = sales.get(self.path.split("/")[-1], (None, None))
        self.reply(200 if answer else 404, answer or {})

    def do_POST(self):
        body, key = self.rfile.read(int(self.headers["Content-Length"])), self.headers["Idempotency-Key"]
        with lock:
            if self.path.endswith("/reversals"):
                reversed_keys.add(key)  # Also of a sale that was never seen: should it still come, it is declined.
                return self.reply(200, {"status": "done"})
            if self.path == "/v1/token-deletions":
                stored.discard(json.loads(body)["token"])
                return self.reply(200, {"id": key})
            if key not in sales:  # A charge of a stored card is a sale like any other.
                sales[key] = body, authorize(json.loads(body), key in reversed_keys)
            first, answer = sales[key]
        self.reply(200 if first == body else 422, answer if first == body else {})  # One key, one sale, one charge.

    def reply(self, status, message):
        body = json.dumps(message).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

if os.path.exists(sys.argv[1]):
    os.unlink(sys.argv[1])
socketserver.ThreadingMixIn.daemon_threads = True
type("Server", (socketserver.ThreadingMixIn, socketserver.UnixStreamServer), {})(sys.argv[1], Adapter).serve_forever()
