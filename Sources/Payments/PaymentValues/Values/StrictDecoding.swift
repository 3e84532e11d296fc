// SPDX-License-Identifier: Apache-2.0
/// Any member name at all, to see what a message really holds.
private struct MemberName: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init?(intValue: Int) { nil }
}

extension Decoder {
    /// The members of a request. A name that `Key` does not know is refused, so that a typo never changes a payment.
    ///
    /// - Parameter others: names that something else reads.
    /// - Throws: `WireError` with `request.unknown_field` and the path of the first such name in alphabetical order.
    package func strictContainer<Key: CodingKey & CaseIterable>(
        keyedBy type: Key.Type, besides others: Set<String> = []
    ) throws -> KeyedDecodingContainer<Key> {
        let known = Set(Key.allCases.map(\.stringValue)).union(others)
        let present = try container(keyedBy: MemberName.self).allKeys.map(\.stringValue)
        if let unknown = present.filter({ !known.contains($0) }).min() {
            throw WireError(
                .requestUnknownField, field: WireError.path(codingPath + [MemberName(stringValue: unknown)]))
        }
        return try container(keyedBy: type)
    }

    /// A value of this message that breaks one of its rules.
    package func refusal(_ code: ErrorCode, at key: (any CodingKey)? = nil) -> WireError {
        WireError(code, field: WireError.path(key.map { codingPath + [$0] } ?? codingPath))
    }
}

extension KeyedDecodingContainer {
    /// A whole number. A number with a fraction, or beyond `Number`, is a wrong value of this member, while the decoder
    /// by itself takes the whole message for damaged.
    package func decodeWhole<Number: FixedWidthInteger & Decodable>(_ type: Number.Type, forKey key: Key) throws
        -> Number
    {
        do {
            return try decode(type, forKey: key)
        } catch let error as DecodingError {
            throw error
        } catch {
            throw WireError(.requestInvalidField, field: WireError.path(codingPath + [key]))
        }
    }
}
