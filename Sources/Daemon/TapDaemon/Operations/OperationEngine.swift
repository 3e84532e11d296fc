// SPDX-License-Identifier: Apache-2.0
import Journal
import Ledger
import LocalHTTP
import Logging
import POSAPI
import PSPAPI
import PaymentValues
import Transactions

/// Runs every operation's machine, for captures, adjustments, releases and refunds without a card alike: turns what happens
/// into inputs and carries out what the machines want. It decides nothing by itself.
actor OperationEngine {
    let journal: JournalThread
    private let outlet: EventOutlet
    private let profiles: ProfileStore
    let health: AdapterHealthCheck
    private let clock: ClockWatch
    private let work: WorkQueue
    private let logger: Logger
    private var live: [OperationID: OngoingOperation] = [:]
    private let alarm = AlarmClock()

    init(
        journal: JournalThread, outlet: EventOutlet, profiles: ProfileStore, health: AdapterHealthCheck,
        clock: ClockWatch, work: WorkQueue, logger: Logger
    ) {
        (self.journal, self.outlet, self.profiles, self.health) = (journal, outlet, profiles, health)
        (self.clock, self.work, self.logger) = (clock, work, logger)
    }

    // MARK: - Beginning

    /// Goes on with what an earlier run left open: each is asked about before anything is sent again.
    func recover() async throws(JournalError) {
        let found = try await journal.use { (journal) throws(JournalError) -> [OngoingOperation] in
            var found: [OngoingOperation] = []
            for record in try journal.openOperations() {
                if let ongoing = try journal.ongoing(record) { found.append(ongoing) }
            }
            for record in try journal.unfinished() where record.transaction.isOperation {
                if let ongoing = try journal.ongoing(record) { found.append(ongoing) }
            }
            return found
        }
        for ongoing in found { live[ongoing.id] = ongoing }
        timePassed()
    }

    /// What was just written down goes on at once.
    func begin(_ ongoing: OngoingOperation) {
        guard live[ongoing.id] == nil else { return }
        live[ongoing.id] = ongoing
        take(.due(facts(of: ongoing)), ongoing.id)
    }

    /// The payment service can be reached: what was never sent does not wait for its time.
    func hasten() {
        for (id, ongoing) in live where ongoing.machine.state == .created && ongoing.machine.due != nil {
            take(.due(facts(of: ongoing)), id)
        }
    }

    /// The occasion to wait for; `nil` where it has an end.
    func settling(_ id: OperationID) -> OneShot? { live[id]?.isSettled }

    /// Takes an operation back of which no byte has left.
    func withdraw(_ id: OperationID) async -> Bool {
        guard let ongoing = live[id], ongoing.machine.isWithdrawable else { return false }
        take(.withdraw, id)
        await ongoing.isSettled.wait(atMost: .seconds(10))
        return live[id] == nil
    }

    /// Ends an operation as a person says.
    ///
    /// - Returns: whether it was in doubt.
    func resolve(_ id: OperationID, _ resolution: OperationResolution) async -> Bool {
        guard let ongoing = live[id], [.sent, .unknown].contains(ongoing.machine.state) else { return false }
        take(.resolve(resolution), id)
        await ongoing.isSettled.wait(atMost: .seconds(10))
        return true
    }

    // MARK: - The machines

    private func take(_ input: OperationInput, _ id: OperationID) {
        guard var ongoing = live[id] else { return }
        if case .replied = input { ongoing.isAsked = false }
        let effects = ongoing.machine.take(input, at: .now)
        live[id] = ongoing
        for effect in effects { carryOut(effect, ongoing) }
        if ongoing.machine.isOver {
            if live[id]?.isAsked == false { live[id] = nil }
            ongoing.isSettled.fire()
        }
        setAlarm()
    }

    private func facts(of ongoing: OngoingOperation) -> OperationFacts {
        let isCurrent = ongoing.service == nil || ongoing.service == profiles.paymentServices.current
        let known = isCurrent ? health.supports : nil
        if ongoing.asksForCard {
            // A read is good for a minute and for this run only: afterwards it is asked about, and never sent again.
            let isFresh = ongoing.readUntil.map { Moment.now.monotonic < $0 } ?? false
            return OperationFacts(
                isUnsupported: known.map { !$0.contains(ongoing.feature.rawValue) } ?? false, isExpired: !isFresh,
                isClockBelieved: clock.doubt == nil, keyLife: isFresh ? OngoingOperation.readLife : .zero)
        }
        return OperationFacts(
            isUnsupported: known.map { !$0.contains(ongoing.feature.rawValue) } ?? false,
            isExpired: ongoing.expiry.map { Timestamp.now > $0 } ?? false, isClockBelieved: clock.doubt == nil,
            // How long an earlier service keeps keys nobody has asked it.
            keyLife: isCurrent ? health.keyLife(at: profiles.paymentServices.current.socket) : .zero)
    }

    private func carryOut(_ effect: OperationEffect, _ ongoing: OngoingOperation) {
        let id = ongoing.id
        let link = profiles.paymentServices.link(to: ongoing.service)
        switch effect {
        case .connect: work.add { await self.connect(link, id) }
        case .write(let note, let number): work.add { await self.write(note, number, ongoing) }
        case .send(let question):
            let connection = live[id]?.connection
            live[id]?.connection = nil
            live[id]?.isAsked = true
            work.add {
                var reply = OperationReply.notDelivered
                if let link, let connection { reply = await link.send(ongoing.message, over: connection) }
                await self.take(.replied(reply, question: question), id)
            }
        case .ask(let question):
            live[id]?.isAsked = true
            work.add {
                let reply = await link?.ask(about: id) ?? .unusable
                await self.take(.replied(reply, question: question), id)
            }
        }
    }

    private func connect(_ link: AdapterLink?, _ id: OperationID) async {
        do throws(AdapterUnreachable) {
            guard let link else { throw AdapterUnreachable() }
            let connection = try await link.connect()
            live[id]?.connection = connection
            take(.connected, id)
        } catch {
            health.hasten()
            take(.notConnected, id)
        }
    }

    private func write(_ note: OperationNote, _ number: Int, _ ongoing: OngoingOperation) async {
        do throws(JournalError) {
            let written = try await journal.use { (journal) throws(JournalError) -> [Event] in
                switch ongoing.subject {
                case .operation: try journal.write(note, of: ongoing)
                case .refund(let id): try journal.write(note, ofRefund: id, ongoing)
                }
            }
            logger.info(
                "operation written",
                metadata: [
                    "operation": "\(ongoing.id)", "transaction": "\(ongoing.transaction)", "note": "\(note.word)",
                ])
            // What was read for a refund is not in its row any more, and leaves the disk, too.
            if ongoing.asksForCard { journal.scrubSoon() }
            take(.written(number), ongoing.id)
            for event in written { outlet.publish(event) }
        } catch {
            logger.critical(
                "operation not written", metadata: ["operation": "\(ongoing.id)", "error": "\(error)"])
            switch error {
            case .illegalMove, .illegalChange: await takeUpAnew(ongoing, instead: number)
            case _: take(.notWritten(number), ongoing.id)
            }
        }
    }

    /// The journal has it in another state than the machine: the journal's counts. What is open there is asked about first.
    private func takeUpAnew(_ ongoing: OngoingOperation, instead number: Int) async {
        let known: OngoingOperation?
        do throws(JournalError) {
            known = try await journal.use { (journal) throws(JournalError) -> OngoingOperation? in
                switch ongoing.subject {
                case .operation:
                    guard let row = try journal.operation(ongoing.id) else { return nil }
                    return try journal.ongoing(row)
                case .refund(let id):
                    guard let row = try journal.record(id) else { return nil }
                    return try journal.ongoing(row)
                }
            }
        } catch {
            return take(.notWritten(number), ongoing.id)
        }
        guard let known, !known.machine.isOver else {
            live[ongoing.id] = nil
            ongoing.isSettled.fire()
            return setAlarm()
        }
        // Whoever waits for its end waits on.
        live[ongoing.id]?.machine = known.machine
        setAlarm()
    }

    private func timePassed() {
        let now = Moment.now.monotonic
        for (id, ongoing) in live where ongoing.machine.due.map({ $0 <= now }) ?? false {
            take(.due(facts(of: ongoing)), id)
        }
        setAlarm()
    }

    private func setAlarm() {
        alarm.set(at: live.values.compactMap(\.machine.due).min()) { [weak self] in
            guard let self else { return }
            Task { await self.timePassed() }
        }
    }
}

extension OperationNote {
    /// For the log: no amounts, no names.
    fileprivate var word: String {
        switch self {
        case .sent: "sent"
        case .unknown(_, let isStuck): isStuck ? "stuck" : "unknown"
        case .resting: "resting"
        case .done: "done"
        case .refused: "refused"
        case .resolved(let resolution): resolution.isDone ? "resolved as done" : "resolved as refused"
        case .contradicted: "contradicted"
        }
    }
}
