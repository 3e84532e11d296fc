// SPDX-License-Identifier: Apache-2.0

/// What a till may give back by refunds and credits, in minor units.
public struct RefundLimit: Equatable, Sendable {
    /// The largest one.
    public var each: Int64
    /// All of a day together; `nil` for as many as are wanted.
    public var day: Int64?

    public init(each: Int64, day: Int64? = nil) {
        self.each = each
        self.day = day
    }
}

extension TillMachine {
    /// A refund that is asked for is among those of its day already.
    func isAboveLimit(_ order: TillOrder) -> Bool {
        guard order.kind == .refund, let refundLimit else { return false }
        guard order.amount <= refundLimit.each else { return true }
        guard let day = refundLimit.day else { return false }
        return givenBack > day
    }

    /// What was given back today, and what may yet be. A clock that was set back lets nobody begin anew: what has the date of a
    /// later day counts as well.
    var givenBack: Int64 {
        let all = finished + (open.map { [$0] } ?? [])
        return all.filter { $0.isGivenBack(since: today) }.reduce(past.givenBack(since: today)) { sum, attempt in
            let (next, overflow) = sum.addingReportingOverflow(attempt.order.amount)
            return overflow ? .max : next
        }
    }
}

extension Attempt {
    /// A refund of that day or later that is not certain to have moved no money.
    public func isGivenBack(since day: UInt32) -> Bool {
        guard let own = self.day, own >= day, order.kind == .refund else { return false }
        switch phase {
        case .running, .givenUp, .approved, .telling, .told, .confirmed, .takingBack, .reversing: return true
        case .takenBack, .notPaid, .reversed: return false
        }
    }
}
