// SPDX-License-Identifier: Apache-2.0
import CPCSC
public import CardBytes
public import ReaderCore
public import ReaderModels

/// A contactless reader behind pcscd.
///
/// Two contexts: one waits for cards and can be cancelled, one talks to them. After `.detached` the reader opens itself
/// again at the next `activate`, under the name that pcscd gives it by then; callers that retry do so with a pause.
///
/// More than fifteen stored properties: what is known of the reader, of its connections and of the card that lies there.
public final class PCSCReader: CardReader {
    public internal(set) var identity: ReaderIdentity
    let callGuard: CallGuard
    private let claim: ReaderClaim
    /// The part of its name that it was asked for by.
    private let wanted: String
    /// Slots of the device of which any may be the contactless one; once a card has shown which, that one alone.
    var slots: [PCSCReaderName]
    var waiting: SmartCardContext?
    var talking: SmartCardContext?
    var transaction: CardTransaction?
    /// The reader's event counter when the current or last card was activated.
    private var activationCounter: UInt16?
    /// A card was activated, and nobody has been told that the field is empty since.
    private var hasHadCard = false
    private var needsLookup = false
    /// The last look between taps found the card with another program.
    private var wasInUse = false
    private(set) var isClosed = false
    let indicator: ReaderIndicator
    let feedbackLevel: FeedbackLevel
    /// The reader's driver passes no commands on to it; it is not asked again.
    var refusesEscape = false
    /// What lamps and buzzer were told last; `nil` where that did not get there.
    var shown: ReaderFeedback?
    /// What lies there and cannot be read.
    private var unreadable = UnreadableCard()
    /// What the reader is asked about the card that lies there.
    var questions = CardQuestions()
    /// Connections to a card in a row that came back as refused.
    private var refusals = 0

    /// Opens a reader by its full PC/SC name.
    ///
    /// - Parameter feedback: what it may show, where its model has lamps or a buzzer that are known.
    /// - Throws: `.serviceUnavailable` where pcscd does not run, refuses us or does not know the name.
    public convenience init(name: String, feedback: FeedbackLevel = .lightsAndSound) throws(ReaderError) {
        try self.init(ReaderClaim(name), matching: "", feedback: feedback)
    }

    /// Opens the slots that are claimed, of which the first contactless card shows the one that is meant.
    init(_ claim: ReaderClaim, matching text: String, feedback: FeedbackLevel) throws(ReaderError) {
        let slots = claim.slots
        guard let first = slots.first else { throw .serviceUnavailable(.unknownReader) }
        indicator = ReaderModels.model(named: first.full)?.indicator ?? .none
        feedbackLevel = feedback
        identity = ReaderIdentity(first)
        callGuard = try CallGuard()
        (self.claim, self.slots, wanted) = (claim, slots, text)
        do throws(PCSCFailure) {
            try establishContexts()
            let names = try names()
            guard slots.allSatisfy({ names.contains($0.full) }) else {
                throw PCSCFailure(.listReaders, 0, meaning: .readerGone)
            }
        } catch {
            throw error.meaning == .readerGone ? .serviceUnavailable(.unknownReader) : error.readerError
        }
        learnFirmware()
    }

    deinit { close() }

    /// Opens the reader again after `.detached`: under its old name, or under the new one of the same model, serial
    /// part and slot, as far as no other `PCSCReader` of this process has it.
    ///
    /// - Throws: `.detached` where pcscd does not have the reader (yet), `.serviceUnavailable` where there is no pcscd.
    public func reopen() throws(ReaderError) {
        release()
        dropContexts()
        isClosed = false
        do throws(PCSCFailure) {
            try establishContexts()
            try lookUp()
        } catch {
            throw error.readerError
        }
    }

