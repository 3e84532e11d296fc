// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import Journal
import Linux
import Logging
import POSAPI
import PaymentValues
import Profile

/// Closes the business day at the time that the configuration names. A machine that was off then does it at its start, once
/// for all the time that has passed.
struct EndOfDaySchedule: Sendable {
    let journal: JournalThread
    let settings: CurrentSettings
    let profiles: ProfileStore
    let clock: ClockWatch
    let reconciler: Reconciler
    var interval: Duration = .seconds(20)
    let logger: Logger
    let publish: @Sendable (Event) -> Void

    /// Goes on until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            // A day that a wrong clock has closed is closed.
            if clock.doubt == nil { await look(now: .now) }
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }

    /// Closes the open day if its end has come.
    func look(now: Timestamp) async {
        let snapshot = settings.snapshot
        guard let minutes = snapshot.day.endsAt else { return }
        let merchant = profiles.current.map { Merchant($0.merchant) } ?? snapshot.shop
        let (blockOn, terminal) = (snapshot.day.blockOn, snapshot.terminal.id)
        let plan = reconciler.plan(snapshot.mode, terminal: profiles.currentTerminal().id)
        do throws(JournalError) {
            let closing: DayClosing? = try await journal.use { (journal) throws(JournalError) -> DayClosing? in
                let day = try journal.openDay()
                let end = EndOfDaySchedule.end(of: day.openedAt, minutes: minutes)
                guard now >= end else { return nil }
                return try journal.closeDay(
                    NewEndOfDay(
                        owner: Principal(uid: getuid()), idempotencyKey: "ends-at-\(day.id)", requestHash: "",
                        label: LocalTime(at: Int(end.milliseconds / 1_000)).dateText, blockOn: blockOn,
                        merchant: merchant, terminal: terminal, reconciliation: plan, at: now))
            }
            switch closing {
            case .closed(let end):
                logger.info("business day closed", metadata: ["day": "\(end.day.number)"])
                publish(Event(closing: end))
                _ = await reconciler.begin(end.day.number)
            case .blocked(let entries):
                logger.warning(
                    "business day stays open",
                    metadata: ["open": "\(entries.count)", "first": "\(entries.first.map { "\($0.kind)" } ?? "")"])
            case .repeated, .keyReused, nil: break
            }
        } catch {
            logger.error("business day not closed", metadata: ["error": "\(error)"])
        }
    }

    /// What a clock on the wall shows.
    struct WallTime: Equatable {
        var year, month, day, minutes: Int

        init(year: Int, month: Int, day: Int, minutes: Int) {
            (self.year, self.month, self.day, self.minutes) = (year, month, day, minutes)
        }

        /// By the machine's zone.
        init(at time: Timestamp) {
            let local = LocalTime(at: Int(time.milliseconds / 1_000))
            self.init(year: local.year, month: local.month, day: local.day, minutes: local.hour * 60 + local.minute)
        }

        func isSameDay(as other: WallTime) -> Bool {
            (year, month, day) == (other.year, other.month, other.day)
        }
    }

    /// The first moment after a day's beginning at which the zone's clock shows the time or a later one: on a day whose
    /// clock leaps over it the first after the leap, on a day that has it twice the first of them.
    static func end(
        of opened: Timestamp, minutes: Int, wall: (Timestamp) -> WallTime = { WallTime(at: $0) }
    ) -> Timestamp {
        let begin = wall(opened)
        let isToday = begin.minutes < minutes
        var time = Timestamp(milliseconds: opened.milliseconds / 60_000 * 60_000)
        // No two days are longer, whatever their clock does.
        for _ in 0..<3_000 {
            time = time.advanced(bySeconds: 60)
            let now = wall(time)
            let isSameDay = now.isSameDay(as: begin)
            if isToday, !isSameDay { return time }
            if isToday == isSameDay, now.minutes >= minutes { return time }
        }
        return time
    }
}
