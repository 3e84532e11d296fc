// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Why the books refuse a wish. Nothing has been booked, and nothing may be sent.
public enum LedgerRefusal: Error, Hashable, Sendable {
    /// No amount above zero.
    case amountMissing
    /// The sum leaves the range of a 64-bit number.
    case amountOutOfRange
    /// The payment was not approved, so that no operation on it is possible.
    case notApproved
    /// The tip is larger than the amount that it is part of.
    case tipAboveAmount

    /// Another operation on the payment has no end yet.
    case operationPending(OperationID)
    /// The approval waits for the till's confirmation and could be taken back at any moment.
    case confirmationPending
    /// The time for the till's confirmation is over: the approval is being taken back.
    case confirmationTooLate

    /// The payment is of a kind that needs no capture.
    case capturedByItself
    /// More than can be captured: at most `limit`.
    case captureTooMuch(limit: Int64)
    case captureNothingLeft
    /// The payment service no longer holds the sum.
    case captureExpired

    case adjustmentAfterCapture
    case adjustmentTooMany
    case releaseTooMuch(limit: Int64)

    /// More than was captured and not yet given back: at most `limit`.
    case refundTooMuch(limit: Int64)
    /// Nothing was captured: release or reverse the payment instead.
    case refundNotCaptured
    case alreadyReversed

    /// Part of the payment was given back, so that the whole cannot be taken back.
    case reversalRefunded
    /// Part of the payment was captured: release the rest, and refund what was captured.
    case reversalCapturedInPart
    case reversalNothingLeft
}
