// SPDX-License-Identifier: Apache-2.0
/// The few NDEF records that wallets and tags in software build and read. Not the readers' code: what one side gets
/// wrong, the other must notice.
enum WalletNDEF {
    static let oseName = Array("OSE.VAS.01".utf8)

    /// A record in the middle of a message; `message` sets the flags of the first and the last.
    ///
    /// - Parameter format: type name format: 4 external, 1 well-known.
    static func record(_ type: String, format: UInt8 = 4, id: String = "", _ payload: [UInt8]) -> [UInt8] {
        let count = payload.count
        let isShort = count < 256
        let length: [UInt8] =
            isShort
            ? [UInt8(truncatingIfNeeded: count)]
            : [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
        let header = format | (isShort ? 0x10 : 0) | (id.isEmpty ? 0 : 0x08)
        let idLength: [UInt8] = id.isEmpty ? [] : [UInt8(truncatingIfNeeded: id.utf8.count)]
        return [header, UInt8(truncatingIfNeeded: type.utf8.count)] + length + idLength + Array(type.utf8)
            + Array(id.utf8) + payload
    }

    static func message(_ records: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, record) in records.enumerated() {
            let start = bytes.count
            bytes += record
            if index == 0 { bytes[start] |= 0x80 }
            if index == records.count - 1 { bytes[start] |= 0x40 }
        }
        return bytes
    }

    /// Type (or id, where the type is one of the well-known ones) and payload of each record; `nil` for damage.
    static func records(_ bytes: some Collection<UInt8>) -> [(name: String, payload: [UInt8])]? {
        var rest = Array(bytes)[...]
        var records: [(name: String, payload: [UInt8])] = []
        while let header = rest.popFirst() {
            guard let typeLength = rest.popFirst() else { return nil }
            var length = 0
            for _ in 0..<(header & 0x10 != 0 ? 1 : 4) {
                guard let byte = rest.popFirst() else { return nil }
                length = length << 8 | Int(byte)
            }
            var idLength = 0
            if header & 0x08 != 0 {
                guard let byte = rest.popFirst() else { return nil }
                idLength = Int(byte)
            }
            guard rest.count >= Int(typeLength) + idLength + length else { return nil }
            let type = rest.prefix(Int(typeLength))
            rest = rest.dropFirst(Int(typeLength))
            let id = rest.prefix(idLength)
            rest = rest.dropFirst(idLength)
            let name = header & 0x07 == 1 && !id.isEmpty ? id : type
            records.append((String(decoding: name, as: UTF8.self), Array(rest.prefix(length))))
            rest = rest.dropFirst(length)
        }
        return records
    }
}
