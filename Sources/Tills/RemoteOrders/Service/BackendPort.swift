// SPDX-License-Identifier: Apache-2.0
import Envelope
import Hub
import Linux
import Logging
import POSAPI
import PaymentValues

/// One backend: its orders on disk, and the lines to it and to the daemon.
actor BackendPort {
    typealias Failure = LineFile<OrderBook.Line>.Failure

    nonisolated let backend: RemoteFile.Backend
    private nonisolated let door: DaemonDoor
    private nonisolated let keys: AsyncStream<OrderKey>
    private nonisolated let feed: AsyncStream<OrderKey>.Continuation
    private let file: LineFile<OrderBook.Line>
    private var book: OrderBook
    private var acknowledgements: [String] = []
    private var refusals: [BackendLine.Refused] = []
    private var failure: Failure?
    /// What the daemon is asked now: until something changes, and what is answered at once.
    private var (waits, questions) = (0, 0)
    private(set) var state = BackendStatus()
    private let logger: Logger

    /// Connections for either.
    private static let (mostWaits, mostQuestions) = (2, 2)
    /// Lines beyond which the file is written anew, where most of them say nothing any more.
    private static let longest = 4_000

    /// Name of the ledger's file.
    static func ledger(of backend: String) -> String { "\(backend).orders" }

    /// - Throws: where the ledger cannot be used.
    init(_ backend: RemoteFile.Backend, in directory: String, daemon: String, _ logger: Logger) throws(Failure) {
        var book = OrderBook(judge: OrderJudge(installation: "", senders: backend.senders))
        let (file, damaged) = try LineFile<OrderBook.Line>.open("\(directory)/\(Self.ledger(of: backend.name))") {
            book.read($0)
        }
        var logger = logger
        logger[metadataKey: "backend"] = "\(backend.name)"
        if damaged > 0 { logger.error("ledger damaged: orders are lost", metadata: ["lines": "\(damaged)"]) }
        self.backend = backend
        self.file = file
        self.book = book
        self.logger = logger
        door = DaemonDoor(path: daemon)
        (keys, feed) = AsyncStream<OrderKey>.makeStream()
        state.name = backend.name
    }

    private static var now: UInt64 { MachineClock.all / 1_000_000 }

    /// Seconds that have begun: an order never ends later than it says.
    private var clock: OrderBook.Clock {
        .init(wall: (Timestamp.now.milliseconds + 999) / 1_000, now: Self.now)
    }

    var summary: BackendStatus {
        var state = state
        (state.untold, state.untoldSince) = book.untold
        return state
    }

    /// Asks for orders and carries them out until the task is cancelled.
    ///
    /// - Throws: where the ledger cannot be written.
    func run() async throws(Failure) {
        guard let installation = await installation() else { return }
        let boot = TransactionID().text
        let line = BackendLine(backend, boot: boot, installation: installation)
        for key in book.open(wall: clock.wall) { feed.yield(key) }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.poll(line) }
            for await key in keys { group.addTask { await self.serve(key, line) } }
            group.cancelAll()
        }
        if let failure { throw failure }
    }

    /// Waits for the daemon, and learns whom orders are addressed to.
    private func installation() async -> String? {
        var isTold = false
        while !Task.isCancelled {
            if let sender = backend.senders.first, let identity = await door.identity(till: sender.till) {
                var senders = backend.senders
                if identity.mode == .live {
                    for index in senders.indices { senders[index].keys.removeAll(where: \.isTest) }
                    if senders.contains(where: \.keys.isEmpty) {
                        logger.error("test keys count for nothing in live mode: write the sender's own")
                    }
                }
                book.judge = OrderJudge(installation: identity.support, senders: senders)
                state.installation = identity.support
                logger.notice("asks for orders", metadata: ["installation": "\(identity.support)"])
                return identity.support
            }
            if !isTold { logger.warning("daemon does not answer: see nfc-tap doctor, and [remote] in nfc-tapd.toml") }
            isTold = true
            try? await Task.sleep(for: .seconds(1))
        }
        return nil
    }

    // MARK: - Polls

    private func poll(_ line: BackendLine) async {
        var failures = 0
        while !Task.isCancelled {
            let (ack, refused) = (acknowledgements, refusals)
            let began = Self.now
            let answer = await line.poll(ack: ack, refusals: refused)
            if Task.isCancelled { return }
            var pause: UInt64
            switch answer {
            case .orders(let sets, let clockHolds):
                if failures > 0 { book.lineIsBack() }
                failures = 0
                acknowledgements.removeFirst(ack.count)
                refusals.removeFirst(refused.count)
                state.isAnswered(at: .now)
                tell(clockHolds: clockHolds)
                var isBelieved = clockHolds
                if !sets.isEmpty, let sender = backend.senders.first {
                    isBelieved = await door.identity(till: sender.till)?.clock?.believed != false && clockHolds
                }
                let isNew = take(sets, clockHolds: isBelieved)
                // Whoever answers at once with nothing new is not asked in a circle.
                pause = isNew ? 0 : sets.isEmpty ? 1_000 - min(1_000, Self.now - began) : 200
            case .refused: (pause, failures) = (60_000, failures + 1)
            case .twin: (pause, failures) = (60_000, failures + 1)
            case .trouble:
                let seconds = Double(1 << min(failures, 5)) * Double.random(in: 0.8...1.2)
                (pause, failures) = (UInt64(min(30, seconds) * 1_000), failures + 1)
            }
            tell(answer)
            if pause > 0 { try? await Task.sleep(for: .milliseconds(Int64(clamping: pause))) }
        }
    }

    /// Writes down what is taken of an answer, and lets it begin.
    ///
    /// - Returns: whether there was anything new.
    private func take(_ sets: [String: String], clockHolds: Bool) -> Bool {
        var orders: [Order] = []
        for (name, token) in sets.sorted(by: { $0.key < $1.key }).prefix(BackendLine.most) {
            do throws(OrderRefusal) { orders.append(try book.judge.read(token, named: name)) } catch {
                refuse(name, error, bytes: token.utf8.count, token)
            }
        }
        var lines: [OrderBook.Line] = []
        var taken: [Order] = []
        var here: [String] = []
        for order in OrderBook.inTurn(orders) {
            do throws(OrderRefusal) {
                if case .taken(let added) = try book.take(order, clock: clock, clockHolds: clockHolds) {
                    lines += added
                    taken.append(order)
                }
                here.append(order.key.id)
            } catch {
                refuse(order.key.id, error, bytes: 0)
                logger.notice(
                    "order refused", metadata: ["code": "\(error.rawValue)", "sender": "\(order.key.sender)"])
            }
        }
        // What is not on the disk is not acknowledged: the backend hands it to the next start again.
        guard write(lines + book.tidy(wall: clock.wall)) else { return false }
        acknowledgements += here
        for order in taken {
            state.lastOrder = .now
            logger.notice("order taken", metadata: ["sender": "\(order.key.sender)", "key": "\(order.keyID)"])
            feed.yield(order.key)
        }
        return !taken.isEmpty
    }

    /// Nothing of an order is logged before its signature holds.
    private func refuse(_ name: String, _ refusal: OrderRefusal, bytes: Int, _ token: String = "") {
        state.refused[refusal.rawValue, default: 0] += 1
        if name.isOrderID, refusals.count < 64 {
            let members = refusal == .unknownMember ? OrderJudge.strangers(in: token) : []
            refusals.append(.init(id: name, refusal: refusal, words: refusal.words(about: members)))
        }
        // Ten thousand of them are one line.
        if bytes > 0, state.refused.values.reduce(0, +).nonzeroBitCount == 1 {
            logger.warning("orders refused", metadata: ["code": "\(refusal.rawValue)", "bytes": "\(bytes)"])
        }
    }

    private func tell(clockHolds: Bool) {
        guard clockHolds != state.clockHolds else { return }
        state.clockHolds = clockHolds
        if clockHolds {
            logger.notice("clocks agree")
        } else {
            logger.error("clocks of backend and shop differ by more than 30 s: nothing begins; set them")
        }
    }

    private func tell(_ answer: BackendLine.Answer) {
        let trouble: String? =
            switch answer {
            case .orders: nil
            case .refused: "the backend does not know this machine (401, 403): look at token or certificate"
            case .twin:
                "the backend says that another machine polls with this identity (409): stop one of the two; if there is only one, look at the backend"
            case .trouble(let why): why
            }
        guard trouble != state.trouble else { return }
        state.trouble = trouble
        switch answer {
        case .orders: logger.notice("backend answers")
        case .refused, .twin: logger.error("no orders come", metadata: ["why": "\(trouble ?? "")"])
        case .trouble: logger.warning("backend not reached", metadata: ["why": "\(trouble ?? "")"])
        }
    }

    // MARK: - Orders

    private func serve(_ key: OrderKey, _ line: BackendLine) async {
        guard let sender = book.judge.senders[key.sender] ?? backend.senders.first(where: { $0.name == key.sender })
        else { return logger.error("order of a sender that is configured no more: put it back until all is told") }
        while !Task.isCancelled, failure == nil {
            let (lines, step) = book.step(key, clock)
            guard write(lines), let entry = book.entries[key] else { return }
            switch step {
            case .rest: return
            case .wait(let time):
                let left = Int64(clamping: time > Self.now ? time - Self.now : 1)
                try? await Task.sleep(for: .milliseconds(min(left, 2_000)))
            case .say(let saying):
                let isTaken = await line.tell(saying)
                let lines = book.heard(saying, isTaken, now: Self.now, jitter: .random(in: -1...1))
                guard write(lines) else { return }
                if !isTaken { logger.debug("result not taken", metadata: ["attempts": "1"]) }
            case .begin, .find, .look, .withdraw, .confirm:
                let answer = await ask(step, for: entry, of: sender)
                if Task.isCancelled { return }
                guard write(book.answered(key, answer, to: step, now: Self.now)) else { return }
                if case (.begin, .transaction(let begun)) = (step, answer) {
                    logger.notice("order begun", metadata: ["transaction": "\(begun.id)"])
                }
            }
        }
    }

    /// Asks the daemon, which gives one user a few connections: hundreds of approvals that are looked at, as after a start, leave room for
    /// what begins, ends or confirms a payment.
    private func ask(_ step: OrderStep, for entry: OrderEntry, of sender: OrderSender) async -> DaemonAnswer {
        switch step {
        case .look(let id, let wait) where wait > 0:
            guard waits >= Self.mostWaits else {
                waits += 1
                defer { waits -= 1 }
                return await door.ask(step, for: entry, of: sender)
            }
            try? await Task.sleep(for: .milliseconds(250))
            return await ask(.look(transaction: id, wait: 0), for: entry, of: sender)
        case .look, .find:
            while questions >= Self.mostQuestions, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(20)) }
            questions += 1
            defer { questions -= 1 }
            return await door.ask(step, for: entry, of: sender)
        case .begin, .withdraw, .confirm, .say, .wait, .rest: return await door.ask(step, for: entry, of: sender)
        }
    }

    /// - Returns: whether the lines are on the disk; otherwise everything ends.
    private func write(_ lines: [OrderBook.Line]) -> Bool {
        guard failure == nil else { return false }
        guard !lines.isEmpty else { return true }
        do throws(Failure) {
            try file.write(lines, isSynced: true)
            if file.count > Self.longest, file.count > 3 * book.entries.count { try file.replace(with: book.lines) }
            return true
        } catch {
            failure = error
            feed.finish()
            return false
        }
    }
}

/// How it goes with one backend, for people and watchers.
struct BackendStatus: Codable, Equatable, Sendable {
    var name = ""
    var installation: String?
    /// When a poll was answered last.
    var lastAnswer: Timestamp?
    var lastOrder: Timestamp?
    /// Why no orders come.
    var trouble: String?
    var clockHolds = true
    /// Orders that were refused, by code, since the start of the program.
    var refused: [String: Int] = [:]
    /// Results that the backend has not taken.
    var untold = 0
    /// Seconds since 1970 at which the oldest of their orders came.
    var untoldSince: Int64?

    mutating func isAnswered(at time: Timestamp) { lastAnswer = time }
}
