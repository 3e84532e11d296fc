// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues

/// A tap on a lane that stands alone, as a machine uses it: a transaction, with the machine's own name for it and the time when
/// its money goes back by itself. What became of the money is in the transaction's account and nowhere else.
public struct StandingSession: Equatable, Sendable {
    /// Of the transaction.
    public let id: TransactionID
    /// Number of the tap on its lane; grows, and is never given twice.
    public let tap: Int64
    public let mode: StandingMode
    /// The machine's own name for it, once it has claimed it.
    public var reference: String?
    /// When a claimed hold goes back that the machine has neither committed nor kept.
    public var releaseAt: Timestamp

    public init(id: TransactionID, tap: Int64, mode: StandingMode, reference: String? = nil, releaseAt: Timestamp) {
        self.id = id
        self.tap = tap
        self.mode = mode
        self.reference = reference
        self.releaseAt = releaseAt
    }
}

/// How far a session is, by what the journal has of its transaction.
public enum SessionStage: Equatable, Sendable {
    /// The card is read, or the payment service is asked.
    case tapping
    /// Approved, or read and kept: taken back, or forgotten, unless a machine claims it.
    case offered
    /// A machine has claimed what was read, and nobody knows yet how the payment service answers.
    case claiming
    /// A machine has it, and the sum is held.
    case open
    /// A capture is on its way, and nobody knows yet how it ends.
    case settling
    /// So much was taken, in minor units.
    case committed(Int64)
    /// Nothing was taken, and nothing will be.
    case released

    public init(_ session: StandingSession, _ transaction: Transaction) {
        switch transaction.state {
        // Nothing is sent before it is claimed.
        case .sealed where session.mode == .ask && session.reference == nil: self = .offered
        case .sealed, .sent, .unknown: self = session.mode == .ask && session.reference != nil ? .claiming : .tapping
        case .declined, .cancelled, .failed, .completed, .reversing, .reversed: self = .released
        case .created, .preparing, .armed, .reading, .stored: self = .tapping
        case .delivered: self = .committed(transaction.amount.value)
        case .approved:
            guard let account = transaction.account else {
                self = .tapping
                return
            }
            switch account.state {
            case .open where transaction.confirmation.map({ $0.confirmedAt == nil }) ?? false: self = .offered
            case .captured where transaction.confirmation.map({ $0.confirmedAt == nil }) ?? false: self = .offered
            case .open: self = account.pendingCapture > 0 ? .settling : .open
            case .captured, .refunded, .partiallyRefunded: self = .committed(account.captured)
            case .released, .expired, .reversed: self = .released
            }
        }
    }

    /// Whether money may still move by it.
    public var isOpen: Bool {
        switch self {
        case .tapping, .offered, .claiming, .open, .settling: true
        case .committed, .released: false
        }
    }
}

/// What a machine wishes of a session.
public enum SessionRequest: Equatable, Sendable {
    /// "I have it", under the machine's own name for it.
    case claim(reference: String)
    /// Takes so much, and gives the rest back; 0 gives all of it back.
    ///
    /// - Parameter upTo: takes what is held where that is less, and says how much is missing.
    case commit(amount: Int64, upTo: Bool)
    case release
    /// The hold is still used: it goes back so many seconds from now, unless it is committed.
    case keep(seconds: Int)
    /// So much is to be held in all.
    case increase(total: Int64)
}

/// What has to be done for a wish. All but `done` and `refused` is one write of the journal, before anything leaves the process.
public enum SessionStep: Equatable, Sendable {
    /// Reference and time are written in the step in which the approval is confirmed.
    case confirm(reference: String, releaseAt: Timestamp)
    /// Reference and time are written before what was read is sent.
    case send(reference: String, releaseAt: Timestamp)
    /// What was read is forgotten. Nothing was sent.
    case forget
    /// - Parameter shortfall: what the machine wanted beyond it.
    case capture(Int64, shortfall: Int64)
    /// All of it goes back.
    case reverse
    case move(releaseAt: Timestamp)
    case adjust(total: Int64)
    /// Nothing is left to be done: this wish or an earlier one has done it.
    case done(shortfall: Int64 = 0)
    /// Nobody knows yet what became of an earlier wish: look again.
    case wait
    /// - Parameter limit: the most that is possible, where that is what is wrong.
    case refused(ErrorCode, limit: Int64? = nil)
}

