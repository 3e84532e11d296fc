// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Linux
import ReaderCore

/// Brings UI requests to the outside world and to the reader's own lamps. From the one that means "read" on it holds them
/// back: until the result is safe nobody may believe it.
final class TapDisplay {
    private let reader: any CardReader
    private let clock: () -> TapInstant
    private let onSignal: (TapSignal) -> Void
    private var held: [UIRequest] = []
    private var presentation = PresentationWatch()
    /// A card is being waited for, and that has been told.
    private var isWaiting = false
    /// The card that was read is wanted once more, after its holder has looked at it.
    private var wantsHolder = false

    init(reader: any CardReader, clock: @escaping () -> TapInstant, onSignal: @escaping (TapSignal) -> Void) {
        self.reader = reader
        self.clock = clock
        self.onSignal = onSignal
    }

    /// The same reader for Entry Point, as it is waited on here.
    ///
    /// - Parameter pause: lets so many milliseconds pass.
    func observed(pause: @escaping (UInt64) -> Void = leaveFieldOff) -> ObservedReader {
        ObservedReader(
            PatientReader(reader, self, clock: clock, pause: pause), clock: clock,
            onWait: cardIsAwaited,
            onFound: cardFound)
    }

    func show(_ request: UIRequest) {
        if request.message == .seePhone { wantsHolder = true }
        if held.isEmpty, request.status != .cardReadSuccessfully {
            pass(request)
        } else {
            held.append(request)
        }
    }

    /// The reader is about to wait for a card again, or to switch the field off before it does: what was held is for the
    /// person who has to present it. That it was read is not: nothing has come of it.
    private func cardIsAwaited() {
        guard !isWaiting else { return }
        isWaiting = true
        held.removeAll { $0.status == .cardReadSuccessfully }
        passHeld()
        if wantsHolder { presentation.startOver() } else { presentation.readFailed() }
        wantsHolder = false
        onSignal(.cardAwaited)
    }

    private func cardFound(_ presence: CardPresence) {
        switch presence {
        case .card:
            isWaiting = false
            presentation.cardFound(at: clock())
            onSignal(.cardDetected)
        case .collision: onSignal(.collision)
        case .emptied: break
        case .unreadable: onSignal(.unreadable)
        }
    }

    // MARK: - Presentations

    /// When `timePassed` is wanted; `nil` for not at all.
    var due: TapInstant? { presentation.due }

    func timePassed() {
        guard let end = presentation.ended(at: clock()) else { return }
        reader.show(.tryAgain)
        onSignal(.presentationFailed(end))
    }

    func fieldEmptied() { presentation.fieldEmptied(at: clock()) }

    func targetFound() {
        guard presentation.targetFound(at: clock()) else { return }
        reader.show(.tryAgain)
        onSignal(.targetUnsupported)
    }

    // MARK: - The end

    /// The result has been delivered.
    ///
    /// - Parameter isSealed: there is something for the payment service.
    func settle(_ status: Outcome.Status, isSealed: Bool) {
        passHeld()
        switch status {
        case .endApplication where isSealed: reader.show(.read)
        case .approved: reader.show(.approved)
        case .onlineRequest: reader.show(.read)
        case .declined: reader.show(.declined)
        case .tryAgain, .selectNext: reader.show(.tryAgain)
        case .endApplication, .tryAnotherInterface: reader.show(.error)
        }
    }

    private func passHeld() {
        let requests = held
        held = []
        for request in requests { pass(request) }
    }

    private func pass(_ request: UIRequest) {
        onSignal(.show(request))
        switch request.status {
        case .idle: reader.show(.idle)
        case .readyToRead: reader.show(.ready)
        case .processing: reader.show(.processing)
        case .cardReadSuccessfully: reader.show(.read)
        case .processingError: reader.show(request.message.wantsAnotherTry ? .tryAgain : .error)
        case .notReady, .none: break
        }
    }
}

extension UIRequest.Message {
    /// What went wrong is over once the card, or another one, is presented again.
    fileprivate var wantsAnotherTry: Bool {
        switch self {
        case .presentCard, .presentOneCardOnly, .seePhone, .presentCardAgain: true
        case .approved, .notAuthorised, .enterPIN, .processingError, .removeCard, .welcome, .processing, .cardReadOK,
            .insertOrSwipe, .approvedPleaseSign, .authorising, .insertSwipeOrTryAnotherCard, .insertCard,
            .clearDisplay, .none:
            false
        }
    }
}
