// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Reads the passes of a request from whatever is presented: a phone's wallet, an NDEF tag, a card's identifier.
///
/// Tries the carriers in the request's order on one activation. A phone that is locked or left too early is activated
/// again, for as many presentations by a person as the request says. A card whose UID would become a member number is asked
/// first whether it can pay (``PaymentQuestion``); no phone is, and no payment application is used.
///
/// Where the caller's own wait for a card ends in time-out or cancellation, `stop` gives what was found until then.
public struct LoyaltyRead: TapMachine, Sendable {
    enum Phase {
        case idle, activating
        /// Index of the carrier that is tried.
        case selecting(Int)
        case apple(VASRead)
        case google(SmartTapRead)
        case tag(Type4Read, carrier: Int)
        case memory(Type2Read, carrier: Int)
        case asking(PaymentQuestion, carrier: Int)
        case finished
    }

    let request: LoyaltyRequest
    var phase = Phase.idle
    var outcome: LoyaltyOutcome
    /// Presentations by a person, however often the chip was activated in each, and those that came to nothing.
    private var watch = PresentationWatch()
    private var failedPresentations = 0
    /// One has failed, and its holder has not been told.
    private var isToTell = false
    private var now = TapInstant(nanoseconds: 0)
    var shownAction = CustomerAction.nothing
    /// UID of a card that a reader calls memory, and that fell silent when it was asked whether it can pay.
    var silent: [UInt8]?

    public init(_ request: LoyaltyRequest) {
        self.request = request
        outcome = LoyaltyOutcome(
            entries: request.programmes.map { LoyaltyOutcome.Entry(programme: $0.id, status: .notAsked) },
            payment: .sameActivation, ending: .completed)
    }

