// SPDX-License-Identifier: Apache-2.0
/// What some bytes are and say.
public struct Decoded: Equatable, Sendable, Encodable {
    /// As what the bytes were read: `tlv`, `dol`, `apdu`, `atr`, `ats`, or a tag.
    public let form: String
    /// What the whole says: an APDU's header, an ATR, a value.
    public let meanings: [Meaning]
    public let objects: [DecodedObject]
}

extension Decoded {
    /// One line each, indented by depth.
    public var lines: [String] {
        meanings.map { Decoded.line($0) } + objects.flatMap { Decoded.lines($0, depth: 0) }
    }

    private static func lines(_ object: DecodedObject, depth: Int) -> [String] {
        let indent = String(repeating: "  ", count: depth)
        var head = "\(indent)\(object.tag) "
        if let name = object.name {
            head += name
        } else if object.possibleNames.isEmpty {
            head += "unknown tag"
        } else {
            head += "one of: " + object.possibleNames.joined(separator: " | ")
        }
        head += object.length == 1 ? " (1 byte)" : " (\(object.length) bytes)"
        if let value = object.value, !value.isEmpty { head += ": \(value)" }
        if object.isHidden { head += ": hidden" }
        return [head] + object.meanings.map { "\(indent)    \(line($0))" }
            + object.children.flatMap { lines($0, depth: depth + 1) }
    }

    private static func line(_ meaning: Meaning) -> String {
        meaning.part.map { "\($0): \(meaning.text)" } ?? meaning.text
    }
}
