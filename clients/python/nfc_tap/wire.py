# SPDX-License-Identifier: Apache-2.0
"""What goes over the socket, without any waiting: errors, where the socket is, a sale step by step, and events from bytes."""
import json
import os
import uuid
from collections.abc import Generator
from typing import Any

import httpx

from nfc_tap.api.transactions import create_transaction, get_transaction
from nfc_tap.models import ErrorBody, Event, PaymentRequest, Transaction
from nfc_tap.models.payment_request_amount_status import PaymentRequestAmountStatus
from nfc_tap.models.payment_request_type import PaymentRequestType
from nfc_tap.models.total import Total

#: States in which a transaction stays, but for what people or time do to it later.
ENDED = {"approved", "declined", "reversed", "cancelled", "failed", "completed", "stored", "delivered", "reversing"}

#: Seconds for which a call whose answer was lost is made again.
PATIENCE = 120.0

#: One step of a longer conversation: a module of `nfc_tap.api`, its arguments, and its keywords.
Step = tuple[Any, tuple[Any, ...], dict[str, Any]]


class TapError(Exception):
    """What the daemon refused, or why it was not reached; the code of the latter is `client.unreachable`."""

    def __init__(self, code: str, message: str, resolution: str, retryable: bool, status: int | None = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code, self.message, self.resolution, self.retryable, self.status = code, message, resolution, retryable, status


def socket_path() -> str:
    """Where the daemon's socket is: the user's own daemon first, then the system's."""
    if named := os.environ.get("NFC_TAP_SOCKET"):
        return named
    own = os.path.join(os.environ.get("XDG_RUNTIME_DIR", ""), "nfc-tap", "pos.sock")
    return own if os.environ.get("XDG_RUNTIME_DIR") and os.path.exists(own) else "/run/nfc-tap/pos.sock"


def reached_by(
    path: str | None, gateway: str | None, token: str | None
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """The address, headers of each request, and the socket where there is one. A transport of our own asks no proxy of the
    environment, which must not get the token."""
    if gateway is None and token is None:
        return "http://localhost", {}, {"uds": path or socket_path()}
    if path is not None or gateway is None or token is None:
        raise ValueError("Give a socket's path, or a gateway's address and a till's token")
    return gateway, {"Authorization": f"Bearer {token}"}, {"trust_env": False}


def is_full(error: BaseException | None) -> bool:
    """The daemon's queue of connections is full, which a Unix socket says at once (connect(2), EAGAIN): nothing was sent."""
    while error is not None and not isinstance(error, BlockingIOError):
        error = error.__cause__ or error.__context__
    return error is not None


def unreachable(error: httpx.HTTPError) -> TapError:
    return TapError(
        "client.unreachable", f"The daemon gave no answer: {error or type(error).__name__}",
        "Look whether nfc-tapd runs: systemctl status nfc-tapd. Ask again with the same Idempotency-Key.", True)


def is_proxys(status: int, kind: str) -> bool:
    """Whether an answer of this media type comes from something on the way that does not know what became of the request: a page of
    errors, of maintenance or of a sign-in."""
    return status in (200, 201, 408, 429) and kind.startswith("text/html") or status >= 500 and not kind.startswith("application/json")


def listen(response: httpx.Response) -> None:
    if is_proxys(response.status_code, response.headers.get("Content-Type", "")):
        raise httpx.RemoteProtocolError(f"something on the way answered with {response.status_code}")


def answer(response: Any) -> Any:
    """The daemon's answer; `TapError` where it is an error or nothing that the contract knows."""
    status = int(response.status_code)
    if isinstance(response.parsed, ErrorBody):
        error = response.parsed.error
        raise TapError(error.code, error.message, error.resolution, error.retryable, status)
    if status >= 400:
        raise TapError(
            "client.unexpected_answer", f"The daemon answered with {status}",
            "Install client and daemon of the same version.", False, status)
    return response.parsed


def unreadable(error: Exception) -> TapError:
    return TapError(
        "client.unexpected_answer", f"The daemon's answer is not as the contract says: {error}",
        "Install client and daemon of the same version; look a sale up by its Idempotency-Key.", False)


def is_lost(error: TapError) -> bool:
    """The call may be made again as it is, under the same key: nothing says that it was refused."""
    return error.code in ("client.unreachable", "idempotency.in_progress") or (
        error.retryable and error.status in (408, 429, 502, 503, 504))


def sale(
    amount: int, currency: str, *, key: str | None = None, preauthorize: bool = False, **more: Any
) -> Generator[Step, Any, Transaction]:
    """The steps of a sale: yields calls, is sent their answers, and returns the transaction once it has an end."""
    request = PaymentRequest(
        type_=PaymentRequestType.PURCHASE, amount=Total(value=amount, currency=currency), **more)
    if preauthorize:
        request.amount_status = PaymentRequestAmountStatus.PREAUTHORIZED
    transaction = yield create_transaction, (), {
        "body": request, "idempotency_key": key or str(uuid.uuid4()), "prefer": "wait=25"}
    while str(transaction.state) not in ENDED:
        transaction = yield get_transaction, (transaction.id,), {"wait": 25}
    return transaction


class Conversation:
    """Steps that are carried out one after the other. A call whose answer was lost is made again as it is, for `PATIENCE`."""

    def __init__(self, steps: Generator[Step, Any, Transaction], now: float) -> None:
        self._steps = steps
        self.result: Any = None
        self.heard(None, now)

    def heard(self, said: Any, now: float) -> None:
        """The answer to the step before; `step` is the next one, or `None` at the end."""
        self._until = now + PATIENCE
        try:
            self.step: Step | None = self._steps.send(said)
        except StopIteration as end:
            self.step, self.result = None, end.value

    def failed(self, error: TapError, now: float) -> None:
        """Raises it again, unless the step may be carried out once more."""
        if not is_lost(error) or now > self._until:
            raise error


# The newest names of events that this client knows.
VOCABULARY = 3


class EventReader:
    """Server-sent events from lines (WHATWG HTML, 9.2.6), and the cursor from which they go on."""

    def __init__(self, after: int | None = None) -> None:
        self.after, self._vocabulary = after, VOCABULARY
        self.begin()

    def begin(self) -> dict[str, Any]:
        """What a request for the events behind the last whole one has to say; what a lost connection left half said is dropped."""
        self._name, self._data, self._number = "", [], self.after
        more = {} if self.after is None else {"Last-Event-ID": str(self.after)}
        # The names of 1 are those that come without it, from a daemon too that knows no vocabularies.
        names = {"vocabulary": str(self._vocabulary)} if self._vocabulary > 1 else {}
        return {"params": names, "headers": {"Accept": "text/event-stream", **more}}

    def answered(self, status: int) -> bool:
        """Whether events come. `TapError` for an answer that no later attempt makes better."""
        if status == 400 and self._vocabulary > 1:
            # An older daemon knows the names before these.
            self._vocabulary -= 1
        elif status == 200:
            # Whoever answers next may be a newer one.
            self._vocabulary = VOCABULARY
            return True
        elif status not in (429, 502, 503, 504):
            raise TapError(
                "client.unexpected_answer", f"The daemon gave no events: {status}",
                "Give the user the role of a cashier, a monitor or a machine.", False, status)
        return False

    def feed(self, line: str) -> Event | None:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "id" and value.isdigit():
            self._number = int(value)
        elif not line:
            self.after = self._number
            name, data, self._name, self._data = self._name, "\n".join(self._data), "", []
            return self._event(name, data)
        return None

    @staticmethod
    def _event(name: str, data: str) -> Event | None:
        # A client that is too slow is told so, and comes again. Of what a newer daemon tells, the unknown is left out.
        if not data or name == "overflow":
            return None
        try:
            return Event.from_dict(json.loads(data))
        except (ValueError, KeyError):
            return None