    public mutating func start(now: TapInstant) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        phase = .activating
        return Step(.activate(fieldOffMilliseconds: 0), signals: [.readyForPass])
    }

    public mutating func activated(_ card: CardActivation, now: TapInstant) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        self.now = now
        guard case .activating = phase else { return conclude() }
        countEnded()
        watch.cardFound(at: now)
        outcome.card = card
        // What the last look found says nothing about the card that is there now.
        for index in outcome.entries.indices {
            outcome.entries[index].status = .notAsked
            outcome.entries[index].pass = nil
        }
        outcome.wallet = nil
        outcome.payment = .sameActivation
        var step = tryCarrier(0)
        step.signals.insert(.reading, at: 0)
        return step
    }

    public mutating func collided(now: TapInstant) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        self.now = now
        guard case .activating = phase else { return conclude() }
        outcome.payment = .afterRemoval
        mark(.cardLost) { _ in true }
        // Two at a time are no try: one of them goes, and it works. Nobody waits for that longer than for a card.
        return again(.presentOneCardOnly, fieldOffMilliseconds: LoyaltyRead.repollMilliseconds)
    }

    public mutating func fieldEmptied(now: TapInstant) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        self.now = now
        guard case .activating = phase else { return conclude() }
        watch.fieldEmptied(at: now)
        // What was lost has left: whoever holds it has to do something.
        let isLost = watch.due != nil && outcome.entries.contains { $0.status == .cardLost }
        return Step(.activate(fieldOffMilliseconds: 0), signals: isLost ? say(.presentAgain) : [])
    }

    public mutating func received(
        _ response: ResponseAPDU, now: TapInstant
    ) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        self.now = now
        switch phase {
        case .idle, .activating, .finished:
            return conclude()
        case .selecting(let carrier):
            return walletSelected(OSE.application(response), carrier: carrier)
        case .apple(var read):
            let step = read.received(response, now: now)
            phase = .apple(read)
            return follow(step) { $0.fold(apple: $1) }
        case .google(var read):
            let step = read.received(response, now: now)
            phase = .google(read)
            return follow(step) { $0.fold(google: $1) }
        case .tag(var read, let carrier):
            let step = read.received(response, now: now)
            phase = .tag(read, carrier: carrier)
            return follow(step) { $0.fold(tag: $1, carrier: carrier) }
        case .memory(var read, let carrier):
            let step = read.received(response)
            phase = .memory(read, carrier: carrier)
            return follow(step) { $0.fold(tag: $1, carrier: carrier) }
        case .asking(let question, let carrier):
            return answered(question.received(response.status, isCalledMemory: isCalledMemory), carrier: carrier)
        }
    }

    public mutating func cardLost(now: TapInstant) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        self.now = now
        switch phase {
        case .idle, .activating, .finished:
            return conclude()
        // A reader called it memory, and it is: what needs no command of its own is still to be had.
        case .selecting(let carrier) where isCalledMemory, .tag(_, let carrier) where isCalledMemory:
            return tryCarrier(carrier + 1)
        case .selecting:
            outcome.payment = .afterRemoval
            mark(.cardLost) { $0.apple != nil || $0.google != nil }
            return conclude()
        case .apple(var read):
            return follow(read.cardLost(now: now)) { $0.fold(apple: $1) }
        case .google(var read):
            return follow(read.cardLost(now: now)) { $0.fold(google: $1) }
        case .tag:
            outcome.payment = .afterRemoval
            mark(.cardLost) { $0.tag != nil }
            return conclude()
        case .memory(var read, let carrier):
            outcome.payment = .afterRemoval
            return follow(read.cardLost()) { $0.fold(tag: $1, carrier: carrier) }
        case .asking(_, let carrier): return lostUnderQuestion(carrier: carrier)
        }
    }

    public mutating func stop(now: TapInstant) -> LoyaltyOutcome {
        switch phase {
        case .idle, .activating, .selecting, .tag, .asking, .finished: break
        case .memory(var read, _): _ = read.cardLost()
        case .apple(var read): take(read.stop(now: now))
        case .google(var read): take(read.stop(now: now))
        }
        phase = .finished
        outcome.ending = .stopped
        return outcome
    }

    /// Between two looks at a phone whose user has something to do.
    static let repollMilliseconds: UInt64 = 100
    /// Long enough to count as having left the field.
    static let removalMilliseconds: UInt64 = 1_000

    /// The card was read, and nothing has come of it.
    ///
    /// - Returns: whether its holder may try again.
    mutating func mayTryAgain() -> Bool {
        watch.readFailed()
        countEnded()
        return failedPresentations < request.maximumPresentations
    }

    /// A card at the edge of the field is lost many times in one presentation: no word before that is over.
    mutating func isQuiet(_ wish: PassStatus) -> Bool {
        defer { isToTell = false }
        return wish == .cardLost && !isToTell
    }

    private mutating func countEnded() {
        guard watch.ended(at: now) != nil else { return }
        failedPresentations += 1
        isToTell = true
    }

    mutating func tryCarrier(_ index: Int) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        guard request.carriers.indices.contains(index), !outcome.hasPass else { return conclude() }
        switch request.carriers[index] {
        case .wallet:
            guard takesCommands || isCalledMemory,
                request.programmes.contains(where: { $0.apple != nil || $0.google != nil }),
                let command = try? OSE.select()
            else { return tryCarrier(index + 1) }
            phase = .selecting(index)
            return Step(.transmit(command))
        case .tag:
            guard takesCommands || isCalledMemory || isType2, request.programmes.contains(where: { $0.tag != nil })
            else { return tryCarrier(index + 1) }
            if isType2 {
                var read = Type2Read()
                let step = read.enter()
                phase = .memory(read, carrier: index)
                return follow(step) { $0.fold(tag: $1, carrier: index) }
            }
            var read = Type4Read()
            let step = read.enter()
            phase = .tag(read, carrier: index)
            return follow(step) { $0.fold(tag: $1, carrier: index) }
        case .uid:
            guard givesNumber, takesCommands || isCalledMemory else {
                readUID()
                return tryCarrier(index + 1)
            }
            return answered(.ask(PaymentQuestion()), carrier: index)
        }
    }

    /// Whether the card speaks ISO/IEC 14443-4; assumed where the reader does not tell.
    var takesCommands: Bool {
        guard let card = outcome.card else { return true }
        return switch card.technology {
        case .typeA: card.sak.map { $0 & 0x20 != 0 } ?? true
        // By its ATR a type B card has protocol info, or is memory.
        case .typeB: card.atr.isEmpty || !card.answerToSelect.isEmpty
        case .feliCa, .iso15693: false
        case .unknown: true
        }
    }

    /// Whether a PC/SC reader's ATR names memory of a kind that cards with ISO/IEC 14443-4 beside it are shown as too (MIFARE Classic
    /// on a card that also speaks APDUs): the reader's guess closes no door that a SELECT opens.
    var isCalledMemory: Bool { isMemoryByATR && outcome.card?.sak != 0x00 }

    /// Whether it is a Type 2 tag behind a PC/SC reader, as which it names Ultralight and NTAG: SAK 00.
    private var isType2: Bool { isMemoryByATR && outcome.card?.sak == 0x00 }

    private var isMemoryByATR: Bool {
        guard let card = outcome.card else { return false }
        return card.technology == .typeA && !card.atr.isEmpty && card.takesCommands == false
    }

    private mutating func walletSelected(
        _ application: WalletApplication, carrier: Int
    ) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        switch application {
        case .apple(let selection):
            outcome.wallet = .apple
            outcome.payment = .afterFieldReset
            let merchants = request.programmes.compactMap(\.apple)
            guard !merchants.isEmpty else { return conclude() }
            var read = VASRead(
                merchants: merchants, terminal: request.vasTerminal, timestamps: request.timestamps)
            let step = read.selected(selection)
            phase = .apple(read)
            return follow(step) { $0.fold(apple: $1) }
        case .google(let selection):
            outcome.wallet = .google
            // The phone takes one collector in one presentation: the one of the first programme that has any.
            guard let collector = request.programmes.compactMap(\.google).first else { return conclude() }
            var read = SmartTapRead(
                collector: collector, terminal: request.smartTapTerminal, entropy: request.entropy)
            let step = read.selected(selection)
            phase = .google(read)
            return follow(step) { $0.fold(google: $1) }
        case .other, .none:
            mark(.noPass) { $0.apple != nil || $0.google != nil }
            return tryCarrier(carrier + 1)
        case .malformed:
            mark(.unreadable(.malformed)) { $0.apple != nil || $0.google != nil }
            return tryCarrier(carrier + 1)
        }
    }
}
