// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// A reader that hands on to another one whatever it does not do itself. All calls are forwarded here and nowhere else, so
/// that none can be forgotten.
public protocol ForwardingReader: CardReader {
    /// The reader that everything is handed on to.
    var reader: any CardReader { get }
}

extension ForwardingReader {
    public var identity: ReaderIdentity { reader.identity }

    public var broadcast: [UInt8] {
        get { reader.broadcast }
        set { reader.broadcast = newValue }
    }

    public func activate(
        until deadline: TapInstant, cancellation: TapCancellation
    ) throws(ReaderError) -> CardPresence {
        try reader.activate(until: deadline, cancellation: cancellation)
    }

    public func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        try reader.transmit(command, until: deadline)
    }

    public func release() { reader.release() }

    public func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {
        try reader.waitForRemoval(until: deadline, cancellation: cancellation)
    }

    public func check() throws(ReaderError) { try reader.check() }

    public func show(_ feedback: ReaderFeedback) { reader.show(feedback) }

    public func close() { reader.close() }
}
