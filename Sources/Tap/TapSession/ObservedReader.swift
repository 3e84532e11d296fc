// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore

/// A reader that tells when a card shows up and lets none in after the deadline; everything else is the reader's own.
final class ObservedReader: ForwardingReader {
    let reader: any CardReader
    private let clock: () -> TapInstant
    private let onWait: () -> Void
    private let onFound: (CardPresence) -> Void
    /// When the card that is read now answered for the first time.
    private(set) var cardDetected: TapInstant?
    /// When it answered its first SELECT, which is that of the PPSE.
    private(set) var directoryRead: TapInstant?
    /// What it answered then.
    private(set) var directory: ResponseAPDU?
    /// When it answered GET PROCESSING OPTIONS, the last one.
    private(set) var optionsRead: TapInstant?
    /// What it was told and what it said, on the air.
    private(set) var air = AirTime()

    /// - Parameters:
    ///   - onWait: called before each wait for a card, and before the field is off for it.
    ///   - onFound: called with what was found.
    init(
        _ reader: any CardReader, clock: @escaping () -> TapInstant, onWait: @escaping () -> Void,
        onFound: @escaping (CardPresence) -> Void
    ) {
        self.reader = reader
        self.clock = clock
        self.onWait = onWait
        self.onFound = onFound
    }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        onWait()
        // A card that stays and asks for another presentation each time would otherwise keep the reader for ever.
        guard clock() < deadline else { throw .timedOut }
        let presence = try reader.activate(until: deadline, cancellation: cancellation)
        if case .card = presence {
            cardDetected = clock()
            (directoryRead, directory, optionsRead, air) = (nil, nil, nil, AirTime())
        }
        onFound(presence)
        return presence
    }

    func release() {
        onWait()
        reader.release()
    }

    func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        let response = try reader.transmit(command, until: deadline)
        air.add(command.bytes.count)
        air.add(response.bytes.count)
        switch command.ins {
        case 0xA4 where directoryRead == nil: (directoryRead, directory) = (clock(), response)
        case 0xA8: optionsRead = clock()
        default: break
        }
        return response
    }
}
