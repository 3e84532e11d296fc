// SPDX-License-Identifier: Apache-2.0
public import Codes

/// The terminal's side of Caisse E+ on a serial line. The till asks for the line with ENQ, sends its request, and gives the line
/// back with EOT; the terminal does the same with its answer.
///
/// The till knows of an approval once it has acknowledged the answer. Tills that want their answer at once never learn what
/// became of a payment: they have booked it when it begins.
public struct EPlusTerminal: TillTerminal {
    public struct Settings: Sendable {
        public var currency: CurrencyCode
        public var kinds: Set<TillOrder.Kind>
        /// What the till on this line asks for; a request for the other one is not taken.
        public var answer: EPlusRequest.Answer

        public init(
            currency: CurrencyCode, kinds: Set<TillOrder.Kind> = [.sale], answer: EPlusRequest.Answer = .atTheEnd
        ) {
            self.currency = currency
            self.kinds = kinds
            self.answer = answer
        }
    }

    static let confirmWithin = 60
    static let patience: Int64 = 170_000
    /// How long either side waits for the other.
    static let waiting: Int64 = 3_000
    static let tries = 3

    private struct Reply: Equatable {
        let frame: [UInt8]
        /// Of an approval.
        let key: AttemptKey?
        /// Of a payment that has begun, which the till books with this answer.
        var begun: AttemptKey?
        var tries = EPlusTerminal.tries
    }

    private enum Stage: Equatable {
        case idle
        /// The till has the line.
        case receiving([UInt8])
        case accepted(EPlusRequest)
        case running(AttemptKey, EPlusRequest)
        /// The terminal wants the line.
        case asking(Reply)
        case answering(Reply)
    }

    public private(set) var desk: TillMachine
    private let settings: Settings
    private var line: TillConnection?
    private var stage: Stage = .idle
    /// Of what is waited for.
    private var number: UInt64 = 0

    public init(desk: TillMachine, settings: Settings) {
        self.desk = desk
        self.settings = settings
    }

    public mutating func handle(_ input: TillInput, at now: Int64) -> [TillEffect] {
        var effects: [TillEffect] = []
        switch input {
        case .restored: restored(&effects)
        case .connected(let connection, _):
            leave(&effects)
            line = connection
        case .bytes(let bytes, let connection):
            guard connection == line else { break }
            for byte in bytes { received(byte, at: now, &effects) }
        case .lost(let connection, _):
            guard connection == line else { break }
            leave(&effects)
            line = nil
        case .timer(.answer(let number)): if number == self.number { ranOut(&effects) }
        case .timer(.patience(let key)): lostPatience(key, &effects)
        case .settled(let key, let outcome): settled(key, outcome, at: now, &effects)
        case .confirmed, .notConfirmed, .takenBack, .reversed, .booked, .day: desk.acknowledged(input, &effects)
        case .timer, .sent, .progress, .tooLate, .receipts, .identified: break
        }
        return effects
    }

    private mutating func restored(_ effects: inout [TillEffect]) {
        let before = desk.open
        desk.restore(keepsWaiting: settings.answer == .atOnce, &effects)
        // Taken back, though its till has booked it already.
        if settings.answer == .atOnce, let before, desk.open == nil {
            effects.append(.alarm(.bookedNotPaid(before.key)))
        }
    }

    // MARK: - The line

    private mutating func received(_ byte: UInt8, at now: Int64, _ effects: inout [TillEffect]) {
        switch (stage, byte) {
        case (.receiving(let before), _) where !before.isEmpty: gather(before + [byte], &effects)
        case (.receiving, EPlusFrame.stx), (.accepted, EPlusFrame.stx): gather([byte], &effects)
        case (.receiving, EPlusFrame.eot): stage = .idle
        case (.accepted(let request), EPlusFrame.eot): begin(request, &effects)
        case (.asking(let reply), EPlusFrame.ack):
            stage = .answering(reply)
            send(reply.frame, &effects)
        case (.answering(let reply), EPlusFrame.ack):
            stage = .idle
            number += 1
            if let key = reply.key { desk.told(key, at: now, &effects) }
            send([EPlusFrame.eot], awaitsAnswer: false, &effects)
        case (.answering, EPlusFrame.nak): ranOut(&effects)
        case (_, EPlusFrame.enq): lineIsWanted(&effects)
        default: break
        }
    }

    private mutating func gather(_ bytes: [UInt8], _ effects: inout [TillEffect]) {
        stage = .receiving(bytes)
        guard bytes.count == EPlusRequest.length + 3 else { return }
        // A request that cannot be answered as it asks is not taken: its till must not believe that it was.
        let request = EPlusFrame.request(bytes).flatMap { $0.answer == settings.answer ? $0 : nil }
        guard let request, settings.answer == .atTheEnd || desk.open == nil else {
            stage = .receiving([])
            return send([EPlusFrame.nak], &effects)
        }
        stage = .accepted(request)
        send([EPlusFrame.ack], &effects)
    }

