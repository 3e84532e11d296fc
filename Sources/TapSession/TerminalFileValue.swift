import CardBytes
import Envelope

/// One value of a terminal file, with the path by which errors name it.
struct TerminalFileValue {
    private let bytes: [UInt8]
    private let json: JSONIndex
    private let node: Int
    let path: String

    /// The root of a file.
    init(file: [UInt8]) throws(TerminalFileError) {
        do throws(JSONIndexError) {
            json = try JSONIndex(file.span)
        } catch {
            throw TerminalFileValue.place(of: error, in: file)
        }
        bytes = file
        node = 0
        path = ""
    }

    private init(_ parent: TerminalFileValue, node: Int, path: String) {
        bytes = parent.bytes
        json = parent.json
        self.node = node
        self.path = path
    }

    /// Checks that this is an object with no member that is not in `names`.
    func object(_ names: Set<String>) throws(TerminalFileError) {
        for member in try members() where !names.contains(member.name) { throw .unknown(member.value.path) }
    }

    /// Names and values of an object, in the order of the file.
    func members() throws(TerminalFileError) -> [(name: String, value: TerminalFileValue)] {
        guard json.nodes[node].kind == .object else { throw .wrongType(path, expected: .object) }
        return json.children(of: node).map { child in
            let name = String(decoding: bytes[json.nodes[child].name], as: UTF8.self)
            return (name, TerminalFileValue(self, node: child, path: path.isEmpty ? name : "\(path).\(name)"))
        }
    }

    func elements() throws(TerminalFileError) -> [TerminalFileValue] {
        guard json.nodes[node].kind == .array else { throw .wrongType(path, expected: .array) }
        return json.children(of: node).enumerated().map { position, child in
            TerminalFileValue(self, node: child, path: "\(path)[\(position)]")
        }
    }

    func member(_ name: String) throws(TerminalFileError) -> TerminalFileValue {
        guard let value = try optional(name) else { throw .missing(path.isEmpty ? name : "\(path).\(name)") }
        return value
    }

    func optional(_ name: String) throws(TerminalFileError) -> TerminalFileValue? {
        try members().first { $0.name == name }?.value
    }

    func text() throws(TerminalFileError) -> String {
        guard let text = json.string(json.nodes[node], in: bytes.span) else { throw .wrongType(path, expected: .text) }
        return text
    }

    func word(of words: [String]) throws(TerminalFileError) -> String {
        let word = try text()
        guard words.contains(word) else { throw .notOneOf(path, words) }
        return word
    }

    func number(in range: ClosedRange<UInt64>) throws(TerminalFileError) -> UInt64 {
        guard json.nodes[node].kind == .number else { throw .wrongType(path, expected: .wholeNumber) }
        guard let number = json.integer(json.nodes[node], in: bytes.span), range.contains(number) else {
            throw .outOfRange(path, range)
        }
        return number
    }

    func flag() throws(TerminalFileError) -> Bool {
        guard json.nodes[node].kind == .literal else { throw .wrongType(path, expected: .yesOrNo) }
        switch bytes[json.nodes[node].value.lowerBound] {
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        default: throw .wrongType(path, expected: .yesOrNo)
        }
    }

    func hexadecimal(_ count: ClosedRange<Int>) throws(TerminalFileError) -> [UInt8] {
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
