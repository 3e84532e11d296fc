#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A charging point before a lane that stands alone, and its central system by OCPP 2.1, see docs/integrating/machines.md:
ocpp.py POS-SOCKET LANE ws://CENTRAL-SYSTEM/STATION FILE [SECONDS-OF-A-CHARGE]. Who taps is held, charged what the central system says, and settled.
FILE has what is not settled yet: each step is in it before the next, and after a death the same messages go out again, word for word."""
import datetime, decimal, http.client, json, os, socket, sys, time
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

SOCKET, LANE, CENTRAL, FILE, SECONDS = *sys.argv[1:5], float((sys.argv[5:] or [60])[0])
DECIMALS = {"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3} | dict.fromkeys(
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0)

BRANDS = {"visa": "Visa", "mastercard": "Mastercard", "amex": "AMEX", "discover": "Discover", "jcb": "JCB", "unionpay": "UnionPay", "interac": "Interac"}


class Daemon(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(SOCKET)


def daemon(method, target, body=None):
    while True:  # Each call may be repeated: the same wish changes nothing.
        try:
            connection = Daemon("localhost", timeout=60)
            connection.request(method, target, json.dumps(body or {}) if method == "POST" else None, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            status, said = answer.status, json.loads(answer.read())
            connection.close()
            if status != 202 and not said.get("error", {}).get("retryable"): return status, said
        except (OSError, http.client.HTTPException, ValueError): pass
        time.sleep(1)


def number(money):  # Minor units as OCPP's decimal number: up to 15 digits a double writes what it was made of.
    digits = DECIMALS.get(money["currency"], 2)
    value = f"{money['value']:0{digits + 1}d}"
    return float(f"{value[:-digits]}.{value[-digits:]}") if digits and money["value"] else money["value"]


def minor(cost, currency):  # A cost of the central system as it is written, never by way of a double; rounded to the coin.
    return max(0, int(cost.scaleb(DECIMALS.get(currency, 2)).to_integral_value(decimal.ROUND_HALF_UP)))


class Station:
    def __init__(self):
        self.open = json.load(open(FILE)) if os.path.exists(FILE) else []  # of each session what is still to be done
        self.line = None

    def keep(self):
        with open(FILE + ".new", "w") as file:
            json.dump(self.open, file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(FILE + ".new", FILE)
        folder = os.open(os.path.dirname(os.path.abspath(FILE)), os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def call(self, id, action, payload):  # The id is of the step, so that a central system may know it again.
        while True:
            try:
                if not self.line: self.line = connect(CENTRAL, subprotocols=["ocpp2.1"])
                self.line.send(json.dumps([2, id, action, payload]))
                while True:
                    kind, known, *said = json.loads(self.line.recv(timeout=30), parse_float=decimal.Decimal, parse_int=decimal.Decimal)
                    if kind == 2:  # Nothing that it asks for is known here.
                        self.line.send(json.dumps([4, known, "NotImplemented", "", {}]))
                    elif known == id and kind == 3: return said[0]
                    elif known == id: raise RuntimeError(f"{action} is refused: {said}")
            except (OSError, TimeoutError, WebSocketException, RuntimeError) as problem:
                print(f"{action} again: {problem!r}", file=sys.stderr, flush=True)
                if self.line: self.line.close()
                self.line = None
                time.sleep(1)

    def event(self, session, kind, trigger, number, **info):
        token = {"idToken": session["id"], "type": "DirectPayment", "additionalInfo": session["card"]}
        return self.call(f"{session['id'][-24:]}-{kind}", "TransactionEvent", {
            "eventType": kind, "timestamp": session["time"], "triggerReason": trigger, "seqNo": number, "idToken": token, "evse": {"id": 1, "connectorId": 1},
            "transactionInfo": {"transactionId": session["id"]} | info})

    def step(self, session):
        """One step of a session, and the name of the next; nothing after the last."""
        id = session["id"]
        if session["step"] == "claim":
            status, said = daemon("POST", f"/v1/sessions/{id}/claim", {"reference": id})
            if status != 200: return None  # nobody holds its sum: nothing is given
            card = said.get("card", {})
            known = {"PaymentBrand": BRANDS.get(card.get("scheme")), "ReadingMethod": "Contactless", "CardLast4Digits": card.get("last4")}
            session.update(held=said["amount"], card=[{"additionalIdToken": text, "type": type} for type, text in known.items() if text])
            return "authorize"
        if session["step"] == "authorize":
            said = self.call(f"{id[-24:]}-ask", "Authorize", {"idToken": {"idToken": id, "type": "DirectPayment", "additionalInfo": session["card"]}})
            return "start" if said["idTokenInfo"]["status"] == "Accepted" else "refuse"
        if session["step"] == "refuse":  # C19: it knows the token, and there is no transaction
            daemon("POST", f"/v1/sessions/{id}/release")
            return self.settled(session, "Canceled", 0)
        if session["step"] == "start":
            self.event(session, "Started", "Authorized", 0, transactionLimit={"maxCost": number(session["held"])})
            return "charge"
        if session["step"] == "charge":
            time.sleep(SECONDS)  # here the car is charged; a charge that takes longer keeps its hold: POST …/keep
            return "end"
        if session["step"] == "end":
            said = self.event(session, "Ended", "EVDeparted", 1, stoppedReason="EVDisconnected")
            session["cost"] = minor(said["totalCost"], session["held"]["currency"]) if "totalCost" in said else None
            return "take"
        if session["step"] == "take":  # C20 to C22. Nobody is charged what nobody has said.
            cost = session["cost"]
            if not cost: daemon("POST", f"/v1/sessions/{id}/release")
            if cost is None: return self.settled(session, "Failed", 0, statusInfo="no totalCost was told")
            if cost == 0: return self.settled(session, "Canceled", 0)
            status, said = daemon("POST", f"/v1/sessions/{id}/commit", {"amount": cost, "upTo": True})
            if status == 200: return self.settled(session, "Settled", said["captured"]["value"])
            daemon("POST", f"/v1/sessions/{id}/release")
            return self.settled(session, "Failed" if status == 410 else "Rejected", cost, statusInfo=said["error"]["code"])
        self.call(f"{id[-24:]}-settled", "NotifySettlement", session["told"])
        return None

    def settled(self, session, status, value, **more):
        amount = number({"value": value, "currency": session["held"]["currency"]})
        session["told"] = {"pspRef": session["id"], "status": status, "settlementAmount": amount, "settlementTime": now()} | more
        if session["step"] != "refuse": session["told"]["transactionId"] = session["id"]
        return "settle"

    def run(self):
        while True:
            for session in list(self.open):
                while session["step"]:
                    session["step"], session["time"] = self.step(session), now()
                    if not session["step"]: self.open.remove(session)
                    self.keep()
            status, said = daemon("GET", f"/v1/sessions?open=true&lane={LANE}")
            if status != 200: sys.exit(f"{said['error']['message']}: {said['error']['resolution']}")
            self.open = [{"id": s["id"], "step": "claim", "time": now()} for s in said["sessions"] if s["state"] == "offered"]
            if self.open: self.keep()
            else: time.sleep(0.5)


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


if __name__ == "__main__":
    Station().run()
