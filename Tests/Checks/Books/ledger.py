# SPDX-License-Identifier: Apache-2.0
"""A model of the books of one payment, from docs/shop/money.md, docs/openapi.yaml and the tables of the reference alone: rows with
a hold and a money column, accounts as sums over them, and what may be asked for. It shares no line with the daemon."""
import copy

OPEN = {"created", "sent", "unknown"}
ADJUSTMENTS = 10


def maximum(approved):
    """How much the payment service of the tests lets a shop capture in all; None where it is no more than it holds."""
    return approved * 2 if approved % 7 == 0 else None


class Operation:
    def __init__(self, id, call, value, tip=0, final=True, extend=False):
        self.id, self.call, self.value, self.tip, self.final, self.extend = id, call, value, tip, final, extend
        self.state = "created"

    def __str__(self):
        return f"{self.call} {self.value}{' extend' if self.extend else ''}{'' if self.final else ' not final'} {self.state}"


class Refund:
    def __init__(self, id, value):
        # `done` is what was given back, which may be a part.
        self.id, self.value, self.state, self.done = id, value, "created", 0

    def __str__(self):
        return f"refund {self.value} {self.state}"


class Books:
    """`held`: the payment was a reservation, so that nothing is the shop's before a capture."""

    def __init__(self, approved, held):
        self.is_manual, self.maximum = held, maximum(approved) if held else None
        self.rows = [("authorised", approved, 0)] if held else [("captured", 0, approved)]
        self.operations, self.refunds, self.is_reversed = [], [], False

    def before_reversal(self):
        books = copy.deepcopy(self)
        if books.is_reversed:
            books.rows, books.is_reversed = [row for row in books.rows if row[0] != "reversed"], False
        return books

    # Sums

    @property
    def hold(self):
        return sum(hold for _, hold, _ in self.rows)

    @property
    def money(self):
        return sum(money for _, _, money in self.rows)

    def sum(self, *entries):
        return sum(hold + money for entry, hold, money in self.rows if entry in entries)

    @property
    def pending(self):
        """The operation that has no end yet: never more than one."""
        return next((each for each in self.operations if each.state in OPEN), None)

    @property
    def captured(self):
        return sum(money for entry, _, money in self.rows if entry == "captured")

    @property
    def given_back(self):
        return sum(each.done for each in self.refunds if each.state == "done")

    @property
    def may_be_given_back(self):
        return sum(each.value for each in self.refunds if each.state in OPEN)

    @property
    def net(self):
        return self.money - self.given_back

    def account(self):
        pending = self.pending.value if self.pending and self.pending.call == "captures" else 0
        final = bool(pending) and self.pending.final
        authorised = self.sum("authorised", "adjusted") if self.is_manual else self.captured
        released = -self.sum("released", "expired")
        remaining = 0 if final or self.is_reversed else max(0, max(0, authorised - self.captured - released) - pending)
        limit = remaining
        if self.maximum is not None:
            limit = max(remaining, self.maximum - self.captured - pending)
        refundable = 0 if self.is_reversed else max(0, self.captured - self.given_back - self.may_be_given_back)
        return {
            "authorised": authorised, "captured": self.captured, "released": released, "refunded": self.given_back,
            "pendingCapture": pending, "pendingRefund": self.may_be_given_back, "remaining": remaining,
            "capturableUpTo": limit if self.hold > 0 and not final else 0, "refundable": refundable,
        }

    # What may be asked for: the words with which it may be refused, none where it has to be accepted

    def against_operation(self):
        why = set()
        if not self.is_manual:
            why.add("capture.automatic")
        if self.is_reversed:
            why |= {"refund.already_reversed", "transaction.not_approved"}
        if self.pending:
            why.add("operation.pending")
        return why

    def against_capture(self, value, tip):
        why, account = self.against_operation(), self.account()
        if self.hold <= 0:
            why.add("capture.nothing_left")
        wanted = account["remaining"] if value is None else value
        if wanted > account["capturableUpTo"] or tip > wanted:
            why.add("capture.too_much")
        if wanted <= 0:
            why.add("amount.total_not_positive")
        return why

    def against_adjustment(self, total):
        why = self.against_operation()
        if any(entry == "captured" for entry, _, _ in self.rows):
            why.add("adjustment.after_capture")
        if self.hold <= 0:
            why.add("capture.nothing_left")
        if sum(each.call == "adjustments" for each in self.operations) >= ADJUSTMENTS:
            why.add("adjustment.too_many")
        if total is not None and total <= 0:
            why.add("amount.total_not_positive")
        return why

    def against_release(self, value):
        why, remaining = self.against_operation(), self.account()["remaining"]
        if remaining <= 0 or value is not None and value > remaining:
            why.add("release.too_much")
        return why

    def against_refund(self, value):
        why, account = set(), self.account()
        if self.pending:
            why.add("operation.pending")
        if self.is_reversed:
            why.add("refund.already_reversed")
        if self.captured <= 0:
            why.add("refund.not_captured")
        if account["refundable"] <= 0 or value is not None and value > account["refundable"]:
            why.add("refund.too_much")
        return why

    def against_reversal(self):
        if self.is_reversed:
            return set()  # The same wish again.
        why, captures = set(), sum(entry == "captured" for entry, _, _ in self.rows)
        if self.pending:
            why.add("operation.pending")
        if self.given_back or self.may_be_given_back:
            why.add("reversal.refunded")
        if self.is_manual and (captures > 1 or captures == 1 and self.hold > 0):
            why.add("reversal.captured_in_part")
        if self.hold <= 0 and self.money <= 0:
            why.add("capture.nothing_left")
        return why

    # What happened

    def begin(self, operation):
        self.operations.append(operation)

    def end(self, operation, state):
        """The payment service's last word on an operation, booked once."""
        operation.state = state
        if state != "done":
            return
        hold = self.hold
        if operation.call == "captures":
            taken = min(operation.value, hold)
            self.rows.append(("captured", -taken, operation.value))
            if operation.final and hold > taken:
                self.rows.append(("released", taken - hold, 0))
        elif operation.call == "releases":
            self.rows.append(("released", -min(operation.value, hold), 0))
        elif not operation.extend:
            self.rows.append(("adjusted", operation.value - hold, 0))

    def reverse(self):
        if not self.is_reversed:
            self.is_reversed = True
            self.rows.append(("reversed", -self.hold, -self.money))

    def faults(self):
        """What the invariants of the reference forbid."""
        found = []
        if self.hold < 0 or self.money < 0:
            found.append(f"below zero: {self.hold} held, {self.money} taken")
        if self.given_back + self.may_be_given_back > self.captured:
            found.append("more may be given back than was captured")
        if self.is_reversed and (self.hold or self.money):
            found.append("a sum is left after the reversal")
        return found