/// What holds for the sessions of a lane.
public struct SessionRules: Equatable, Sendable {
    /// Seconds.
    public var release: Int64
    /// The most that may be held, in minor units.
    public var maximum: Int64
    /// Seconds before a hold goes back in which its machine is told; 0 for not at all.
    public var warning: Int64

    public init(release: Int64, maximum: Int64, warning: Int64 = 0) {
        self.release = release
        self.maximum = maximum
        self.warning = warning
    }

    /// Milliseconds until the machine is told of a hold that goes back after `wait` of them: never in the first half, so that a
    /// machine which keeps its hold at each warning is not told at once again. `nil` for not at all.
    public func warning(of wait: Int64) -> Int64? {
        let (lead, overflow) = warning.multipliedReportingOverflow(by: 1_000)
        guard warning > 0, wait > 0 else { return nil }
        return wait - min(overflow ? wait : lead, wait / 2)
    }
}

extension StandingSession {
    /// What a wish comes to, without doing anything. The same wish again comes to `done`, and books nothing.
    public func step(
        for wish: SessionRequest, _ stage: SessionStage, held: Int64, _ rules: SessionRules, at now: Timestamp
    ) -> SessionStep {
        switch (wish, stage) {
        case (_, .tapping): .refused(.sessionNotClaimed)
        case (.claim(let reference), .offered):
            if mode == .ask {
                .send(reference: reference, releaseAt: now.advanced(bySeconds: rules.release))
            } else {
                .confirm(reference: reference, releaseAt: now.advanced(bySeconds: rules.release))
            }
        case (.claim(let reference), .claiming) where reference != self.reference: .refused(.sessionClaimed)
        case (_, .claiming): .wait
        // Who hears of a released session must not give anything for it, whatever it heard before.
        case (.claim, .released): .refused(.sessionOver)
        case (.claim(let reference), _): reference == self.reference ? .done() : .refused(.sessionClaimed)
        case (.release, .offered): mode == .ask ? .forget : .reverse
        case (.release, .open): .reverse
        case (_, .offered): .refused(.sessionNotClaimed)
        case (_, .settling): .wait
        case (.commit(0, _), .open): .reverse
        case (.commit(let amount, let upTo), .open):
            if amount <= held {
                .capture(amount, shortfall: 0)
            } else if upTo {
                .capture(held, shortfall: saturated(amount, -held))
            } else {
                .refused(.captureTooMuch, limit: held)
            }
        case (.commit(0, _), .released), (.release, .released): .done()
        case (.commit(let amount, let upTo), .committed(let taken)):
            if amount == taken {
                .done()
            } else if upTo, amount > taken {
                .done(shortfall: saturated(amount, -taken))
            } else {
                .refused(.sessionOver)
            }
        // The goods did not come: a sale goes back as a whole. A hold was taken for what was used.
        case (.release, .committed): mode == .sale ? .reverse : .refused(.sessionOver)
        case (.keep(let seconds), .open):
            .move(releaseAt: now.advanced(bySeconds: min(Int64(clamping: seconds), rules.release)))
        case (.increase(let total), .open):
            if total == held {
                .done()
            } else if total > rules.maximum {
                .refused(.amountTooLarge, limit: rules.maximum)
            } else {
                .adjust(total: total)
            }
        case (.commit, .released), (.keep, _), (.increase, _): .refused(.sessionOver)
        }
    }

    /// Milliseconds until its hold goes back, after a start of the daemon: never later than by a whole time from then on, and not
    /// early by a clock that nobody believes.
    public func wait(from now: Timestamp, isClockBelieved: Bool, _ rules: SessionRules) -> Int64 {
        let (whole, _) = rules.release.multipliedReportingOverflow(by: 1_000)
        guard isClockBelieved else { return whole }
        return min(max(0, saturated(releaseAt.milliseconds, -now.milliseconds)), whole)
    }
}

/// The sum, or the nearest number that there is.
private func saturated(_ left: Int64, _ right: Int64) -> Int64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? (right > 0 ? .max : .min) : sum
}
