// SPDX-License-Identifier: Apache-2.0
public import Codes

/// The terminal's side of ZVT on one lane, over TCP or a serial line.
///
/// The till is master until it has sent a command; then the terminal is, until its completion was answered. A till knows of an
/// approval once it has answered the result, and each line that it has to print, in the affirmative. It has a stored property for
/// each thing that a later packet may ask for: a machine without I/O has nowhere else to keep it.
public struct ZVTTerminal: TillTerminal {
    public enum Line: Sendable {
        case tcp, serial
    }

    public struct Settings: Sendable {
        public var currency: CurrencyCode
        /// Up to eight digits.
        public var terminal: UInt64
        /// Six digits, two a byte; `nil` takes any.
        public var password: [UInt8]?
        public var refunds: Bool
        public var reservations: Bool
        /// How long after a sale the till may reverse it.
        public var reversalTime: Int64
        public var words: ZVTWords
        /// The device id that a charger expects, up to eight letters: the till is one, and gets the codes and fields that chargers
        /// know.
        public var device: String?
        /// What 06 C0 holds of a card that it reads, in minor units; `nil` for a terminal that reads no card ahead.
        public var readAmount: Int64?

        public init(
            currency: CurrencyCode, terminal: UInt64, password: [UInt8]? = nil, refunds: Bool = false,
            reservations: Bool = false, reversalTime: Int64 = 900_000, words: ZVTWords = ZVTWords(),
            device: String? = nil, readAmount: Int64? = nil
        ) {
            self.currency = currency
            self.terminal = terminal
            self.password = password
            self.refunds = refunds
            self.reservations = reservations
            self.reversalTime = reversalTime
            self.words = words
            self.device = device
            self.readAmount = readAmount
        }
    }

    static let answerTime: Int64 = 5_000
    static let againTime: Int64 = 2_000
    static let waitingTime: Int64 = 20_000
    /// A till that gets intermediate states waits longer than one that gets none.
    static let patience: Int64 = 170_000
    static let longPatience: Int64 = 600_000
    static let strays = 3

    enum Stage: Equatable, Sendable {
        case idle
        case running(AttemptKey, ZVTSale)
        /// The till waits for a card.
        case reading
        /// This was asked for, and begins when the card that was to be read ahead is given up.
        case clearing(TillOrder.Kind, ZVTSale)
        case telling(AttemptKey, ZVTSale, tries: Int)
        /// The till has the result and prints.
        case printing(AttemptKey, ZVTSale)
        case reversing(AttemptKey)
        /// Of this reservation.
        case booking(AttemptKey)
        case closingBatch
        /// What is left to be said changes nothing.
        case ending
    }

    /// What a packet is for, and so what its answer means.
    enum Role: Equatable, Sendable {
        case progress, result(AttemptKey), print(AttemptKey, isLast: Bool), totals, notice, end
        /// A card that was read ahead; nothing follows it where `isLast`.
        case card(AttemptKey, isLast: Bool)
    }

    struct Outgoing: Equatable, Sendable {
        var packet: ZVTPacket
        var role: Role
    }

    public internal(set) var desk: TillMachine
    let settings: Settings
    let answers: ZVTAnswer
    var link: ZVTLink
    var guest: (connection: TillConnection, peer: String)?
    var session = ZVTSession()
    var stage: Stage = .idle
    /// The command that began what is going on.
    var command: ZVTPacket?
    /// Nothing was sent since but the answer to it.
    var isFresh = false
    var outbox: [Outgoing] = []
    var awaited: (number: UInt64, out: Outgoing)?
    var number: UInt64 = 0
    var strayAnswers = 0
    var misuse = ZVTGuard()
    var shown: TillProgress?
    /// A card that is read, or was, for a reservation that its till has not asked for yet.
    var read: ZVTRead?
    var readNumber: UInt64 = 0
    /// The reservation whose card was read ahead: its time for a confirmation has run since then.
    var claimed: AttemptKey?
    /// What the completion that is being sent ends, and those whose completion was answered: they are not asked for again.
    var ended: AttemptKey?
    var heard: Set<AttemptKey> = []
    /// The client has sent 0F A1: for it the result of a read ends it, and a completion would be the next command's.
    var endsReadsAtResult = false
    /// The receipts of a reversal or a booking, as they are after it: its payment's own say what was before.
    var followed: (key: AttemptKey, receipts: [TillReceipt])?

    public init(desk: TillMachine, settings: Settings, line: Line) {
        self.desk = desk
        self.settings = settings
        answers = ZVTAnswer(
            terminal: settings.terminal, currency: settings.currency, isForCharger: settings.device != nil)
        link = ZVTLink(line)
    }

