// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Journal
import Linux
import Logging
import Loyalty
import POSAPI
import PaymentValues
import ReaderCore
import Transactions

/// Lanes that stand alone: keeps them armed, begins a session with each tap, and gives a hold back when its time is over. What it
/// decides, `StandingGate` and `StandingSession` say. While nobody taps it writes nothing.
actor StandingLanes {
    /// One lane, from the first look at it on.
    private struct Seat {
        var note: StandingNote
        var gate = StandingGate()
        /// Somebody waits for its card.
        var isWatched = false
    }

    /// In milliseconds of the clock that counts sleep.
    private struct Due {
        /// When the hold goes back.
        var release: Int64
        /// When the machine is told that it will; `nil` for not any more.
        var warning: Int64?
    }

    let runner: TransactionRunner
    let admission: TransactionAdmission
    let engine: OperationEngine
    let clock: ClockWatch
    /// Waits and taps run here: a stop lets them come to their end.
    let work: WorkQueue
    /// Runs a transaction that was admitted; `false` where nothing is run any more.
    let start: @Sendable (TransactionID) -> Bool
    private var seats: [String: Seat] = [:]
    private var due: [TransactionID: Due] = [:]
    var returns = SessionReturns()

    /// Seconds of one wait for a card; then the lane can be looked after.
    static let waitSeconds: UInt64 = 60
    /// Milliseconds until what could not be given back is tried again.
    static let pause: Int64 = 20_000

    init(
        runner: TransactionRunner, admission: TransactionAdmission, engine: OperationEngine, clock: ClockWatch,
        work: WorkQueue, start: @escaping @Sendable (TransactionID) -> Bool
    ) {
        (self.runner, self.admission, self.engine, self.clock) = (runner, admission, engine, clock)
        (self.work, self.start) = (work, start)
    }

    /// The owner of what taps begin: the daemon's own user.
    nonisolated var owner: Principal { runner.settings.snapshot.access.ownPrincipal }

    nonisolated func settings(of lane: String) -> StandingSettings? {
        runner.settings.snapshot.lanes.first { $0.name == lane }?.standing
    }

    // MARK: - Time

    /// Finds what an earlier run left: holds get the rest of their time, and offers are told again. Nobody knows what was heard.
    func recover() async throws(JournalError) {
        let now = Moment.nowWithSleep
        let isBelieved = clock.doubt == nil
        for record in try await unended() {
            let (id, tap, rules) = (record.session.id, record.session.tap, rules(of: record.transaction.lane))
            let wait = record.session.wait(from: now.wall, isClockBelieved: isBelieved, rules)
            expect(id, in: wait, rules, from: now)
            // What is approved from here on is told as any tap. What was read and kept is sent by no other run.
            if record.session.mode != .ask {
                await runner.change { $0.live[id]?.terms.tap = tap }
            }
        }
        let mode = runner.mode
        for record in try await unended() where record.transaction.mode == mode {
            let session = told(record)
            guard session.state == .offered else { continue }
            var event = Event(.tapOffered, about: record.transaction)
            (event.tap, event.amount, event.card) = (session.tap, session.amount, session.card)
            runner.publish(event)
        }
    }

    /// Sessions whose money may still move, of each mode.
    private func unended() async throws(JournalError) -> [SessionRecord] {
        var filter = SessionFilter()
        (filter.isOpen, filter.limit) = (true, .max)
        let asked = filter
        return try await runner.journal.use { (journal) throws(JournalError) in try journal.sessions(asked) }
    }

    /// Goes on until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await look()
            do { try await Task.sleep(for: .milliseconds(500)) } catch { return }
        }
    }

    private func look() async {
        for lane in runner.settings.snapshot.lanes where lane.standing != nil {
            await watch(lane.name)
        }
        // One may have been kept while another one was given back.
        for id in Array(due.keys) {
            let now = Moment.nowWithSleep.monotonic
            guard let due = due[id] else { continue }
            if due.release <= now {
                await giveBack(id)
            } else if let warning = due.warning, warning <= now {
                await warn(id)
            }
        }
    }

    func rules(of lane: String) -> SessionRules {
        let settings = settings(of: lane)
        return SessionRules(
            release: Int64(settings?.release ?? 480) * 60, maximum: settings?.maximum ?? 0,
            warning: Int64(settings?.warning ?? 0) * 60)
    }

    func expect(_ id: TransactionID, at time: Timestamp, _ rules: SessionRules, from now: Moment) {
        expect(id, in: max(0, time.milliseconds - now.wall.milliseconds), rules, from: now)
    }

    private func expect(_ id: TransactionID, in wait: Int64, _ rules: SessionRules, from now: Moment) {
        due[id] = Due(release: now.monotonic + wait, warning: rules.warning(of: wait).map { now.monotonic + $0 })
    }

    func forget(_ id: TransactionID) { due[id] = nil }

    /// The time of a hold is over: nobody has committed or kept it.
    private func giveBack(_ id: TransactionID) async {
        // One who keeps it may be at it: it is looked at again soon.
        guard returns.beginReturn(of: id) else { return }
        defer { returns.endReturn(of: id) }
        due[id] = Due(release: Moment.nowWithSleep.monotonic + StandingLanes.pause)
        do throws(ErrorBody) {
            let record = try await record(id)
            switch record.stage {
            case .open:
                runner.logger.notice("hold given back: its time is over", metadata: ["transaction": "\(id)"])
                _ = try await carryOut(.release, id)
            // Its own timers take it back, or a capture has the last word.
            case .tapping, .offered, .claiming, .settling: return
            case .committed, .released: forget(id)
            }
        } catch {
            runner.logger.error(
                "hold not given back yet", metadata: ["transaction": "\(id)", "error": "\(error.error.code)"])
        }
    }

    /// A hold goes back soon: its machine may still commit or keep it.
    private func warn(_ id: TransactionID) async {
        due[id]?.warning = nil
        do throws(ErrorBody) {
            let record = try await record(id)
            if record.stage == .open { runner.publish(event(.sessionExpiring, record)) }
        } catch {
            due[id]?.warning = Moment.nowWithSleep.monotonic + StandingLanes.pause
        }
    }

    // MARK: - Taps

    /// - Returns: the lane as it stands; loaded once.
    func note(of lane: String) async -> StandingNote? {
        if let seat = seats[lane] { return seat.note }
        do throws(JournalError) {
            let found = try await runner.journal.use { (journal) throws(JournalError) in try journal.standing(lane) }
            if seats[lane] == nil { seats[lane] = Seat(note: found) }
            return seats[lane]?.note
        } catch {
            return nil
        }
    }

    /// Arms or disarms a lane, or has another sum asked for. Written before it counts.
    func set(_ lane: String, _ demand: StandingRequest, by caller: Principal) async throws(ErrorBody) {
        guard await note(of: lane) != nil else { throw ErrorBody(.storageFailed) }
        let new: StandingNote
        do throws(JournalError) {
            new = try await runner.journal.use { (journal) throws(JournalError) in
                try journal.note(demand, of: lane, by: caller, at: .now)
            }
        } catch {
            throw ErrorBody(ErrorCode(error))
        }
        // What another wish of the same moment has changed is that one's.
        if demand.armed != nil { seats[lane]?.note.isArmed = new.isArmed }
        if demand.amount != nil { seats[lane]?.note.value = new.value }
        if demand.armed == false { await runner.change { $0.standing[lane]?.cancel() } }
    }

    /// Lets the lane wait for its card, where it is armed and nobody does yet.
    private func watch(_ lane: String) async {
        guard let note = await note(of: lane), note.isArmed, seats[lane]?.isWatched == false else { return }
        seats[lane]?.isWatched = true
        let isTaken = work.add {
            await self.wait(lane)
            await self.left(lane)
        }
        if !isTaken { left(lane) }
    }

    private func left(_ lane: String) { seats[lane]?.isWatched = false }

    private func wait(_ name: String) async {
        while seats[name]?.note.isArmed == true, settings(of: name) != nil {
            guard let (lane, cancellation) = await runner.change({ $0.lendStanding(name) }) else { return }
            let end = monotonicNow().advanced(byMilliseconds: StandingLanes.waitSeconds * 1_000)
            var failure: ErrorCode?
            var isThere = false
            // Where it takes no money. What is wrong with what it asks for is told with each tap.
            let passes =
                settings(of: name)?.mode == .read
                ? try? runner.settings.snapshot.offer.request(TransactionRequest(type: .loyalty, amount: .none)) : nil
            do throws(ReaderError) { isThere = try await lane.awaitCard(until: end, for: passes, cancellation) } catch {
                failure = ErrorCode(error)
            }
            let code = failure
            await runner.change { $0.withdrawStanding(name, after: code) }
            guard failure == nil, !cancellation.isCancelled else { return await lane.show(.idle) }
            if isThere {
                await tapped(name, lane)
            } else if seats[name]?.note.isArmed != true || settings(of: name) == nil {
                // Disarmed between two waits.
                await lane.show(.idle)
            }
        }
    }

    private func tapped(_ name: String, _ lane: Lane) async {
        guard let settings = settings(of: name), let note = seats[name]?.note else { return }
        let number = note.tap + 1
        let gate = StandingGate.Rules(
            debounce: Int64(settings.debounce), openSessions: settings.openSessions,
            tapsPerHour: settings.tapsPerHour)
        do throws(ErrorBody) {
            let open = try await open(on: name).count
            if let refusal = seats[name]?.gate.judge(open: open, gate, at: .now) {
                return await refuse(name, number, refusal, lane)
            }
            let tap = StandingTap(
                number: number, mode: settings.mode, claim: settings.claim, release: Int64(settings.release) * 60,
                amount: Money(
                    value: min(note.value ?? settings.amount.value, settings.maximum),
                    currency: settings.amount.currency))
            let demand = AdmissionRequest(tap, on: name, owner: owner)
            if let refusal = await runner.change({ $0.keys.claim(demand.key) }) { throw refusal }
            let admitted = await admission.admit(demand)
            await runner.change { $0.keys.release(demand.key) }
            switch admitted {
            case .created(let transaction):
                seats[name]?.note.tap = number
                guard start(transaction.id) else {
                    return await runner.take(.notPrepared(.daemonUnavailable), transaction.id)
                }
                await runner.books.leavingLane(transaction.id)?.wait()
            // The number was given before, and the lane's note of it is lost: it is given to no other tap.
            case .repeated:
                seats[name]?.note.tap = number
                throw ErrorBody(.idempotencyKeyReused)
            case .refused(let refusal):
                if refusal.error.code == ErrorCode.transactionErased.rawValue { seats[name]?.note.tap = number }
                throw refusal
            case .acceptable: throw ErrorBody(.internalFault)
            }
        } catch {
            await refuse(name, number, .notReady, lane, error.error)
        }
        seats[name]?.gate.ended(at: .now)
    }

    /// Nothing comes of a tap. Its lamp goes out as after a payment, unless the lane waits for the next card by then.
    func refuse(
        _ name: String, _ number: Int64, _ refusal: TapRefusal, _ lane: Lane, _ error: ErrorDetail? = nil
    ) async {
        var event = Event(.tapRefused, lane: name)
        (event.tap, event.refused, event.error) = (number, refusal, error)
        runner.publish(event)
        runner.logger.notice("tap refused", metadata: ["lane": "\(name)", "reason": "\(refusal.rawValue)"])
        await lane.show(.error)
        await runner.change { $0.glow(name, at: .now) }
        // It is looked at again when the lamp is to go out.
        await runner.timePassed()
    }
}
