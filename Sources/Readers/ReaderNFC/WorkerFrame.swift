// SPDX-License-Identifier: Apache-2.0
/// One message on the socket between a reader and its worker process.
///
/// Layout, all integers big-endian: length (2, counts what follows, 5…1024) ‖ kind (1) ‖ id (4) ‖ payload. An answer
/// carries the id of its request; one request is under way at a time.
package struct WorkerFrame: Equatable {
    /// Largest value of the length field. An R-APDU of 258 bytes and every other message fit in.
    package static let longest = 1024
    private static let headerLength = 5

    package let kind: UInt8
    package let id: UInt32
    package let payload: [UInt8]

    /// The frame as it is sent; `nil` where the payload is too long.
    package var bytes: [UInt8]? {
        let length = WorkerFrame.headerLength + payload.count
        guard length <= WorkerFrame.longest else { return nil }
        return UInt16(truncatingIfNeeded: length).bigEndianBytes + [kind] + id.bigEndianBytes + payload
    }

    /// Takes the first frame out of what has been received.
    ///
    /// - Returns: `nil` while the frame is incomplete.
    /// - Throws: `.badLength` for a length outside 5…1024: the stream cannot be followed any further.
    package static func take(from received: inout [UInt8]) throws(WorkerProtocolError) -> WorkerFrame? {
        guard received.count >= 2 else { return nil }
        let length = Int(received[0]) << 8 | Int(received[1])
        guard (headerLength...longest).contains(length) else { throw .badLength(length) }
        guard received.count >= 2 + length else { return nil }
        var fields = WorkerFields(received[2..<2 + length])
        let frame = WorkerFrame(kind: try fields.byte(), id: try fields.integer(), payload: fields.rest())
        received.removeFirst(2 + length)
        return frame
    }
}

/// Why bytes from the other side of the worker's socket are no message.
package enum WorkerProtocolError: Error, Equatable {
    case badLength(Int)
    case truncated
    case trailingBytes(Int)
    case unknownKind(UInt8)
    case unknownValue(UInt8)
}

/// The fields of a frame, taken from the left.
struct WorkerFields {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { self.bytes = ArraySlice(bytes) }

    mutating func byte() throws(WorkerProtocolError) -> UInt8 {
        guard let byte = bytes.popFirst() else { throw .truncated }
        return byte
    }

    mutating func integer() throws(WorkerProtocolError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 { value = value << 8 | UInt32(try byte()) }
        return value
    }

    /// Bytes with a length byte before them, at most `most`.
    mutating func counted(most: Int) throws(WorkerProtocolError) -> [UInt8] {
        let count = Int(try byte())
        guard count <= most else { throw .badLength(count) }
        guard count <= bytes.count else { throw .truncated }
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }

    mutating func rest() -> [UInt8] {
        defer { bytes = [] }
        return Array(bytes)
    }

    func end() throws(WorkerProtocolError) {
        guard bytes.isEmpty else { throw .trailingBytes(bytes.count) }
    }
}

extension FixedWidthInteger {
    var bigEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}
