// SPDX-License-Identifier: Apache-2.0
import ECR
import Glibc
import Linux
import Logging
import MDB
import Synchronization
import TapClient

/// One vending machine: its line, its ledger and its timers on a thread of their own, since an answer has five milliseconds; the daemon is
/// asked elsewhere.
final class VendingPort: ServedTill {
    /// What the daemon has said, until the thread looks.
    private final class Inbox: Sendable {
        private let inputs = Mutex<[TillInput]>([])

        func put(_ input: TillInput) { inputs.withLock { $0.append(input) } }

        func take() -> [TillInput] {
            inputs.withLock { inputs in
                defer { inputs = [] }
                return inputs
            }
        }
    }

    let till: TillsFile.Till
    let payments: TillPayments
    private let inbox: Inbox
    private let work: Mutex<VendingWork>
    private let failures: AsyncStream<TillLedger.Failure>
    private let fail: AsyncStream<TillLedger.Failure>.Continuation
    private let isOver = Atomic<Bool>(false)
    private let isNew: Bool
    private let logger: Logger

    /// Nanoseconds between two looks at the line, and before a line that has gone is looked for again.
    private static let (look, pause): (UInt64, UInt64) = (2_000_000, 2_000_000_000)

    /// - Returns: `nil` for a till that is no vending machine.
    /// - Throws: where its ledger cannot be used.
    init?(
        _ till: TillsFile.Till, in directory: String, _ client: TapClient, _ logger: Logger
    ) throws(TillLedger.Failure) {
        guard let vending = till.vending else { return nil }
        let (ledger, contents) = try TillLedger.open(of: till, in: directory, logger)
        guard contents.attempts.allSatisfy(\.isOver) else { throw .ofAnotherProtocol }
        let inbox = Inbox()
        let payments = TillPayments(client, till, logger) { inbox.put($0) }
        let desk = VendingTerminal(till, vending, contents, at: MachineClock.awake)
        work = Mutex(VendingWork(desk, ledger, contents, till: till.name, logger) { payments.begin($0) })
        (failures, fail) = AsyncStream.makeStream()
        (self.till, self.payments, self.inbox, self.logger, isNew) = (till, payments, inbox, logger, contents.isNew)
    }

    /// Opens the line, and goes on by itself.
    ///
    /// - Throws: where the line cannot be had, or has no ninth bit.
    func begin() throws(TillBridge.Failure) {
        let line: NineBitLine
        do throws(NineBitLine.Failure) { line = try openLine() } catch {
            switch error {
            case .system(let error): throw .port(till: till.name, place: till.place, error)
            case .noParity: throw .noNinthBit(till: till.name, place: till.place)
            }
        }
        do throws(SystemError) {
            try PrivateThread.start(named: "till-\(till.name)") {
                do throws(TillLedger.Failure) { try self.serve(line) } catch { self.fail.yield(error) }
            }
        } catch {
            throw .port(till: till.name, place: till.place, error)
        }
        if isNew { Task { [payments] in await payments.lookForFormerLedger() } }
    }

    /// Waits until the task is cancelled.
    ///
    /// - Throws: where the ledger cannot be written: nothing may go on without it.
    func run() async throws(TillLedger.Failure) {
        defer { isOver.store(true, ordering: .relaxed) }
        for await failure in failures { throw failure }
    }

    private func openLine() throws(NineBitLine.Failure) -> NineBitLine {
        guard case .serial(let device, let baud) = till.line, let vending = till.vending else {
            throw .system(SystemError(code: ENODEV))
        }
        return try NineBitLine(path: device, isEscaped: vending.isEscaped, baud: baud)
    }

    // MARK: - The thread

    private func serve(_ first: NineBitLine) throws(TillLedger.Failure) {
        try work.withLock { (work) throws(TillLedger.Failure) in try work.restore() }
        var (line, next): (NineBitLine?, UInt64) = (first, 0)
        while !isOver.load(ordering: .relaxed) {
            // What is read later has come after this.
            let now = MachineClock.awake
            var hasBroken = false
            if let open = line, open.waits(untilNanoseconds: 0) {
                hasBroken = !(try work.withLock { (work) throws(TillLedger.Failure) in try work.read(open) })
            } else {
                let inputs = inbox.take()
                let open = line
                let isThere = try work.withLock { (work) throws(TillLedger.Failure) in
                    try work.pass(inputs, open, at: now)
                }
                hasBroken = !isThere
                if let line { _ = line.waits(untilNanoseconds: now + Self.look) } else { sleep(milliseconds: 2) }
            }
            if hasBroken {
                logger.error("line lost, looked for again", metadata: ["till": "\(till.name)"])
                line = nil
            }
            if line == nil, now >= next {
                next = now + Self.pause
                line = try? openLine()
            }
        }
    }
}

