// SPDX-License-Identifier: Apache-2.0
/// Header fields in order (RFC 9110 §5). Names compare without regard to ASCII case.
public struct HTTPFields: Equatable, Sendable {
    public struct Field: Equatable, Sendable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    public private(set) var fields: [Field] = []

    public init() {}

    /// The value of the only field with this name. `nil` where there is none, or more than one: a field that must be
    /// unique and is not has no value that could be trusted.
    public func only(_ name: String) -> String? {
        let values = all(name)
        return values.count == 1 ? values.first : nil
    }

    /// The values of all fields with this name, in order.
    public func all(_ name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    public func contains(_ name: String) -> Bool {
        fields.contains { Self.isSame($0.name, name) }
    }

    /// Appends a field. CR, LF and NUL in the value become spaces (RFC 9110 §5.5), so that no value can start a line.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: Self.singleLine(value)))
    }

    /// Replaces every field of this name by one.
    public mutating func set(_ name: String, _ value: String) {
        fields.removeAll { Self.isSame($0.name, name) }
        append(name, value)
    }

    private static func singleLine(_ value: String) -> String {
        guard value.utf8.contains(where: isLineBreak) else { return value }
        return String(decoding: value.utf8.map { isLineBreak($0) ? 0x20 : $0 }, as: UTF8.self)
    }

    private static func isLineBreak(_ byte: UInt8) -> Bool { byte == 0x0D || byte == 0x0A || byte == 0 }

    private static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }
}