    public mutating func handle(_ input: TillInput, at now: Int64) -> [TillEffect] {
        var effects: [TillEffect] = []
        switch input {
        case .restored: desk.restore(keepsWaiting: false, &effects)
        case .connected(let connection, let peer): connected(connection, peer, &effects)
        case .bytes(let bytes, let connection):
            if connection == guest?.connection { carry(link.receive(bytes), at: now, &effects) }
        case .lost(let connection, _): if connection == guest?.connection { leave(isGone: true, &effects) }
        case .timer(let timer): fired(timer, at: now, &effects)
        case .settled(let key, let outcome): settled(key, outcome, at: now, &effects)
        case .progress(let key, let progress): showed(key, progress, &effects)
        case .reversed(let key, let answer):
            desk.acknowledged(input, &effects)
            reversed(key, answer, &effects)
        case .identified(let key, let uid): identified(key, uid)
        case .booked(let key, let answer, _):
            desk.acknowledged(input, &effects)
            booked(key, answer)
        case .receipts(let key, let receipts): followed = (key, receipts)
        case .confirmed, .notConfirmed, .takenBack, .day: desk.acknowledged(input, &effects)
        case .sent, .tooLate: break
        }
        pump(&effects)
        return effects
    }

    private mutating func fired(_ timer: TillTimer, at now: Int64, _ effects: inout [TillEffect]) {
        switch timer {
        case .answer(let number): if awaited?.number == number { unanswered(&effects) }
        case .again(let number): if number == self.number { tellAgain(at: now, &effects) }
        case .patience(let key): lostPatience(key, &effects)
        case .card(let number): if number == readNumber { endRead(&effects) }
        case .kept(let key): keptEnough(key, &effects)
        case .keepWaiting:
            if case .running(let key, _) = stage, let shown { showed(key, shown, &effects) }
        case .request: if !link.isIdle { leave(isGone: false, &effects) }
        case .serialByte: carry(link.byteTimePassed(), at: now, &effects)
        case .serialFrame(let number): carry(link.frameTimePassed(number), at: now, &effects)
        case .quiet, .parked, .watch: break
        }
    }

    // MARK: - The line

    private mutating func connected(
        _ connection: TillConnection, _ peer: String, _ effects: inout [TillEffect]
    ) {
        if let guest {
            // A till that was switched off leaves a dead connection, and one that connects anew for each command is here before
            // its last connection is seen to end. One on which something goes on is never replaced.
            guard guest.peer == peer, stage == .idle || stage == .ending || canGoOnLater else {
                effects.append(.close(connection))
                return
            }
            leave(isGone: false, &effects)
        }
        guest = (connection, peer)
        strayAnswers = 0
    }

    private mutating func carry(_ events: [ZVTLink.Event], at now: Int64, _ effects: inout [TillEffect]) {
        for event in events {
            // A packet before this one may have ended the connection.
            guard let connection = guest?.connection else { return }
            switch event {
            case .write(let bytes): effects.append(.send(bytes, connection))
            case .packet(let packet): received(packet, at: now, &effects)
            case .arm(let timer, let time): effects.append(.arm(timer, milliseconds: time))
            case .armRequest: effects.append(.arm(.request(connection), milliseconds: Self.answerTime))
            case .failed: leave(isGone: false, &effects)
            }
        }
    }

    private mutating func received(_ packet: ZVTPacket, at now: Int64, _ effects: inout [TillEffect]) {
        if packet.isAnswer { answered(packet, at: now, &effects) } else { commanded(packet, at: now, &effects) }
    }

    /// At once: the till waits five seconds for it.
    mutating func reply(_ packet: ZVTPacket, _ effects: inout [TillEffect]) {
        guard let connection = guest?.connection else { return }
        for event in link.send(packet) {
            switch event {
            case .write(let bytes): effects.append(.send(bytes, connection))
            case .arm(let timer, let time): effects.append(.arm(timer, milliseconds: time))
            case .packet, .armRequest, .failed: break
            }
        }
    }

    /// One packet at a time; the next one after the till's answer.
    private mutating func pump(_ effects: inout [TillEffect]) {
        guard awaited == nil, guest != nil, !outbox.isEmpty else { return }
        let out = outbox.removeFirst()
        isFresh = false
        number += 1
        awaited = (number, out)
        reply(out.packet, &effects)
        var time = Self.answerTime
        if case .result = out.role, case .telling(_, let sale, _) = stage { time = sale.answerTime }
        effects.append(.arm(.answer(number), milliseconds: time))
    }

    /// The connection has ended, or is ended: nobody waits for what was going on.
    mutating func leave(isGone: Bool, _ effects: inout [TillEffect]) {
        if canGoOnLater { keepForLater(&effects) }
        switch stage {
        case .running(let key, _), .telling(let key, _, _), .printing(let key, _):
            if !canGoOnLater { desk.giveUp(key, &effects) }
        case .idle, .reading, .clearing, .reversing, .booking, .closingBatch, .ending: break
        }
        rest()
        ended = nil
        outbox = []
        awaited = nil
        link.reset()
        guard let connection = guest?.connection else { return }
        // A serial line stays where it is.
        if link.isSerial, !isGone { return }
        guest = nil
        endsReadsAtResult = false
        session = ZVTSession()
        if !isGone { effects.append(.close(connection)) }
    }

    /// The till is master again.
    mutating func rest() {
        stage = .idle
        command = nil
        shown = nil
    }
}
