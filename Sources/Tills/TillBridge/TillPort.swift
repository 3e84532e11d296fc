// SPDX-License-Identifier: Apache-2.0
import ECR
import Linux
import Logging
import PaymentValues
import TapClient

/// One till: its machine, and everything that the machine asks for. Inputs are dealt with one after the other.
actor TillPort: ServedTill {
    private enum Input: Sendable {
        case plain(TillInput)
        case line(ByteLine, TillConnection, peer: String)
        case request(ProxyRequest, TillConnection, CheckedContinuation<ProxyResponse?, Never>)
        /// Some timer may have run out.
        case clock
    }

    nonisolated let till: TillsFile.Till
    nonisolated let payments: TillPayments
    private nonisolated let inputs: AsyncStream<Input>
    private nonisolated let feed: AsyncStream<Input>.Continuation
    private let logger: Logger
    private var machine: any TillTerminal
    private let ledger: TillLedger
    private var lines: [TillConnection: ByteLine] = [:]
    private var exchanges: [TillConnection: CheckedContinuation<ProxyResponse?, Never>] = [:]
    /// When each runs out.
    private var timers: [TillTimer: Int64] = [:]
    /// One task for all timers: most of them never run out, and a task for each would be memory for minutes.
    private var waiting: (until: Int64, task: Task<Void, Never>)?
    private var day: UInt32 = 0
    private let isNew: Bool

    /// - Returns: `nil` for a vending machine, which has no desk.
    /// - Throws: where the till's ledger cannot be used.
    init?(
        _ till: TillsFile.Till, in directory: String, _ client: TapClient, _ logger: Logger
    ) throws(TillLedger.Failure) {
        guard till.vending == nil else { return nil }
        let (ledger, contents) = try TillLedger.open(of: till, in: directory, logger)
        guard contents.vends.isEmpty else { throw .ofAnotherProtocol }
        guard let machine = till.terminal(contents) else { return nil }
        let (inputs, feed) = AsyncStream<Input>.makeStream()
        (self.inputs, self.feed) = (inputs, feed)
        self.till = till
        self.logger = logger
        self.ledger = ledger
        isNew = contents.isNew
        self.machine = machine
        payments = TillPayments(client, till, logger) { feed.yield(.plain($0)) }
    }

    // MARK: - Inputs

    /// A till has connected, or its serial line is open.
    nonisolated func connected(_ line: ByteLine, _ connection: TillConnection, peer: String) {
        feed.yield(.line(line, connection, peer: peer))
    }

    nonisolated func happened(_ input: TillInput) { feed.yield(.plain(input)) }

    /// - Returns: `nil` where there is no answer, since the program ends.
    nonisolated func answer(_ request: ProxyRequest, on connection: TillConnection) async -> ProxyResponse? {
        await withCheckedContinuation { continuation in
            if case .terminated = feed.yield(.request(request, connection, continuation)) {
                continuation.resume(returning: nil)
            }
        }
    }

    /// Deals with what comes until the task is cancelled.
    ///
    /// - Throws: where the ledger cannot be written: nothing may go on without it.
    func run() async throws(TillLedger.Failure) {
        defer { end() }
        try handle(.restored)
        if isNew { Task { [payments] in await payments.lookForFormerLedger() } }
        for await input in inputs {
            switch input {
            case .plain(let input):
                if case .lost(let connection, _) = input { lines[connection] = nil }
                try handle(input)
            case .line(let line, let connection, let peer):
                lines[connection] = line
                try handle(.connected(connection, peer: peer))
            case .request(let request, let connection, let continuation):
                exchanges[connection] = continuation
                try beginDay()
                try perform(machine.request(request, on: connection, at: now))
            case .clock: try ring()
            }
        }
    }

    private func handle(_ input: TillInput) throws(TillLedger.Failure) {
        try beginDay()
        var next: TillInput? = input
        // What became of an answer is heard before anything that its till did afterwards: one that has read it and gone was told.
        while let input = next { next = try perform(machine.handle(input, at: now)) }
        if ledger.isLong, machine.desk.open == nil { try ledger.renew(TillLedger.Contents(machine.desk)) }
    }

    /// By the calendar and the clock of this machine.
    private func beginDay() throws(TillLedger.Failure) {
        let local = LocalTime(at: Int(Timestamp.now.milliseconds / 1_000))
        let today = UInt32(clamping: local.year * 10_000 + local.month * 100 + local.day)
        guard today != day else { return }
        day = today
        try perform(machine.handle(.day(today), at: now))
    }

    private func end() {
        feed.finish()
        for line in lines.values { line.finish() }
        for exchange in exchanges.values { exchange.resume(returning: nil) }
        waiting?.task.cancel()
        (lines, exchanges, timers) = ([:], [:], [:])
    }

    private var now: Int64 { Int64(clamping: MachineClock.all / 1_000_000) }

    // MARK: - Effects

    /// - Returns: what became of an approval that was sent.
    @discardableResult
    private func perform(_ effects: [TillEffect]) throws(TillLedger.Failure) -> TillInput? {
        var outcome: TillInput?
        for effect in effects {
            switch effect {
            case .record(let attempt): try ledger.record(attempt)
            case .spend(let number): try ledger.spend(number)
            case .closeBatch(let number): try ledger.closeBatch(through: number)
            case .arm(let timer, let time): arm(timer, time)
            case .send(let bytes, let connection, let isApproval):
                try ledger.synchronize()
                if isApproval { outcome = tell(bytes, connection) } else { _ = lines[connection]?.send(bytes) }
            case .respond, .close, .start, .refuse, .cancel, .lookUp, .confirm, .takeBack, .reverse, .book, .alarm:
                // What is written before an effect is on the disk before it.
                try ledger.synchronize()
                carryOut(effect)
            }
        }
        return outcome
    }

    private func carryOut(_ effect: TillEffect) {
        switch effect {
        case .respond(let response, let connection):
            exchanges.removeValue(forKey: connection)?.resume(returning: response)
        case .close(let connection):
            lines.removeValue(forKey: connection)?.finish()
            exchanges.removeValue(forKey: connection)?.resume(returning: nil)
        case .refuse(let key, let refusal): feed.yield(.plain(.settled(key, .notPaid(refusal))))
        case .alarm(let alarm): logger.warning("\(alarm.words)", metadata: ["till": "\(till.name)"])
        case .start, .cancel, .lookUp, .confirm, .takeBack, .reverse, .book: payments.begin(effect)
        case .send, .record, .spend, .closeBatch, .arm: break
        }
    }

    /// Tells an approval to a till that is still there: one that has given up must not hear of it.
    private func tell(_ bytes: [UInt8], _ connection: TillConnection) -> TillInput? {
        guard let line = lines[connection] else { return nil }
        let end = line.end
        if end == nil, line.send(bytes) { return .sent(connection) }
        lines[connection] = nil
        line.finish()
        return .lost(connection, end == .closed ? .closed : .reset)
    }

    // MARK: - Timers

    private func arm(_ timer: TillTimer, _ time: Int64) {
        let (end, overflow) = now.addingReportingOverflow(time)
        timers[timer] = overflow ? .max : end
        wait(until: overflow ? .max : end)
    }

    private func wait(until end: Int64) {
        if let waiting, waiting.until <= end { return }
        waiting?.task.cancel()
        let time = Duration.milliseconds(max(0, end &- now))
        let feed = feed
        let task = Task {
            guard (try? await Task.sleep(for: time)) != nil else { return }
            feed.yield(.clock)
        }
        waiting = (end, task)
    }

    private func ring() throws(TillLedger.Failure) {
        waiting?.task.cancel()
        waiting = nil
        let moment = now
        for (timer, _) in timers.filter({ $0.value <= moment }).sorted(by: { $0.value < $1.value }) {
            // Armed anew by the one before it.
            guard let end = timers[timer], end <= moment else { continue }
            timers[timer] = nil
            try handle(.timer(timer))
        }
        if let next = timers.values.min() { wait(until: next) }
    }
}

