// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Reads the NDEF message of a Type 4 tag (NFC Forum T4T §5.4).
public struct Type4Read: TapMachine, Sendable {
    /// Messages above this many bytes are refused.
    public static let maximumMessageLength = 8_192
    /// Application D2760000850101.
    public static let application: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]

    private enum Phase {
        case idle
        case activating
        case selectingApplication
        case selectingContainer
        case readingContainer
        case selectingFile(Type4CapabilityContainer)
        case readingLength(Type4CapabilityContainer)
        /// Total number of bytes that NLEN announced.
        case reading(Type4CapabilityContainer, length: Int)
        case finished
    }

    private var phase = Phase.idle
    private var message: [UInt8] = []

    public init() {}

    public mutating func start(now: TapInstant) -> TapStep<LoyaltySignal, Type4Outcome> {
        phase = .activating
        return Step(.activate(fieldOffMilliseconds: 0), signals: [.readyForPass])
    }

    public mutating func activated(_ card: CardActivation, now: TapInstant) -> TapStep<LoyaltySignal, Type4Outcome> {
        guard case .activating = phase else { return finish(.cardLost) }
        var step = enter()
        step.signals = [.reading]
        return step
    }

    public mutating func collided(now: TapInstant) -> TapStep<LoyaltySignal, Type4Outcome> { finish(.cardLost) }

    public mutating func cardLost(now: TapInstant) -> TapStep<LoyaltySignal, Type4Outcome> { finish(.cardLost) }

    public mutating func stop(now: TapInstant) -> Type4Outcome {
        phase = .finished
        wipe(&message)
        return .cardLost
    }

    /// Begins on a card that is activated already.
    public mutating func enter() -> TapStep<LoyaltySignal, Type4Outcome> {
        phase = .selectingApplication
        return send { () throws(APDUError) in try .select(Type4Read.application) }
    }

    public mutating func received(
        _ response: ResponseAPDU, now: TapInstant
    ) -> TapStep<LoyaltySignal, Type4Outcome> {
        if case .selectingApplication = phase, !response.status.isSuccess { return finish(.noNDEF(response.status)) }
        guard response.status.isSuccess else { return finish(.refused(response.status)) }
        switch phase {
        case .idle, .activating, .finished:
            return finish(.cardLost)
        case .selectingApplication:
            return selectFile([0xE1, 0x03], then: .selectingContainer)
        case .selectingContainer:
            phase = .readingContainer
            return read(offset: 0, count: 15)
        case .readingContainer:
            guard let container = Type4CapabilityContainer(response.data), container.readAccess == 0 else {
                return finish(.malformed)
            }
            return selectFile(container.fileID, then: .selectingFile(container))
        case .selectingFile(let container):
            phase = .readingLength(container)
            return read(offset: 0, count: 2)
        case .readingLength(let container):
            return lengthRead(response.data, container)
        case .reading(let container, let length):
            return pieceRead(response.data, container, length: length)
        }
    }

    private mutating func lengthRead(
        _ data: [UInt8], _ container: Type4CapabilityContainer
    ) -> TapStep<LoyaltySignal, Type4Outcome> {
        guard data.count == 2 else { return finish(.malformed) }
        let length = Int(data[0]) << 8 | Int(data[1])
        // The size that the container tells is not held against it: some tags understate it.
        guard length <= Type4Read.maximumMessageLength else { return finish(.tooLarge) }
        guard length > 0 else { return finish(.message(SecretBytes([]))) }
        message.reserveCapacity(length)
        phase = .reading(container, length: length)
        return readPiece(container, length: length)
    }

    private mutating func pieceRead(
        _ data: [UInt8], _ container: Type4CapabilityContainer, length: Int
    ) -> TapStep<LoyaltySignal, Type4Outcome> {
        guard !data.isEmpty, data.count <= length - message.count else { return finish(.malformed) }
        message += data
        if message.count < length { return readPiece(container, length: length) }
        return finish(.message(SecretBytes(message)))
    }

    private mutating func readPiece(
        _ container: Type4CapabilityContainer, length: Int
    ) -> TapStep<LoyaltySignal, Type4Outcome> {
        // One byte below the longest short answer keeps clear of drivers that count the status word.
        let count = min(container.maximumReadLength, length - message.count, 0xFB)
        return read(offset: 2 + message.count, count: count)
    }

    private mutating func selectFile(_ id: [UInt8], then next: Phase) -> TapStep<LoyaltySignal, Type4Outcome> {
        phase = next
        return send { () throws(APDUError) in try CommandAPDU(cla: 0x00, ins: 0xA4, p1: 0x00, p2: 0x0C, data: id) }
    }

    private mutating func read(offset: Int, count: Int) -> TapStep<LoyaltySignal, Type4Outcome> {
        send { () throws(APDUError) in
            try CommandAPDU(
                cla: 0x00, ins: 0xB0, p1: UInt8(truncatingIfNeeded: offset >> 8),
                p2: UInt8(truncatingIfNeeded: offset), le: count)
        }
    }

    private mutating func send(
        _ make: () throws(APDUError) -> CommandAPDU
    ) -> TapStep<LoyaltySignal, Type4Outcome> {
        guard let command = try? make() else { return finish(.malformed) }
        return Step(.transmit(command))
    }

    private mutating func finish(_ outcome: Type4Outcome) -> TapStep<LoyaltySignal, Type4Outcome> {
        phase = .finished
        wipe(&message)
        message = []
        return Step(.finished(outcome))
    }
}

extension Type4Read: CustomStringConvertible, CustomReflectable {
    public var description: String { "<Type 4 read, \(message.count) bytes>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// How reading a Type 4 tag ended.
public enum Type4Outcome: Sendable {
    /// The NDEF message, possibly empty.
    case message(SecretBytes)
    /// The card has no NDEF application.
    case noNDEF(StatusWord)
    /// A later command was refused.
    case refused(StatusWord)
    case malformed
    case tooLarge
    case cardLost
}