    public func activate(
        until deadline: TapInstant, cancellation: TapCancellation
    ) throws(ReaderError) -> CardPresence {
        guard !isClosed else { throw .detached }
        release()
        return try outlastingRestart(until: deadline, cancellation) { () throws(PCSCFailure) in
            try settleSlot(until: deadline, cancellation: cancellation)
            return try awaitCard(until: deadline, cancellation: cancellation)
        }
    }

    public func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        let answer: [UInt8]
        do throws(PCSCFailure) {
            answer = try send(command.bytes, until: deadline)
        } catch {
            throw fail(error)
        }
        // A card that is torn from the field answers with success and nothing, or with half a status word.
        do throws(APDUError) { return try ResponseAPDU(answer) } catch { throw .cardLost }
    }

    public func release() {
        guard let link = talking?.link, let ending = transaction.take() else { return }
        do throws(PCSCFailure) {
            // The transaction ends in any case; a failure here is the next call's to find.
            var ending: CardTransaction? = ending
            try callGuard.run(within: .disconnect, severing: link) { () throws(PCSCFailure) in
                try ending.take()?.end()
            }
        } catch {
            _ = fail(error)
        }
    }

    public func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {
        guard !isClosed else { throw .detached }
        release()
        try outlastingRestart(until: deadline, cancellation) { () throws(PCSCFailure) in
            // A card of another kind in another slot may lie there for ever.
            guard try hasSettledSlot(cancellation) else { return }
            var state = ReaderState.unaware
            while true {
                guard let next = try nextState(unless: state, until: deadline, cancellation: cancellation) else {
                    throw .timedOut
                }
                // A counter that moved on says that the card left, even if another one lies there by now.
                guard next.hasCard, activationCounter == nil || activationCounter == next.eventCounter else {
                    hasHadCard = false
                    return
                }
                state = next
            }
        }
    }

    public func check() throws(ReaderError) {
        guard !isClosed else { throw .detached }
        do throws(PCSCFailure) {
            try establishContexts()
            if needsLookup { try lookUp() }
            guard try hasSettledSlot(TapCancellation()) else { return }
            let state = try nextState(unless: .unaware, until: monotonicNow(), cancellation: TapCancellation())
            // We share a card with nobody, and have none between two taps: the next one would not get its card. A glance at
            // it, as `nfc-tap readers` takes one, is over by the next look.
            let isInUse = transaction == nil && state?.isInUse == true
            defer { wasInUse = isInUse }
            if isInUse, wasInUse { throw PCSCFailure(.getStatusChange, 0, meaning: .inUse) }
        } catch {
            throw fail(error)
        }
    }

    public func close() {
        release()
        dropContexts()
        claim.release()
        isClosed = true
    }
}

extension PCSCReader {
    private func establishContexts() throws(PCSCFailure) {
        if waiting == nil { waiting = try SmartCardContext(guardedBy: callGuard) }
        if talking == nil { talking = try SmartCardContext(guardedBy: callGuard) }
    }

    private func dropContexts() {
        transaction = nil
        talking = nil
        waiting = nil
    }

    private func names() throws(PCSCFailure) -> [String] {
        guard let link = waiting?.link else { throw .noContext }
        return try callGuard.run(within: .service, severing: link) { () throws(PCSCFailure) in
            try waiting?.readers() ?? []
        }
    }

    private func lookUp() throws(PCSCFailure) {
        let names = try names().map(PCSCReaderName.init)
        guard let found = claim.move(to: names, from: slots, matching: wanted), let first = found.first else {
            needsLookup = true
            throw PCSCFailure(.listReaders, 0, meaning: .readerGone)
        }
        slots = found
        identity = ReaderIdentity(first)
        (needsLookup, activationCounter) = (false, nil)
        (hasHadCard, shown) = (false, nil)
        learnFirmware()
    }

