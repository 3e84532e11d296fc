// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues

/// Which taps on a lane that stands alone are taken. Nobody stands beside it who would notice the tenth one.
public struct StandingGate: Sendable {
    public struct Rules: Equatable, Sendable {
        /// Seconds after a tap in which another one is none.
        public var debounce: Int64
        /// Sessions of the lane that may be open at a time.
        public var openSessions: Int
        public var tapsPerHour: Int

        public init(debounce: Int64, openSessions: Int, tapsPerHour: Int) {
            self.debounce = debounce
            self.openSessions = openSessions
            self.tapsPerHour = tapsPerHour
        }
    }

    private static let hour: Int64 = 3_600_000
    /// On the monotonic clock; those of the last hour.
    private var taken: [Int64] = []
    /// When the latest tap was over.
    private var over: Int64?

    public init() {}

    /// Whether a card that has just come is a tap; one that is counts from here on.
    ///
    /// - Parameter open: sessions of the lane that are open.
    public mutating func judge(open: Int, _ rules: Rules, at now: Moment) -> TapRefusal? {
        taken.removeAll { now.monotonic - $0 >= StandingGate.hour }
        if let over, now.monotonic - over < rules.debounce * 1_000 { return .debounce }
        guard open < rules.openSessions else { return .openSessions }
        guard taken.count < rules.tapsPerHour else { return .tooOften }
        taken.append(now.monotonic)
        return nil
    }

    /// The tap is over, whatever came of it.
    public mutating func ended(at now: Moment) { over = now.monotonic }
}

/// One tap on a lane that stands alone, as it is laid down before its card is read.
public struct StandingTap: Equatable, Sendable {
    /// Of the lane's taps.
    public let number: Int64
    public let mode: StandingMode
    /// Seconds in which its approval has to be claimed.
    public let claim: Int
    /// Seconds after which its hold goes back.
    public let release: Int64
    public let amount: Money

    /// Seconds for the card: it lies there, unless it was taken away again.
    public static let deadline = 10

    public init(number: Int64, mode: StandingMode, claim: Int, release: Int64, amount: Money) {
        (self.number, self.mode, self.claim) = (number, mode, claim)
        (self.release, self.amount) = (release, amount)
    }

    /// The session that begins with it; `nil` where passes are read: there is nothing to claim.
    public func session(_ id: TransactionID, at now: Timestamp) -> StandingSession? {
        guard mode != .read else { return nil }
        return StandingSession(id: id, tap: number, mode: mode, releaseAt: now.advanced(bySeconds: release))
    }
}

extension Event {
    /// An approval, for the machine of its lane to claim.
    ///
    /// - Parameter amount: what the tap asked for.
    public func offered(tap: Int64, _ amount: Money) -> Event {
        var event = self
        (event.name, event.id, event.tap) = (.tapOffered, 0, tap)
        event.amount = result?.amountApproved ?? amount
        event.result = nil
        return event
    }

    /// The approval of what was read, kept and claimed.
    ///
    /// - Parameter amount: what the tap asked for.
    public func claimed(tap: Int64, as reference: String, _ amount: Money) -> Event {
        var event = offered(tap: tap, amount)
        (event.name, event.reference) = (.sessionClaimed, reference)
        return event
    }
}