extension TillPayments {
    /// Asks the daemon for what a machine wants of it, and comes back at once.
    func begin(_ effect: TillEffect) {
        switch effect {
        case .start(let demand): Task { await start(demand) }
        case .cancel(let key): Task { await cancel(key) }
        case .lookUp(let key): Task { await lookUp(key) }
        case .confirm(let key): Task { await confirm(key) }
        case .takeBack(let key, let reason): Task { await takeBack(key, reason) }
        case .reverse(let key): Task { await reverse(key) }
        case .book(let booking, let key): Task { await book(booking, of: key) }
        case .send, .respond, .close, .arm, .record, .spend, .refuse, .closeBatch, .alarm: break
        }
    }
}

extension TillAlarm {
    /// For the log: what happened, and what to do.
    fileprivate var words: String {
        switch self {
        case .endedWhileTelling(let key):
            "\(key) is taken back, and the till may show it as paid: compare the till's list with nfc-tap's"
        case .toldButNotKept(let key): "the till took \(key) as paid, and it is not: ask the customer to pay again"
        case .bookedNotPaid(let key):
            "\(key) is not paid, and the till booked it at once: ask the customer to pay again, and correct the till"
        case .sameCardAgain(let key):
            "\(key): the same card has paid the same sum within a minute: look whether it was one sale"
        case .reversalsBarred: "receipt numbers were guessed: reversals are barred for ten minutes"
        case .notStarted(let refusal): "a start was refused: \(refusal.words)"
        }
    }
}

extension ProxyRefusal {
    /// The field and the remedy. Nothing of what the page has sent: it may be anything.
    fileprivate var words: String {
        switch self {
        case .notAPayment: "payment_info is no JSON object: look which program asks"
        case .mode: "payment_mode is not card: correct the payment method in the till"
        case .terminal: "terminal_id is another terminal: write it as terminal-id, or correct the till's proxy address"
        case .currency: "currency_iso is another currency: write it as currency, or correct the till"
        case .currencyDecimals: "currency_decimals is above the decimals of ISO 4217: correct the currency in the till"
        case .amount: "amount is no number above zero: correct the till"
        case .decimals: "amount has more decimals than its currency: let the till round it"
        case .tooLarge: "amount has more than twelve digits in minor units: take the payment in parts"
        case .names: "order_id, payment_id or terminal_id has more than 128 bytes: correct the till"
        case .busy: "the payment before it has not ended, or a newer start has come: start it again"
        }
    }
}
