"""A POS client in twenty lines: pos.py SOCKET CENTS CURRENCY. Ends with 0 when the payment is approved."""
import http.client, json, socket, sys, uuid


class Daemon(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(sys.argv[1])


daemon = Daemon("localhost", timeout=120)
sale = {"type": "purchase", "amount": {"value": int(sys.argv[2]), "currency": sys.argv[3]}}
key = str(uuid.uuid4())  # Keep it with the sale: asked again with the same key, the daemon never charges twice.
daemon.request("POST", "/v1/transactions", json.dumps(sale), {
    "Content-Type": "application/json", "Idempotency-Key": key, "Prefer": "wait=90"})
answer = json.load(daemon.getresponse())
if "error" in answer and "id" not in answer:
    sys.exit(f"{answer['error']['message']}: {answer['error']['resolution']}")
print(answer["state"], answer.get("card", {}).get("masked", ""), answer["mode"])
sys.exit(0 if answer["state"] == "approved" else 1)
