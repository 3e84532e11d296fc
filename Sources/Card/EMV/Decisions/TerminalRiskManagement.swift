// SPDX-License-Identifier: Apache-2.0
/// Terminal risk management (EMV Book 3 §10.6). Contactless kernels use parts of it; velocity belongs to contact cards.
public struct TerminalRiskManagement: Equatable, Sendable {
    /// Minor units.
    public var amount: UInt64
    /// Amount of the latest transaction of the same PAN that this terminal keeps; added before the comparison.
    public var previousAmount: UInt64
    /// `nil` where no floor limit is set.
    public var floorLimit: UInt64?
    /// 9F14 and 9F23.
    public var lowerConsecutiveLimit: UInt8?
    public var upperConsecutiveLimit: UInt8?
    /// 9F36 and 9F13 as read by GET DATA; `nil` where the card did not tell.
    public var transactionCounter: UInt16?
    public var lastOnlineCounter: UInt16?

    public init(
        amount: UInt64, previousAmount: UInt64 = 0, floorLimit: UInt64? = nil, lowerConsecutiveLimit: UInt8? = nil,
        upperConsecutiveLimit: UInt8? = nil, transactionCounter: UInt16? = nil, lastOnlineCounter: UInt16? = nil
    ) {
        self.amount = amount
        self.previousAmount = previousAmount
        self.floorLimit = floorLimit
        self.lowerConsecutiveLimit = lowerConsecutiveLimit
        self.upperConsecutiveLimit = upperConsecutiveLimit
        self.transactionCounter = transactionCounter
        self.lastOnlineCounter = lastOnlineCounter
    }

    /// The TVR bits of floor limit and velocity checks. The sum reaches the limit at equality (EMV Book 3 §10.6.1).
    public func evaluate() -> TVR {
        var tvr: TVR = []
        let (sum, overflow) = amount.addingReportingOverflow(previousAmount)
        if let floorLimit, overflow || sum >= floorLimit { tvr.insert(.floorLimitExceeded) }
        tvr.formUnion(velocity())
        return tvr
    }

    /// EMV Book 3 §10.6.3: made where the card has both limits.
    private func velocity() -> TVR {
        guard let lower = lowerConsecutiveLimit, let upper = upperConsecutiveLimit else { return [] }
        var tvr: TVR = lastOnlineCounter == 0 ? .newCard : []
        guard let counter = transactionCounter, let last = lastOnlineCounter, counter > last else {
            return tvr.union([.lowerConsecutiveLimitExceeded, .upperConsecutiveLimitExceeded])
        }
        if counter - last > UInt16(lower) { tvr.insert(.lowerConsecutiveLimitExceeded) }
        if counter - last > UInt16(upper) { tvr.insert(.upperConsecutiveLimitExceeded) }
        return tvr
    }
}