    /// The till begins anew: it does not wait for an answer any more.
    private mutating func lineIsWanted(_ effects: inout [TillEffect]) {
        let wasRunning = if case .running = stage { true } else { false }
        leave(&effects)
        guard !wasRunning else { return send([EPlusFrame.nak], awaitsAnswer: false, &effects) }
        stage = .receiving([])
        send([EPlusFrame.ack], &effects)
    }

    private mutating func send(_ bytes: [UInt8], awaitsAnswer: Bool = true, _ effects: inout [TillEffect]) {
        guard let line else { return }
        effects.append(.send(bytes, line))
        guard awaitsAnswer else { return }
        number += 1
        effects.append(.arm(.answer(number), milliseconds: Self.waiting))
    }

    private mutating func ranOut(_ effects: inout [TillEffect]) {
        switch stage {
        case .idle, .running: break
        case .receiving, .accepted: stage = .idle
        case .asking(var reply):
            reply.tries -= 1
            guard reply.tries > 0 else { return leave(&effects) }
            stage = .asking(reply)
            send([EPlusFrame.enq], &effects)
        case .answering(var reply):
            reply.tries -= 1
            guard reply.tries > 0 else { return leave(&effects) }
            stage = .answering(reply)
            send(reply.frame, &effects)
        }
    }

    /// Nobody waits for what was going on.
    private mutating func leave(_ effects: inout [TillEffect]) {
        switch stage {
        case .idle, .receiving, .accepted: break
        case .running(let key, _): desk.giveUp(key, &effects)
        // A till that never gave the line has booked nothing, and asks for its payment again.
        case .asking(let reply):
            guard let key = reply.key ?? reply.begun else { break }
            if desk.open?.key == key { desk.giveUp(key, &effects) } else { desk.takeBack(key, .notDelivered, &effects) }
        case .answering(let reply):
            guard let key = reply.key else { break }
            // It may have read it, though nothing says so.
            effects.append(.alarm(.endedWhileTelling(key)))
            desk.giveUp(key, &effects)
        }
        stage = .idle
        number += 1
    }

    // MARK: - Payments

    private mutating func begin(_ request: EPlusRequest, _ effects: inout [TillEffect]) {
        let order: TillOrder
        do throws(EPlusRequest.Refusal) {
            order = try request.order(allowing: settings.kinds, in: settings.currency)
        } catch {
            return tell(request, paid: nil, &effects)
        }
        guard
            case .started(let key) = desk.ask(
                order, peer: "", confirmWithin: Self.confirmWithin, &effects)
        else { return tell(request, paid: nil, &effects) }
        switch settings.answer {
        case .atTheEnd:
            stage = .running(key, request)
            effects.append(.arm(.patience(key), milliseconds: Self.patience))
        case .atOnce: answer(request.answered(isPaid: true), nil, begun: key, &effects)
        }
    }

    private mutating func tell(_ request: EPlusRequest, paid key: AttemptKey?, _ effects: inout [TillEffect]) {
        answer(request.answered(isPaid: key != nil), key, &effects)
    }

    private mutating func answer(
        _ body: [UInt8], _ key: AttemptKey?, begun: AttemptKey? = nil, _ effects: inout [TillEffect]
    ) {
        stage = .asking(Reply(frame: EPlusFrame.bytes(of: body), key: key, begun: begun))
        send([EPlusFrame.enq], &effects)
    }

    private mutating func settled(
        _ key: AttemptKey, _ outcome: TillOutcome, at now: Int64, _ effects: inout [TillEffect]
    ) {
        guard let attempt = desk.settle(key, outcome, at: now, &effects) else { return }
        let canBeTold =
            attempt.phase == .approved
            && desk.beginTelling(key, at: now, confirmWithin: Self.confirmWithin, &effects)
        if case .running(key, let request) = stage { return tell(request, paid: canBeTold ? key : nil, &effects) }
        switch settings.answer {
        // Its till has booked it already.
        case .atOnce:
            if canBeTold { desk.told(key, at: now, &effects) } else { effects.append(.alarm(.bookedNotPaid(key))) }
        // The daemon has taken it back while the till was told, or nobody is there to be told.
        case .atTheEnd: leave(&effects)
        }
    }

    private mutating func lostPatience(_ key: AttemptKey, _ effects: inout [TillEffect]) {
        guard case .running(key, let request) = stage else { return }
        desk.giveUp(key, &effects)
        tell(request, paid: nil, &effects)
    }
}
