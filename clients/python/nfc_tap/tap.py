# SPDX-License-Identifier: Apache-2.0
"""The daemon, blocking and with asyncio: both carry out the same steps."""
import asyncio
import time
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import httpx

from nfc_tap.api.transactions import list_transactions
from nfc_tap.client import Client
from nfc_tap.models import Event, Transaction
from nfc_tap.wire import (
    Conversation, EventReader, Step, TapError, answer, is_full, listen, reached_by, sale, unreachable, unreadable)

PAUSE = 0.3
#: Between two attempts to come into a queue that is full, and for how long they are made.
TURN, TURNS = 0.01, 5.0
#: Longer than the daemon waits for an end in one call.
TIMEOUT = httpx.Timeout(60.0, connect=5.0)
#: The daemon says something at least every 15 seconds.
QUIET = httpx.Timeout(45.0, connect=5.0)


async def listen_async(response: httpx.Response) -> None:
    listen(response)


class Tap:
    """A daemon, at its socket or behind its gateway. Call it with a function of `nfc_tap.api` and its arguments."""

    def __init__(self, path: str | None = None, *, gateway: str | None = None, token: str | None = None) -> None:
        base, headers, where = reached_by(path, gateway, token)
        self.client = Client(
            base_url=base, headers=headers, timeout=TIMEOUT,
            httpx_args={"transport": httpx.HTTPTransport(**where), "event_hooks": {"response": [listen]}})

    def __enter__(self) -> "Tap":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.client.get_httpx_client().close()

    def __call__(self, function: Any, *arguments: Any, **more: Any) -> Any:
        until = time.monotonic() + TURNS
        try:
            while True:
                try:
                    return answer(function.sync_detailed(*arguments, client=self.client, **more))
                except httpx.ConnectError as error:
                    if not is_full(error) or time.monotonic() > until:
                        raise
                    time.sleep(TURN)
        except httpx.HTTPError as error:
            raise unreachable(error) from error
        except (ValueError, KeyError, TypeError) as error:
            raise unreadable(error) from error

    def pay(self, amount: int, currency: str, **more: Any) -> Transaction:
        """Sells, and returns the transaction once it has an end. `more` are members of `PaymentRequest`, and `key`, the sale's
        Idempotency-Key: give one that you have written down, to find the sale again after a crash of your own program."""
        return self._carry_out(sale(amount, currency, **more))

    def find(self, key: str) -> Transaction:
        """The sale of this Idempotency-Key; `TapError` with `idempotency.key_unknown` where the daemon has never heard of it."""
        return self(list_transactions, key=key).transactions[0]

    def reserve(self, amount: int, currency: str, **more: Any) -> Transaction:
        """Has an amount held that is captured or released later."""
        return self._carry_out(sale(amount, currency, preauthorize=True, **more))

    def _carry_out(self, steps: Generator[Step, Any, Transaction]) -> Transaction:
        conversation = Conversation(steps, time.monotonic())
        while conversation.step:
            function, arguments, more = conversation.step
            try:
                conversation.heard(self(function, *arguments, **more), time.monotonic())
            except TapError as error:
                conversation.failed(error, time.monotonic())
                time.sleep(PAUSE)
        return conversation.result

    def events(self, after: int | None = None) -> Iterator[Event]:
        """What happens, for ever. After a lost connection it goes on behind the last event that it has given."""
        reader = EventReader(after)
        while True:
            try:
                with self.client.get_httpx_client().stream(
                    "GET", "/v1/events", timeout=QUIET, **reader.begin()) as stream:
                    for line in stream.iter_lines() if reader.answered(stream.status_code) else ():
                        if event := reader.feed(line):
                            yield event
            except httpx.TransportError:
                pass
            time.sleep(PAUSE)


class AsyncTap:
    """The same with asyncio."""

    def __init__(self, path: str | None = None, *, gateway: str | None = None, token: str | None = None) -> None:
        base, headers, where = reached_by(path, gateway, token)
        self.client = Client(
            base_url=base, headers=headers, timeout=TIMEOUT,
            httpx_args={"transport": httpx.AsyncHTTPTransport(**where), "event_hooks": {"response": [listen_async]}})

    async def __aenter__(self) -> "AsyncTap":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self.client.get_async_httpx_client().aclose()

    async def __call__(self, function: Any, *arguments: Any, **more: Any) -> Any:
        # What is below it waits for a place in a queue that is full by itself.
        try:
            return answer(await function.asyncio_detailed(*arguments, client=self.client, **more))
        except httpx.HTTPError as error:
            raise unreachable(error) from error
        except (ValueError, KeyError, TypeError) as error:
            raise unreadable(error) from error

    async def pay(self, amount: int, currency: str, **more: Any) -> Transaction:
        return await self._carry_out(sale(amount, currency, **more))

    async def find(self, key: str) -> Transaction:
        return (await self(list_transactions, key=key)).transactions[0]

    async def reserve(self, amount: int, currency: str, **more: Any) -> Transaction:
        return await self._carry_out(sale(amount, currency, preauthorize=True, **more))

    async def _carry_out(self, steps: Generator[Step, Any, Transaction]) -> Transaction:
        conversation = Conversation(steps, time.monotonic())
        while conversation.step:
            function, arguments, more = conversation.step
            try:
                conversation.heard(await self(function, *arguments, **more), time.monotonic())
            except TapError as error:
                conversation.failed(error, time.monotonic())
                await asyncio.sleep(PAUSE)
        return conversation.result

    async def events(self, after: int | None = None) -> AsyncIterator[Event]:
        reader = EventReader(after)
        while True:
            try:
                async with self.client.get_async_httpx_client().stream(
                    "GET", "/v1/events", timeout=QUIET, **reader.begin()) as stream:
                    if reader.answered(stream.status_code):
                        async for line in stream.aiter_lines():
                            if event := reader.feed(line):
                                yield event
            except httpx.TransportError:
                pass
            await asyncio.sleep(PAUSE)


def connect(path: str | None = None, *, gateway: str | None = None, token: str | None = None) -> Tap:
    """The daemon at this socket, or at the one where it is looked for first; or behind a gateway, as the till of this token."""
    return Tap(path, gateway=gateway, token=token)


def connect_async(path: str | None = None, *, gateway: str | None = None, token: str | None = None) -> AsyncTap:
    return AsyncTap(path, gateway=gateway, token=token)