/// What the thread of a vending machine has.
struct VendingWork {
    private var desk: VendingTerminal
    private let ledger: TillLedger
    /// For a ledger that is written anew.
    private var contents: TillLedger.Contents
    /// When each runs out.
    private var timers: [MDBTimer: UInt64] = [:]
    /// What the machine wants, as it was told last.
    private var isAlwaysIdle: Bool?
    private let till: String
    private let logger: Logger
    private let ask: @Sendable (TillEffect) -> Void

    init(
        _ desk: VendingTerminal, _ ledger: TillLedger, _ contents: TillLedger.Contents, till: String, _ logger: Logger,
        ask: @escaping @Sendable (TillEffect) -> Void
    ) {
        (self.desk, self.ledger, self.contents) = (desk, ledger, contents)
        (self.till, self.logger, self.ask) = (till, logger, ask)
    }

    mutating func restore() throws(TillLedger.Failure) { _ = try perform(desk.restored(), nil) }

    /// - Returns: whether the line is still there.
    mutating func read(_ line: NineBitLine) throws(TillLedger.Failure) -> Bool {
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try line.read() } catch { return false }
        let isThere = try perform(desk.receive(bytes), line)
        tellState()
        return isThere
    }

    /// Nothing waits on the line.
    ///
    /// - Returns: whether it is still there.
    mutating func pass(_ inputs: [TillInput], _ line: NineBitLine?, at now: UInt64) throws(TillLedger.Failure) -> Bool {
        var isThere = true
        if line != nil { isThere = try perform(desk.quiet(at: now), line) }
        for input in inputs { isThere = try perform(desk.handle(input), line) && isThere }
        for (timer, _) in timers.filter({ $0.value <= now }).sorted(by: { $0.value < $1.value }) {
            // Armed anew by the one before it.
            guard let end = timers[timer], end <= now else { continue }
            timers[timer] = nil
            isThere = try perform(desk.fired(timer), line) && isThere
        }
        if ledger.isLong, desk.vends.isEmpty {
            contents.counter = max(contents.counter, desk.wire.peripheral.counter)
            contents.vends = [:]
            try ledger.renew(contents)
        }
        return isThere
    }

    private mutating func perform(
        _ effects: [VendingTerminal.Effect], _ line: NineBitLine?
    ) throws(TillLedger.Failure) -> Bool {
        var isThere = true
        for effect in effects {
            switch effect {
            case .record(let vend): try ledger.record(vend)
            case .send(let words):
                try ledger.synchronize()
                guard isThere, let line else { continue }
                guard let marked = desk.answer(words, at: MachineClock.awake) else {
                    tellLate()
                    continue
                }
                let bytes = words.map { UInt8(truncatingIfNeeded: $0) }
                do throws(SystemError) { try line.send(marked: marked, bytes: bytes) } catch { isThere = false }
            case .ask(let effect):
                try ledger.synchronize()
                ask(effect)
            case .arm(let timer, let time): timers[timer] = MachineClock.awake &+ UInt64(clamping: time) &* 1_000_000
            case .alarm(let alarm): logger.critical("\(alarm.words)", metadata: ["till": "\(till)"])
            }
        }
        try ledger.synchronize()
        return isThere
    }

    /// The first, and then each thousandth: the machine says the same again.
    private func tellLate() {
        guard desk.wire.leftOut == 1 || desk.wire.leftOut.isMultiple(of: 1_000) else { return }
        logger.notice(
            "answer left out that would begin too late",
            metadata: ["till": "\(till)", "so far": "\(desk.wire.leftOut)"])
    }

    /// Once, and whenever it changes.
    private mutating func tellState() {
        guard desk.wire.peripheral.state == .enabled, desk.wire.peripheral.isAlwaysIdle != isAlwaysIdle else { return }
        isAlwaysIdle = desk.wire.peripheral.isAlwaysIdle
        if isAlwaysIdle == true {
            logger.notice("the machine is set up", metadata: ["till": "\(till)"])
        } else {
            logger.warning(
                "the machine wants a card first, and nothing is sold: set it to always idle",
                metadata: ["till": "\(till)"])
        }
    }
}

extension VendingTerminal.Alarm {
    /// For the log: what happened, and what to do.
    fileprivate var words: String {
        switch self {
        case .moneyWithoutGoods(let key):
            "the machine gave no goods for \(key), and its money was not given back: give it back by nfc-tap refund"
        case .goodsWithoutMoney(let key):
            "the goods of \(key) are out, and its money went back: write off the goods, and keep nfc-tap-ecr running"
        }
    }
}
