import EMV
import ReaderCore

/// Brings UI requests to the outside world and to the reader's own lamps, and holds back the one that means "read":
/// until the result is safe nobody may believe it.
struct TapDisplay {
    private let reader: any CardReader
    private let onSignal: (TapSignal) -> Void
    private var held: UIRequest?

    init(reader: any CardReader, onSignal: @escaping (TapSignal) -> Void) {
        self.reader = reader
        self.onSignal = onSignal
    }

    mutating func show(_ request: UIRequest) {
        releaseHeld()
        if request.status == .cardReadSuccessfully {
            held = request
        } else {
            pass(request)
        }
    }

    /// The result has been delivered.
    mutating func settle(_ status: Outcome.Status) {
        releaseHeld()
        switch status {
        case .approved: reader.show(.approved)
        case .onlineRequest: reader.show(.read)
        case .declined: reader.show(.declined)
        case .tryAgain, .selectNext: reader.show(.tryAgain)
        case .endApplication, .tryAnotherInterface: reader.show(.error)
        }
    }

    private mutating func releaseHeld() {
        guard let request = held else { return }
        held = nil
        pass(request)
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