    /// Notes what a failure leaves unusable.
    func fail(_ failure: PCSCFailure) -> ReaderError {
        switch failure.meaning {
        case .connectionLost, .notRunning, .otherVersion:
            // One connection dies with the other; both are made anew at the next activation.
            dropContexts()
            needsLookup = true
        case .stuck:
            // Only a call to the card can be stuck while pcscd lives; whatever is wrong shows at the next activation.
            dropContexts()
        case .readerGone, .readerUnavailable:
            release()
            needsLookup = true
        case .cardLost, .mute, .otherProtocol, .inUse, .accessDenied, .cancelled, .timedOut, .other:
            break
        }
        return failure.readerError
    }

    /// Runs a wait, and again where pcscd ended and comes back soon: each upgrade of it does so, and nothing was asked of a
    /// card.
    ///
    /// - Throws: what ended it first, where pcscd stays away.
    private func outlastingRestart<Value>(
        until deadline: TapInstant, _ cancellation: TapCancellation, _ wait: () throws(PCSCFailure) -> Value
    ) throws(ReaderError) -> Value {
        var outage = ServiceOutage()
        while true {
            do throws(PCSCFailure) {
                try establishContexts()
                if needsLookup { try lookUp() }
                return try wait()
            } catch {
                let told = fail(error)
                switch outage.take(error, told, at: monotonicNow()) {
                case .over(let error): throw error
                case .goesOn(let first, let pause):
                    guard monotonicNow() < deadline else { throw first }
                    try cancellation.sleep(until: min(pause, deadline))
                }
            }
        }
    }
}

extension PCSCReader {
    private func awaitCard(
        until deadline: TapInstant, cancellation: TapCancellation
    ) throws(PCSCFailure) -> CardPresence {
        var state = ReaderState.unaware
        var retry: (at: TapInstant, after: PCSCFailure)?
        var poweredDown: UInt16?
        let patience = monotonicNow().advanced(byMilliseconds: 1_000)
        while true {
            let limit = min(retry?.at ?? deadline, deadline)
            if let next = try nextState(unless: state, until: limit, cancellation: cancellation) {
                state = next
            } else if monotonicNow() >= deadline {
                throw retry?.after.meaning == .inUse ? retry?.after ?? .timedOut : .timedOut
            }
            retry = nil
            guard state.hasCard else {
                unreadable = UnreadableCard()
                if hasHadCard {
                    hasHadCard = false
                    return .emptied
                }
                // A disconnect lets pcscd find that a card has gone, and it counts nothing then. One that comes before its own next
                // look is no change to it, as long as it lies there: a connection is told of it.
                guard state.eventCounter == activationCounter else { continue }
                if let card = try overlooked(state) { return .card(card) }
                retry = (monotonicNow().advanced(byMilliseconds: 200), .timedOut)
                continue
            }
            do throws(PCSCFailure) {
                if !mayBeContactless(state.atr) {
                    // pcscd keeps a card's ATR until it sees an empty field: two that change places between its looks are one to
                    // it. A new connection powers up what lies there now. What may have contacts may be another program's: once.
                    let isAsked = poweredDown == state.eventCounter && slot != .contactless
                    guard !state.isInUse, !isAsked else { throw .mute }
                    poweredDown = state.eventCounter
                    powerDown()
                }
                // Something that took no power is asked again: a connection powers it up anew.
                let card = try connect(state)
                unreadable = UnreadableCard()
                return .card(card)
            } catch {
                switch error.meaning {
                // Gone again, though pcscd may notice only at its next look; or no card yet, and nothing says that there are
                // two.
                case .cardLost, .mute, .otherProtocol:
                    if error.meaning == .otherProtocol { powerDown() }
                    let now = monotonicNow()
                    if unreadable.isToTell(state.eventCounter, at: now) { return .unreadable }
                    retry = (now.advanced(byMilliseconds: error.meaning == .mute ? 200 : 50), error)
                case .inUse where monotonicNow() < patience:
                    retry = (monotonicNow().advanced(byMilliseconds: 100), error)
                case .inUse, .readerGone, .readerUnavailable, .connectionLost, .notRunning, .otherVersion,
                    .accessDenied, .cancelled, .timedOut, .stuck, .other:
                    throw error
                }
            }
        }
    }

