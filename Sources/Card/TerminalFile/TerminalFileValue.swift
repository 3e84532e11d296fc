// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import StrictJSON

/// One value of a terminal file, with the path by which errors name it.
package struct TerminalFileValue {
    private let bytes: [UInt8]
    private let index: JSONIndex
    private let node: Int
    package let path: String

    /// The root of a file.
    package init(file: [UInt8]) throws(TerminalFileError) {
        do throws(JSONIndexError) {
            index = try JSONIndex(file.span)
        } catch {
            throw TerminalFileValue.place(of: error, in: file)
        }
        bytes = file
        node = 0
        path = ""
    }

    private init(_ parent: TerminalFileValue, node: Int, path: String) {
        bytes = parent.bytes
        index = parent.index
        self.node = node
        self.path = path
    }

    /// Checks that this is an object with no member that is not in `names`.
    package func object(_ names: Set<String>) throws(TerminalFileError) {
        for member in try members() where !names.contains(member.name) { throw .unknown(member.value.path) }
    }

    /// Names and values of an object, in the order of the file.
    package func members() throws(TerminalFileError) -> [(name: String, value: TerminalFileValue)] {
        guard index.nodes[node].kind == .object else { throw .wrongType(path, expected: .object) }
        return index.children(of: node).map { child in
            let name = String(decoding: bytes[index.nodes[child].name], as: UTF8.self)
            return (name, TerminalFileValue(self, node: child, path: path.isEmpty ? name : "\(path).\(name)"))
        }
    }

    package func elements() throws(TerminalFileError) -> [TerminalFileValue] {
        guard index.nodes[node].kind == .array else { throw .wrongType(path, expected: .array) }
        return index.children(of: node).enumerated().map { position, child in
            TerminalFileValue(self, node: child, path: "\(path)[\(position)]")
        }
    }

    package func member(_ name: String) throws(TerminalFileError) -> TerminalFileValue {
        guard let value = try optional(name) else { throw .missing(path.isEmpty ? name : "\(path).\(name)") }
        return value
    }

    package func optional(_ name: String) throws(TerminalFileError) -> TerminalFileValue? {
        try members().first { $0.name == name }?.value
    }

    /// The value as it stands in the file.
    package var json: [UInt8] { Array(bytes[index.nodes[node].value]) }

    package func text() throws(TerminalFileError) -> String {
        guard let text = index.string(index.nodes[node], in: bytes.span) else {
            throw .wrongType(path, expected: .text)
        }
        return text
    }

    package func word(of words: [String]) throws(TerminalFileError) -> String {
        let word = try text()
        guard words.contains(word) else { throw .notOneOf(path, words) }
        return word
    }

    package func number(in range: ClosedRange<UInt64>) throws(TerminalFileError) -> UInt64 {
        guard index.nodes[node].kind == .number else { throw .wrongType(path, expected: .wholeNumber) }
        guard let number = index.integer(index.nodes[node], in: bytes.span), range.contains(number) else {
            throw .outOfRange(path, range)
        }
        return number
    }

    package func flag() throws(TerminalFileError) -> Bool {
        guard index.nodes[node].kind == .literal else { throw .wrongType(path, expected: .yesOrNo) }
        switch bytes[index.nodes[node].value.lowerBound] {
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        default: throw .wrongType(path, expected: .yesOrNo)
        }
    }

    package func hexadecimal(_ count: ClosedRange<Int>) throws(TerminalFileError) -> [UInt8] {
        let text = try text()
        do throws(HexError) {
            let bytes = try Hex.bytes(text)
            if count.contains(bytes.count) { return bytes }
        } catch {
            throw .hexadecimal(path, bytes: count)
        }
        throw .hexadecimal(path, bytes: count)
    }

    private static func place(of error: JSONIndexError, in file: [UInt8]) -> TerminalFileError {
        let offset =
            switch error {
            case .truncated: file.count
            case .unexpected(let offset), .nestedTooDeep(let offset), .duplicateMember(let offset),
                .tooManyMembers(let offset):
                offset
            }
        let before = file.prefix(offset)
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return .syntax(line: before.count { $0 == 0x0A } + 1, column: offset - lineStart + 1)
    }
}
