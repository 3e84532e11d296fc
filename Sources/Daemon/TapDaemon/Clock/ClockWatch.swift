// SPDX-License-Identifier: Apache-2.0
import Configuration
import Logging
import POSAPI
import PaymentValues
import Synchronization
import Transactions

/// Looks at the wall clock now and then, and whenever something depends on it; says once that it is not believed, and once
/// that it is again.
final class ClockWatch: Sendable {
    private struct State {
        var belief: ClockTrust
        var profileIssuedAt: Timestamp?
        /// What was said last.
        var told: ClockTrust.Doubt?
    }

    private let state: Mutex<State>
    private let isSynchronized: @Sendable () -> Bool?
    private let events: EventHub
    private let logger: Logger
    /// A clock that is put right is believed soon.
    private static let interval: Duration = .seconds(5)

    /// - Parameters:
    ///   - newest: time of the journal's newest entry.
    ///   - believed: the last time that an earlier run believed.
    init(
        journal newest: Timestamp?, believed: Timestamp?, isSynchronized: @escaping @Sendable () -> Bool?,
        events: EventHub, logger: Logger
    ) {
        let belief = ClockTrust(believed: believed, journal: newest, at: .nowWithSleep)
        state = Mutex(State(belief: belief))
        self.isSynchronized = isSynchronized
        (self.events, self.logger) = (events, logger)
        _ = doubt
    }

    /// The payment service has said what time it is.
    func heard(_ time: Timestamp) { state.withLock { $0.belief.heard(time, at: .nowWithSleep) } }

    /// A signed profile has come into force.
    func noteProfile(issuedAt time: Timestamp) { state.withLock { $0.profileIssuedAt = time } }

    /// Why the clock is not believed at this moment; `nil` where it is.
    var doubt: ClockTrust.Doubt? {
        let synchronized = isSynchronized()
        let (doubt, isNews) = state.withLock { state in
            state.belief.judge(
                ClockTrust.Witnesses(isSynchronized: synchronized, profileIssuedAt: state.profileIssuedAt),
                at: .nowWithSleep)
            let doubt = state.belief.doubt
            defer { state.told = doubt }
            return (doubt, doubt != state.told)
        }
        if isNews { tell(doubt) }
        return doubt
    }

    var status: ClockStatus { ClockStatus(doubt: doubt) }

    /// Looks until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            _ = doubt
            do { try await Task.sleep(for: ClockWatch.interval) } catch { return }
        }
    }

    /// What time it is; `nil` where the clock is not believed.
    var believed: Timestamp? { doubt == nil ? state.withLock { $0.belief.latest } : nil }

    /// The latest that it may be, for whatever was sent before; `nil` where the clock is not believed.
    var latest: Timestamp? {
        guard doubt == nil else { return nil }
        return state.withLock { $0.belief.latestPossible(at: .nowWithSleep) }
    }

    private func tell(_ doubt: ClockTrust.Doubt?) {
        var event = Event(doubt == nil ? .clockBelieved : .clockUnbelievable)
        if let doubt {
            event.error = ErrorDetail(of: doubt)
            logger.critical("clock not believed", metadata: ["reason": "\(doubt.rawValue)", "time": "\(event.at)"])
        } else {
            logger.notice("clock believed again", metadata: ["time": "\(event.at)"])
        }
        events.publish(event)
    }
}