    /// Takes power from a card that another program has left in a protocol of its own, or that was never powered up itself: the
    /// next connection begins anew. What fails here shows at that one.
    private func powerDown() {
        guard let link = talking?.link else { return }
        try? callGuard.run(within: .disconnect, severing: link) { () throws(PCSCFailure) in
            try talking?.connectDirectly(to: identity.name).powerDown()
        }
    }

    /// A card in a slot that is empty by pcscd's word; `nil` where there is none. Taking power lets pcscd look for itself.
    private func overlooked(_ state: ReaderState) throws(PCSCFailure) -> CardActivation? {
        do throws(PCSCFailure) { return try connect(state) } catch {
            guard [.cardLost, .mute, .otherProtocol, .inUse].contains(error.meaning) else { throw error }
            if error.meaning == .cardLost { powerDown() }
            return nil
        }
    }

    private func connect(_ state: ReaderState) throws(PCSCFailure) -> CardActivation {
        guard let link = talking?.link else { throw .noContext }
        do throws(PCSCFailure) {
            transaction = try callGuard.run(within: .connect, severing: link) { () throws(PCSCFailure) in
                guard let card = try talking?.connect(to: identity.name) else { throw .noContext }
                return try card.begin()
            }
            refusals = 0
        } catch {
            switch error.meaning {
            // Another program's transaction lets a connection wait for ever; nothing else is known to.
            case .stuck:
                dropContexts()
                throw PCSCFailure(error.call, error.code, meaning: .inUse)
            // A connection that pcscd closed looks like a card that it refuses: another one tells.
            case .accessDenied where refusals < 2:
                refusals += 1
                throw PCSCFailure(error.call, error.code, meaning: .connectionLost)
            default:
                refusals = 0
                throw error
            }
        }
        activationCounter = state.eventCounter
        hasHadCard = true
        do throws(PCSCFailure) {
            let atr = try currentATR()
            guard mayBeContactless(atr) else { throw .mute }
            return try identify(CardActivation(atr: atr), state.eventCounter)
        } catch {
            // Kept, it would be the other program that holds the card at the next try.
            release()
            throw error
        }
    }

    /// Of the card that was powered up for this connection. The state that led to it may still have the ATR of another one,
    /// whose place this card took between two looks of pcscd, or none, where the first power-up failed.
    private func currentATR() throws(PCSCFailure) -> [UInt8] {
        guard let link = talking?.link else { throw .noContext }
        return try callGuard.run(within: .service, severing: link) { () throws(PCSCFailure) in
            try talking?.state(of: identity.name, unless: .unaware, milliseconds: 0).atr ?? []
        }
    }

    func send(_ command: [UInt8], until deadline: TapInstant) throws(PCSCFailure) -> [UInt8] {
        guard let link = talking?.link else { throw .noCard }
        return try callGuard.run(until: deadline, sever: { link.sever() }) { () throws(PCSCFailure) in
            guard let answer = try transaction?.transmit(command) else { throw .noCard }
            return answer
        }
    }

    /// Waits for another state than `known`.
    ///
    /// - Returns: `nil` where there was none by `deadline`.
    private func nextState(
        unless known: ReaderState, until deadline: TapInstant, cancellation: TapCancellation
    ) throws(PCSCFailure) -> ReaderState? {
        repeat {
            guard
                let state = try waiting?.nextState(
                    of: identity.name, unless: known, until: deadline, cancellation: cancellation, guardedBy: callGuard)
            else { throw .noContext }
            if state.isGone { throw PCSCFailure(.getStatusChange, 0, meaning: .readerGone) }
            if state.isUnavailable { throw PCSCFailure(.getStatusChange, cpcsc_code(SCARD_E_READER_UNAVAILABLE)) }
            if state != known { return state }
        } while monotonicNow() < deadline
        return nil
    }
}
