// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Finds a member that an object has twice: of two readers one would take the first, the other the last, and each another
/// amount. Takes JSON that a decoder has understood.
struct DuplicateMember {
    /// The name of the first one; `nil` where each stands once.
    static func name(in json: [UInt8]) -> String? {
        var finder = DuplicateMember()
        return finder.find(in: json.span)
    }

    /// Names of the objects that are open; `nil` for an array.
    private var open: [Set<String>?] = []
    private var isNameNext = false

    private mutating func find(in json: Span<UInt8>) -> String? {
        var position = 0
        while position < json.count {
            switch json[position] {
            case UInt8(ascii: "{"):
                open.append([])
                isNameNext = true
            case UInt8(ascii: "["):
                open.append(nil)
                isNameNext = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                isNameNext = false
            case UInt8(ascii: ","): isNameNext = open.last.flatMap { $0 } != nil
            case UInt8(ascii: "\""):
                let end = DuplicateMember.end(ofStringAt: position, in: json)
                if isNameNext, let name = take(json.extracting(position..<end)) { return name }
                isNameNext = false
                position = end
                continue
            default: break
            }
            position += 1
        }
        return nil
    }

    /// - Returns: the name, where the object has it already.
    private mutating func take(_ text: Span<UInt8>) -> String? {
        guard !open.isEmpty, let name = DuplicateMember.name(text) else { return nil }
        let isNew = open[open.count - 1]?.insert(name).inserted ?? true
        return isNew ? nil : name
    }

    /// - Parameter text: a string of JSON with its quotes.
    private static func name(_ text: Span<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var isEscaped = false
        for position in text.indices {
            bytes.append(text[position])
            if text[position] == UInt8(ascii: "\\") { isEscaped = true }
        }
        // An escaped letter is the letter. Hardly any name has one, and a decoder for each costs more than the message.
        if isEscaped { return try? JSONDecoder().decode(String.self, from: Data(bytes)) }
        return String(validating: bytes.dropFirst().dropLast(), as: UTF8.self)
    }

    /// The position after a string's closing mark.
    private static func end(ofStringAt start: Int, in json: Span<UInt8>) -> Int {
        var position = start + 1
        while position < json.count {
            switch json[position] {
            case UInt8(ascii: "\\"): position += 2
            case UInt8(ascii: "\""): return position + 1
            default: position += 1
            }
        }
        return json.count
    }
}
