// SPDX-License-Identifier: Apache-2.0
/// A message as its fields say it, whatever an acquirer packs them in.
///
/// A value is the characters of the field in ASCII, one byte each, with the padding that belongs to the field (`M-4711` and nine
/// blanks in field 42); of a binary field it is the bytes. Track 2 is separated by `D`. Descriptions show listed fields only.
public struct ISOMessage: Equatable, Sendable {
    public var type: MessageType
    private var values: [Int: [UInt8]] = [:]

    public init(_ type: MessageType) { self.type = type }

    /// The value of a field from 2 to 128; others are not kept: bitmaps follow from the fields.
    public subscript(field: Int) -> [UInt8]? {
        get { values[field] }
        set { if (2...128).contains(field) { values[field] = newValue } }
    }

    /// Numbers of the fields that are there, in order.
    public var fields: [Int] { values.keys.sorted() }

    public func text(_ field: Int) -> String? { values[field].map { String(decoding: $0, as: UTF8.self) } }

    public mutating func set(_ field: Int, _ text: String) { self[field] = Array(text.utf8) }

    /// The same message with these fields alone.
    public func keeping(_ fields: some Sequence<Int>) -> ISOMessage {
        var kept = ISOMessage(type)
        for field in fields { kept[field] = self[field] }
        return kept
    }
}

extension ISOMessage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What may be printed. Field 2 by its last four digits; every other field that is not here by its length.
    private static let shown: Set<Int> = [
        3, 4, 7, 11, 12, 13, 15, 18, 22, 24, 25, 32, 33, 37, 38, 39, 41, 42, 49, 50, 66, 70, 74, 75, 76, 77, 86, 87, 88,
        89, 90, 97,
    ]

    public var description: String {
        let number = values[2] ?? []
        let parts = values.sorted { $0.key < $1.key }.map { field, value in
            if field == 2, value.count >= 13 { return "2=…" + String(decoding: value.suffix(4), as: UTF8.self) }
            // A host that copies the card number into a field that is shown must not bring it into a log.
            let isCopy = number.count >= 8 && value.count >= number.count && Self.contains(value, number)
            guard Self.shown.contains(field), !isCopy, value.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                return "\(field)=<\(value.count)>"
            }
            return "\(field)=" + String(decoding: value, as: UTF8.self)
        }
        return ([type.description] + parts).joined(separator: " ")
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }

    private static func contains(_ value: [UInt8], _ part: [UInt8]) -> Bool {
        (0...(value.count - part.count)).contains { value[$0...].starts(with: part) }
    }
}
