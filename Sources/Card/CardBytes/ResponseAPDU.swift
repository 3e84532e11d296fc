// SPDX-License-Identifier: Apache-2.0
/// A response APDU: up to 256 data bytes (short) and the status word.
public struct ResponseAPDU: Equatable, Sendable {
    public let data: [UInt8]
    public let status: StatusWord

    public init(data: [UInt8] = [], status: StatusWord) {
        self.data = data
        self.status = status
    }

    /// Splits what a reader returned.
    ///
    /// - Throws: `.truncated` for fewer than 2 bytes: a card that left the field mid-answer.
    public init(_ bytes: [UInt8]) throws(APDUError) {
        guard bytes.count >= 2 else { throw .truncated(bytes.count) }
        data = Array(bytes[..<(bytes.count - 2)])
        status = StatusWord(sw1: bytes[bytes.count - 2], sw2: bytes[bytes.count - 1])
    }

    public var bytes: [UInt8] { data + status.bytes }
}
