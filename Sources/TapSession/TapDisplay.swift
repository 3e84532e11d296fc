// SPDX-License-Identifier: Apache-2.0
import EMV
import ReaderCore

/// Brings UI requests to the outside world and to the reader's own lamps. From the one that means "read" on it holds them
/// back: until the result is safe nobody may believe it.
final class TapDisplay {
    private let reader: any CardReader
    private let onSignal: (TapSignal) -> Void
    private var held: [UIRequest] = []

    init(reader: any CardReader, onSignal: @escaping (TapSignal) -> Void) {
        self.reader = reader
        self.onSignal = onSignal
    }

    func show(_ request: UIRequest) {
        if held.isEmpty, request.status != .cardReadSuccessfully {
            pass(request)
        } else {
            held.append(request)
        }
    }

    /// The reader is about to wait for a card again: what was held is for the person who has to present it.
    func cardIsAwaited() {
        passHeld()
        onSignal(.cardAwaited)
    }

    func cardFound(_ presence: CardPresence) {
        switch presence {
        case .card: onSignal(.cardDetected)
        case .collision: onSignal(.collision)
        case .emptied: break
        }
    }

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
        case .processingError: reader.show(.error)
        case .notReady, .none: break
        }
    }
}
