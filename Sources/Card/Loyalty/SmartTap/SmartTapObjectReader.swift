// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Reads the objects out of a bundle that was checked and decrypted: an NDEF message of `asv` records.
public enum SmartTapObjectReader {
    /// More objects than this in one bundle are refused.
    public static let maximumObjects = 32

    /// Unknown records are left out: the format grows.
    ///
    /// - Returns: `nil` where a message is damaged or a known value is not what its format says.
    public static func objects(_ bundle: SecretBytes) -> [SmartTapObject]? {
        bundle.withSpan { bytes in try? objects(bytes) }
    }

    private static func objects(_ bytes: borrowing Span<UInt8>) throws(NDEFError) -> [SmartTapObject] {
        var objects: [SmartTapObject] = []
        guard bytes.count > 0 else { return [] }
        for service in try NDEF.records(bytes) where service.isNamed("asv", in: bytes) {
            let parts = try NDEF.records(bytes, in: service.payload)
            let owner = parts.first { $0.isNamed("i", in: bytes) }.flatMap { issuer(bytes, $0.payload) }
            for part in parts {
                guard let kind = SmartTapObject.Kind.allCases.first(where: { named(part, $0.rawValue, bytes) }) else {
                    continue
                }
                guard objects.count < maximumObjects else { throw .tooManyRecords }
                objects.append(
                    SmartTapObject(kind: kind, issuer: owner, values: try values(bytes, in: part.payload)))
            }
        }
        return objects
    }

    private static func values(
        _ bytes: borrowing Span<UInt8>, in range: Range<Int>
    ) throws(NDEFError) -> [SmartTapObject.Value] {
        var values: [SmartTapObject.Value] = []
        for record in try NDEF.records(bytes, in: range) {
            guard let field = SmartTapObject.Field.allCases.first(where: { named(record, $0.rawValue, bytes) }) else {
                continue
            }
            guard let value = value(field, record, bytes) else {
                throw .truncated(offset: record.payload.lowerBound)
            }
            values.append(value)
        }
        return values
    }

    /// A text record (its name is the id), or a primitive one (its name is the type): a format byte and the data.
    private static func value(
        _ field: SmartTapObject.Field, _ record: NDEFRecord, _ bytes: borrowing Span<UInt8>
    ) -> SmartTapObject.Value? {
        if record.isType(.wellKnown, "T", in: bytes) {
            guard let text = NDEFText(bytes, record.payload), let value = text.value(in: bytes) else { return nil }
            return SmartTapObject.Value(field: field, bytes: value, language: text.language)
        }
        guard let first = record.payload.first else { return nil }
        let data = record.payload.dropFirst()
        let value: SecretBytes? =
            switch bytes[first] {
            // Format 05 is taken for packed digits; no published sample shows it.
            case 0x01, 0x02: SecretText.utf8(bytes, data)
            case 0x03: SecretText.utf16(bytes, data)
            case 0x05: SecretText.digits(bytes, data)
            default: SecretText.copy(bytes, data)
            }
        return value.map { SmartTapObject.Value(field: field, bytes: $0, language: "") }
    }

    private static func issuer(_ bytes: borrowing Span<UInt8>, _ payload: Range<Int>) -> SmartTapIssuer? {
        guard payload.count == 6, bytes[payload.lowerBound] == 0x04,
            let kind = SmartTapIssuer.Kind(rawValue: bytes[payload.lowerBound + 1])
        else { return nil }
        var id: [UInt8] = []
        for index in payload.dropFirst(2) { id.append(bytes[index]) }
        return SmartTapIssuer(kind: kind, id: id)
    }

    private static func named(_ record: NDEFRecord, _ name: String, _ bytes: borrowing Span<UInt8>) -> Bool {
        matches(bytes, record.type, name) || matches(bytes, record.id, name)
    }

    private static func matches(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>, _ name: String) -> Bool {
        guard range.count == name.utf8.count else { return false }
        for (index, unit) in zip(range, name.utf8) where bytes[index] != unit { return false }
        return true
    }
}
