// SPDX-License-Identifier: Apache-2.0
import CPCSC
public import CardBytes
public import ReaderCore
public import ReaderModels

/// A contactless reader behind pcscd.
///
/// Two contexts: one waits for cards and can be cancelled, one talks to them. After `.detached` the reader opens itself
/// again at the next `activate`, under the name that pcscd gives it by then; callers that retry do so with a pause.
public final class PCSCReader: CardReader {
    public private(set) var identity: ReaderIdentity
    private let callGuard: CallGuard
    private let claim: ReaderClaim
    private var waiting: SmartCardContext?
    private var talking: SmartCardContext?
    private var transaction: CardTransaction?
    /// The reader's event counter when the current or last card was activated.
    private var activationCounter: UInt16?
    /// A card was activated, and nobody has been told that the field is empty since.
    private var hasHadCard = false
    private var needsLookup = false
    /// The last look between taps found the card with another program.
    private var wasInUse = false
    private var isClosed = false
    private let indicator: ReaderIndicator
    private let feedbackLevel: FeedbackLevel
    /// The reader's driver passes no commands on to it; it is not asked again.
    private var refusesEscape = false
    /// What lamps and buzzer were told last; `nil` where that did not get there.
    private var shown: ReaderFeedback?

    /// Opens a reader by its full PC/SC name.
    ///
    /// - Parameter feedback: what it may show, where its model has lamps or a buzzer that are known.
    /// - Throws: `.serviceUnavailable` where pcscd does not run, refuses us or does not know the name.
    public init(name: String, feedback: FeedbackLevel = .lightsAndSound) throws(ReaderError) {
        indicator = ReaderModels.model(named: name)?.indicator ?? .none
        feedbackLevel = feedback
        identity = ReaderIdentity(PCSCReaderName(name))
        callGuard = try CallGuard()
        claim = ReaderClaim(name)
        do throws(PCSCFailure) {
            try establishContexts()
            guard try names().contains(name) else { throw PCSCFailure(.listReaders, 0, meaning: .readerGone) }
        } catch {
            throw error.meaning == .readerGone ? .serviceUnavailable(.unknownReader) : error.readerError
        }
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
        do throws(PCSCFailure) {
            try establishContexts()
            if needsLookup { try lookUp() }
            return try awaitCard(until: deadline, cancellation: cancellation)
        } catch {
            throw fail(error)
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
        do throws(PCSCFailure) {
            try establishContexts()
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
        } catch {
            throw fail(error)
        }
    }

    public func check() throws(ReaderError) {
        guard !isClosed else { throw .detached }
        do throws(PCSCFailure) {
            try establishContexts()
            if needsLookup { try lookUp() }
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

    /// LED and buzzer of a model that is known to have them. What fails here fails nobody's tap.
    public func show(_ feedback: ReaderFeedback) {
        // Between the commands of a card that is being read nothing else goes to the reader.
        guard !isClosed, transaction == nil || feedback.isEnd else { return }
        let commands = indicator.commands(for: feedback, after: shown, level: feedbackLevel)
        shown = nil
        for command in commands {
            guard let link = talking?.link, command.channel == .transmit && transaction != nil || !refusesEscape
            else { return }
            do throws(PCSCFailure) {
                try callGuard.run(within: .indicator, severing: link) { () throws(PCSCFailure) in
                    try send(command)
                }
            } catch {
                return noteRefusal(error)
            }
        }
        shown = feedback
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
        let current = PCSCReaderName(identity.name)
        guard let found = claim.move(to: try names().map(PCSCReaderName.init), from: current) else {
            needsLookup = true
            throw PCSCFailure(.listReaders, 0, meaning: .readerGone)
        }
        identity = ReaderIdentity(found)
        needsLookup = false
        activationCounter = nil
        (hasHadCard, shown) = (false, nil)
    }

    /// Notes what a failure leaves unusable.
    private func fail(_ failure: PCSCFailure) -> ReaderError {
        switch failure.meaning {
        case .connectionLost, .notRunning:
            // One connection dies with the other; both are made anew at the next activation.
            dropContexts()
            needsLookup = true
        case .stuck:
            // Only a call to the card can be stuck while pcscd lives; whatever is wrong shows at the next activation.
            dropContexts()
        case .readerGone, .readerUnavailable:
            release()
            needsLookup = true
        case .cardLost, .mute, .inUse, .accessDenied, .cancelled, .timedOut, .other:
            break
        }
        return failure.readerError
    }
}

extension PCSCReader {
    private func send(_ command: ReaderIndicator.Command) throws(PCSCFailure) {
        if transaction == nil {
            try talking?.connectDirectly(to: identity.name).escape(command.bytes)
        } else if command.channel == .transmit {
            _ = try transaction?.transmit(command.bytes)
        } else {
            try transaction?.escape(command.bytes)
        }
    }

    private func noteRefusal(_ failure: PCSCFailure) {
        switch failure.meaning {
        // Another program has the reader, or it went: that is about now, not about the reader.
        case .inUse, .readerGone, .readerUnavailable: return
        case .connectionLost, .notRunning, .stuck: _ = fail(failure)
        case .cardLost, .mute, .accessDenied, .cancelled, .timedOut, .other: break
        }
        if failure.call == .control || failure.meaning == .stuck { refusesEscape = true }
    }
}

extension ReaderFeedback {
    /// Whether the card has been read, or will not be.
    fileprivate var isEnd: Bool {
        switch self {
        case .idle, .ready, .processing: false
        case .read, .approved, .declined, .tryAgain, .error: true
        }
    }
}

extension PCSCReader {
    private func awaitCard(
        until deadline: TapInstant, cancellation: TapCancellation
    ) throws(PCSCFailure) -> CardPresence {
        var state = ReaderState.unaware
        var retry: (at: TapInstant, after: PCSCFailure)?
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
                guard hasHadCard else { continue }
                hasHadCard = false
                return .emptied
            }
            do throws(PCSCFailure) {
                guard !state.isMute else { throw .mute }
                return .card(try connect(state))
            } catch {
                switch error.meaning {
                // Something that takes no power is no card yet, and nothing says that there are two: it is waited for
                // until it is presented anew.
                case .mute: break
                // Gone again, though pcscd may notice only at its next look.
                case .cardLost: retry = (monotonicNow().advanced(byMilliseconds: 50), error)
                case .inUse where monotonicNow() < patience:
                    retry = (monotonicNow().advanced(byMilliseconds: 100), error)
                case .inUse, .readerGone, .readerUnavailable, .connectionLost, .notRunning, .accessDenied, .cancelled,
                    .timedOut, .stuck, .other:
                    throw error
                }
            }
        }
    }

    private func connect(_ state: ReaderState) throws(PCSCFailure) -> CardActivation {
        guard let link = talking?.link else { throw .noContext }
        do throws(PCSCFailure) {
            transaction = try callGuard.run(within: .connect, severing: link) { () throws(PCSCFailure) in
                guard let card = try talking?.connect(to: identity.name) else { throw .noContext }
                return try card.begin()
            }
        } catch {
            // Another program's transaction lets a connection wait for ever; nothing else is known to.
            guard error.meaning == .stuck else { throw error }
            dropContexts()
            throw PCSCFailure(error.call, error.code, meaning: .inUse)
        }
        activationCounter = state.eventCounter
        hasHadCard = true
        do throws(PCSCFailure) { return try identify(CardActivation(atr: state.atr)) } catch {
            // Kept, it would be the other program that holds the card at the next try.
            release()
            throw error
        }
    }

    /// UID and ATS by the pseudo-APDUs of PC/SC part 3 (§3.2.2.1.3, GET DATA), which the reader answers itself.
    private func identify(_ activation: CardActivation) throws(PCSCFailure) -> CardActivation {
        var activation = activation
        guard let uid = try getData(p1: 0x00) else { return activation }
        activation.uid = uid
        if activation.technology == .typeA, activation.sak == nil, let answerToSelect = try getData(p1: 0x01) {
            activation.answerToSelect = answerToSelect
        }
        return activation
    }

    /// - Returns: `nil` where the reader does not support it.
    private func getData(p1: UInt8) throws(PCSCFailure) -> [UInt8]? {
        let deadline = monotonicNow().advanced(byMilliseconds: CallLimit.connect.rawValue)
        let answer = try send([0xFF, 0xCA, p1, 0x00, 0x00], until: deadline)
        guard answer.count >= 2 else { throw PCSCFailure(.transmit, 0, meaning: .cardLost) }
        return answer.suffix(2) == [0x90, 0x00] ? answer.dropLast(2) : nil
    }

    private func send(_ command: [UInt8], until deadline: TapInstant) throws(PCSCFailure) -> [UInt8] {
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

extension PCSCFailure {
    fileprivate static var noContext: PCSCFailure { PCSCFailure(.getStatusChange, 0, meaning: .connectionLost) }
    fileprivate static var noCard: PCSCFailure { PCSCFailure(.transmit, 0, meaning: .cardLost) }
    fileprivate static var mute: PCSCFailure { PCSCFailure(.getStatusChange, 0, meaning: .mute) }
    fileprivate static var timedOut: PCSCFailure { PCSCFailure(.getStatusChange, 0, meaning: .timedOut) }
}
