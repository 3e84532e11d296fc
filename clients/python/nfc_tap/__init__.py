# SPDX-License-Identifier: Apache-2.0
"""Takes payments with nfc-tapd.

Amounts are in minor units of their currency (cents), as integers. Every call may raise `TapError`: what the daemon refused, or
that it could not be reached.
"""
from nfc_tap.tap import AsyncTap, Tap, connect, connect_async
from nfc_tap.wire import TapError

__all__ = ["AsyncTap", "Tap", "TapError", "connect", "connect_async"]
