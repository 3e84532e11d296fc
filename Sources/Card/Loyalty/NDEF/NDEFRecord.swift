// SPDX-License-Identifier: Apache-2.0
internal import CardBytes

/// One record of an NDEF message: where its parts stand in the buffer that was read. Nothing is copied, so that
/// messages in `SecretBytes` stay there.
public struct NDEFRecord: Equatable, Sendable {
    /// Type name format, low three bits of the header (NFC Forum NDEF §3.2.6).
    public enum Format: UInt8, Sendable, CaseIterable {
        case empty = 0
        case wellKnown = 1
        case media = 2
        case absoluteURI = 3
        case external = 4
        case unknown = 5
    }

    public let format: Format
    public let type: Range<Int>
    /// Empty where the record has none.
    public let id: Range<Int>
    public let payload: Range<Int>

    /// Whether `name` stands in the type or, as Smart Tap has it for text records, in the id.
    public func isNamed(_ name: StaticString, in bytes: borrowing Span<UInt8>) -> Bool {
        NDEF.equal(bytes, type, name) || NDEF.equal(bytes, id, name)
    }

    /// Whether this is a record of `format` whose type is exactly `name`.
    public func isType(_ format: Format, _ name: StaticString, in bytes: borrowing Span<UInt8>) -> Bool {
        self.format == format && NDEF.equal(bytes, type, name)
    }
}

/// Reads NDEF messages (NFC Forum NDEF 1.0 §3).
public enum NDEF {
    /// More records than this in one message are refused.
    public static let maximumRecords = 64

    /// The records of the message that fills `range` (`nil`: all of `bytes`) exactly.
    ///
    /// - Throws: `NDEFError` at the first record that is no NDEF, or for more than `maximumRecords`.
    public static func records(
        _ bytes: borrowing Span<UInt8>, in range: Range<Int>? = nil
    ) throws(NDEFError) -> [NDEFRecord] {
        let end = min(bytes.count, range?.upperBound ?? bytes.count)
        var offset = max(0, range?.lowerBound ?? 0)
        var records: [NDEFRecord] = []
        var isLast = false
        while offset < end {
            guard !isLast else { throw .bytesAfterLast(offset: offset) }
            guard records.count < maximumRecords else { throw .tooManyRecords }
            let header = bytes[offset]
            guard (header & 0x80 != 0) == records.isEmpty else { throw .misplacedBegin(offset: offset) }
            isLast = header & 0x40 != 0
            let record = try record(bytes, at: offset, end: end)
            records.append(record)
            offset = record.payload.upperBound
        }
        guard isLast else { throw .truncated(offset: end) }
        return records
    }

    /// As `records`, of an array.
    ///
    /// - Throws: `NDEFError`, as `records`.
    public static func records(of message: [UInt8]) throws(NDEFError) -> [NDEFRecord] {
        try records(message.span)
    }

    private static func record(
        _ bytes: borrowing Span<UInt8>, at start: Int, end: Int
    ) throws(NDEFError) -> NDEFRecord {
        let header = bytes[start]
        guard header & 0x20 == 0 else { throw .chunked(offset: start) }
        guard let format = NDEFRecord.Format(rawValue: header & 0x07) else { throw .unsupportedFormat(offset: start) }
        let isShort = header & 0x10 != 0
        let hasID = header & 0x08 != 0
        let fixed = 2 + (isShort ? 1 : 4) + (hasID ? 1 : 0)
        guard end - start >= fixed else { throw .truncated(offset: start) }
        let typeLength = Int(bytes[start + 1])
        var payloadLength = Int(bytes[start + 2])
        if !isShort {
            for index in 3...5 { payloadLength = payloadLength << 8 | Int(bytes[start + index]) }
        }
        let idLength = hasID ? Int(bytes[start + fixed - 1]) : 0
        // Lengths are below 2^32 and 2^8: their sum fits into Int.
        guard end - start - fixed >= typeLength + idLength + payloadLength else { throw .truncated(offset: start) }
        guard format != .empty || typeLength + idLength + payloadLength == 0 else {
            throw .unsupportedFormat(offset: start)
        }
        let type = start + fixed
        let id = type + typeLength
        let payload = id + idLength
        return NDEFRecord(format: format, type: type..<id, id: id..<payload, payload: payload..<payload + payloadLength)
    }

    static func equal(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>, _ name: StaticString) -> Bool {
        guard range.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { buffer in
            var matches = true
            for index in 0..<range.count where unsafe buffer[index] != bytes[range.lowerBound + index] {
                matches = false
            }
            return matches
        }
    }
}

/// Why bytes are no NDEF message. Offsets count from the start of the buffer.
public enum NDEFError: Error, Equatable, Sendable {
    /// A record, or the record that ends the message, is missing or cut off.
    case truncated(offset: Int)
    /// The flag that begins a message stands elsewhere, or is missing at its start.
    case misplacedBegin(offset: Int)
    case bytesAfterLast(offset: Int)
    /// Chunked records are not supported: no pass uses them.
    case chunked(offset: Int)
    /// A reserved type name format, or an empty record that is not empty.
    case unsupportedFormat(offset: Int)
    case tooManyRecords
}

extension NDEFError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated(let offset): "NDEF message cut off at offset \(offset)"
        case .misplacedBegin(let offset): "wrong message-begin flag at offset \(offset)"
        case .bytesAfterLast(let offset): "bytes after the last NDEF record at offset \(offset)"
        case .chunked(let offset): "chunked NDEF record at offset \(offset)"
        case .unsupportedFormat(let offset): "unsupported type name format at offset \(offset)"
        case .tooManyRecords: "more than \(NDEF.maximumRecords) NDEF records"
        }
    }
}
