// SPDX-License-Identifier: Apache-2.0
import Journal
import Logging
import POSAPI
import PaymentValues
import Transactions

/// Tells when a sum that nobody has captured is held no longer: a day and two hours ahead, and once it is over. It captures
/// and releases nothing by itself. A day after the time the hold is booked as expired: until then an answer of the payment
/// service may still name a later time.
actor ExpiryWatch {
    private let journal: JournalThread
    private let clock: ClockWatch
    private let logger: Logger
    private let publish: @Sendable (Event) -> Void
    /// The nearest hour of `hoursAhead` that was told of; a start tells again.
    private var told: [TransactionID: Int64] = [:]

    static let hoursAhead: [Int64] = [2, 24]
    private static let hour: Int64 = 3_600_000

    init(journal: JournalThread, clock: ClockWatch, logger: Logger, publish: @escaping @Sendable (Event) -> Void) {
        (self.journal, self.clock, self.logger, self.publish) = (journal, clock, logger, publish)
    }

    /// Goes on until its task is cancelled.
    func run(every interval: Duration = .seconds(60)) async {
        while !Task.isCancelled {
            // What a wrong clock has let expire stays so.
            if clock.doubt == nil { await look(at: .now) }
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }

    func look(at now: Timestamp) async {
        do throws(JournalError) {
            for event in try await expire(at: now) { publish(event) }
            for event in try await warn(at: now) { publish(event) }
        } catch {
            logger.error("holds not looked through", metadata: ["error": "\(error)"])
        }
    }

    private func expire(at now: Timestamp) async throws(JournalError) -> [Event] {
        try await journal.use { (journal) throws(JournalError) in
            var events: [Event] = []
            for entry in try journal.held() {
                guard let before = entry.before, now.milliseconds - before.milliseconds >= 24 * Self.hour,
                    try journal.expire(entry.transaction, at: now),
                    let transaction = try journal.record(entry.transaction)?.transaction
                else { continue }
                var event = Event(.paymentExpired, about: transaction)
                event.amount = entry.amount
                events.append(event)
            }
            return events
        }
    }

    private func warn(at now: Timestamp) async throws(JournalError) -> [Event] {
        let held = try await journal.use { (journal) throws(JournalError) in try journal.held() }
        let alive = Set(held.map(\.transaction))
        told = told.filter { alive.contains($0.key) }
        var events: [Event] = []
        for entry in held {
            guard let before = entry.before, before > now else { continue }
            let left = before.milliseconds - now.milliseconds
            guard let hours = Self.hoursAhead.first(where: { left <= $0 * Self.hour }),
                told[entry.transaction].map({ $0 > hours }) ?? true
            else { continue }
            told[entry.transaction] = hours
            let record = try await journal.use { (journal) throws(JournalError) in try journal.record(entry.transaction)
            }
            guard let transaction = record?.transaction else { continue }
            var event = Event(.paymentExpiring, about: transaction)
            event.amount = entry.amount
            events.append(event)
        }
        return events
    }
}
