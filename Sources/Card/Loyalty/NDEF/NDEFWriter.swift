// SPDX-License-Identifier: Apache-2.0
/// Builds an NDEF message. Payloads above 255 bytes take the long form of the record.
public struct NDEFWriter: Sendable {
    private struct Record: Sendable {
        let format: NDEFRecord.Format
        let type: [UInt8]
        let id: [UInt8]
        let payload: [UInt8]
    }

    private var records: [Record] = []

    public init() {}

    /// Appends a record. Type and id: at most 255 bytes each.
    public mutating func append(
        _ format: NDEFRecord.Format, type: String, id: String = "", payload: [UInt8]
    ) {
        records.append(
            Record(
                format: format, type: Array(type.utf8.prefix(255)), id: Array(id.utf8.prefix(255)), payload: payload))
    }

    /// Appends an external record whose payload is itself a message.
    public mutating func append(external type: String, prefix: [UInt8] = [], _ body: (inout NDEFWriter) -> Void) {
        var inner = NDEFWriter()
        body(&inner)
        append(.external, type: type, payload: prefix + inner.bytes)
    }

    /// The message with the flags for its first and its last record.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for (index, record) in records.enumerated() {
            let isShort = record.payload.count <= 255
            bytes.append(
                (index == 0 ? 0x80 : 0) | (index == records.count - 1 ? 0x40 : 0) | (isShort ? 0x10 : 0)
                    | (record.id.isEmpty ? 0 : 0x08) | record.format.rawValue)
            bytes.append(UInt8(truncatingIfNeeded: record.type.count))
            let length = UInt32(truncatingIfNeeded: record.payload.count)
            for shift in (isShort ? [0] : [24, 16, 8, 0]) as [UInt32] {
                bytes.append(UInt8(truncatingIfNeeded: length >> shift))
            }
            if !record.id.isEmpty { bytes.append(UInt8(truncatingIfNeeded: record.id.count)) }
            bytes += record.type + record.id + record.payload
        }
        return bytes
    }
}
