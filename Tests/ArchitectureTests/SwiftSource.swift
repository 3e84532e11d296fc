// SPDX-License-Identifier: Apache-2.0

/// A Swift file as far as the rules of the house look into it: lines of code without comments and without what stands in
/// texts, the comments, and the types with what they declare.
struct SwiftSource {
    struct Line {
        /// Without comments; texts are empty.
        var code = ""
        var comment = ""

        var indent: Int { code.prefix { $0 == " " }.count }
        var words: Substring { code.drop { $0 == " " } }
        var isBlank: Bool { words.isEmpty && comment.isEmpty }
        var isComment: Bool { words.isEmpty && !comment.isEmpty }
    }

    /// A type's body, or that of one of its extensions.
    struct Body {
        let kind: Substring
        let name: String
        /// The comment directly above.
        let comment: String
        var properties: [Substring] = []
        var methods = 0
    }

    let lines: [Line]
    let bodies: [Body]

    init(_ text: String) {
        lines = Self.lines(of: text)
        bodies = Self.bodies(in: lines)
    }

    // MARK: - Comments and texts

    private static func lines(of text: String) -> [Line] {
        var scan = Scan(text: Array(text.utf8))
        scan.code(until: nil)
        return scan.lines
    }

    /// Reads bytes: what it looks for is ASCII, and no byte of another character is.
    private struct Scan {
        private static let newline = UInt8(ascii: "\n")
        private static let (slash, quote, hash) = (UInt8(ascii: "/"), UInt8(ascii: "\""), UInt8(ascii: "#"))
        private static let (opening, closing) = (UInt8(ascii: "("), UInt8(ascii: ")"))
        private static let backslash = UInt8(ascii: "\\")
        private static let (commentStart, rawQuote) = ([slash, slash], [hash, quote])
        private static let longQuote = [quote, quote, quote]

        let text: [UInt8]
        var next = 0
        var lines: [Line] = []
        private var kept: [UInt8] = []
        private var comment: [UInt8] = []

        init(text: [UInt8]) { self.text = text }

        private func has(_ word: [UInt8]) -> Bool {
            guard next + word.count <= text.count else { return false }
            for (index, byte) in word.enumerated() where text[next + index] != byte { return false }
            return true
        }

        private mutating func endLine() {
            lines.append(
                Line(code: String(decoding: kept, as: UTF8.self), comment: String(decoding: comment, as: UTF8.self)))
            kept = []
            comment = []
        }

        private mutating func advance(_ count: Int = 1) {
            for byte in text[next..<min(next + count, text.count)] where byte == Self.newline { endLine() }
            next += count
        }

        /// - Parameter end: the parenthesis that ends an interpolation; `nil` for the whole file.
        mutating func code(until end: UInt8?) {
            var depth = 0
            while next < text.count {
                let byte = text[next]
                if byte == Self.slash, has(Self.commentStart) {
                    let end = text[next...].firstIndex(of: Self.newline) ?? text.count
                    comment += text[next..<end]
                    next = end
                } else if byte == Self.quote, has(Self.longQuote) {
                    skipText(Self.longQuote, escape: [Self.backslash])
                } else if byte == Self.hash, has(Self.rawQuote) {
                    skipText(Self.rawQuote, escape: [Self.backslash, Self.hash])
                } else if byte == Self.quote {
                    skipText([Self.quote], escape: [Self.backslash])
                } else {
                    if byte == end, depth == 0 { return }
                    depth += byte == Self.opening ? 1 : byte == Self.closing ? -1 : 0
                    if end == nil, byte != Self.newline { kept.append(byte) }
                    advance()
                }
            }
            if end == nil { endLine() }
        }

        private mutating func skipText(_ opening: [UInt8], escape: [UInt8]) {
            let end = Array(opening.reversed())
            advance(opening.count)
            while next < text.count, !has(end) {
                if has(escape + [Self.opening]) {
                    advance(escape.count + 1)
                    code(until: Self.closing)
                    advance()
                } else {
                    advance(has(escape) ? escape.count + 1 : 1)
                }
            }
            advance(end.count)
        }
    }

    // MARK: - Declarations

    private static let kinds: Set<Substring> = ["actor", "class", "enum", "extension", "struct"]

    private static func bodies(in lines: [Line]) -> [Body] {
        var found: [Body] = []
        // For each open brace: the body that it belongs to.
        var open: [Int?] = []
        var pending: Int?
        for (number, line) in lines.enumerated() {
            let words = Declaration(line.words)
            if open.last ?? -1 != nil {
                if kinds.contains(words.keyword), let name = words.name {
                    pending = found.count
                    found.append(Body(kind: words.keyword, name: name, comment: comment(above: number, lines)))
                } else if let body = open.last ?? nil {
                    if words.keyword == "func" { found[body].methods += 1 }
                    let observed = lines[(number + 1)...].first { !$0.isBlank && !$0.isComment }?.words ?? ""
                    found[body].properties += words.stored(before: observed)
                }
            }
            for byte in line.code.utf8 {
                if byte == UInt8(ascii: "{") {
                    open.append(pending)
                    pending = nil
                } else if byte == UInt8(ascii: "}"), !open.isEmpty {
                    open.removeLast()
                }
            }
        }
        return found
    }

    /// The comment that ends directly above a line, beyond attributes.
    static func comment(above number: Int, _ lines: [Line]) -> String {
        var text: [String] = []
        for line in lines[..<number].reversed() {
            if line.isComment { text.append(line.comment) } else if !line.words.hasPrefix("@") { break }
        }
        return text.reversed().joined(separator: " ")
    }
}

/// The beginning of a line that may declare something.
struct Declaration {
    let keyword: Substring
    private let modifiers: [Substring]
    private let rest: Substring

    init(_ line: Substring) {
        let words = line.split(separator: " ")
        let known: Set<Substring> = [
            "public", "package", "internal", "private", "fileprivate", "open", "final", "lazy", "weak", "unowned",
            "static", "nonisolated", "mutating", "nonmutating", "consuming", "borrowing", "override", "indirect",
            "required", "convenience", "isolated", "unsafe",
        ]
        var modifiers = words.prefix { known.contains($0.prefix { $0 != "(" }) || $0.hasPrefix("@") }
        // `class` is a modifier where another declaration follows it.
        if words.count > modifiers.count + 1, words[modifiers.count] == "class",
            ["func", "var", "let"].contains(words[modifiers.count + 1])
        {
            modifiers = words.prefix(modifiers.count + 1)
        }
        self.modifiers = Array(modifiers)
        let after = words.dropFirst(modifiers.count)
        let keyword = after.first ?? ""
        self.keyword = keyword.prefix { $0 != "(" && $0 != "{" && $0 != "?" && $0 != "!" }
        rest = after.count > 1 ? line[after[after.startIndex + 1].startIndex...] : ""
    }

    var isDeclaration: Bool {
        ["actor", "class", "deinit", "enum", "extension", "func", "init", "struct", "subscript"].contains(keyword)
    }

    var name: String? {
        let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        return name.isEmpty ? nil : String(name)
    }

    /// Names of stored properties, none for what is computed or belongs to the type.
    ///
    /// - Parameter next: the line of code after this one.
    func stored(before next: Substring) -> [Substring] {
        guard keyword == "let" || keyword == "var", !modifiers.contains("static"), !modifiers.contains("class") else {
            return []
        }
        if keyword == "var", let brace = rest.firstIndex(of: "{"), !rest[..<brace].contains("=") {
            guard next.hasPrefix("didSet") || next.hasPrefix("willSet") else { return [] }
        }
        let end = rest.first == "(" ? rest.firstIndex(of: ")") : rest.firstIndex { ":={".contains($0) }
        return rest[..<(end ?? rest.endIndex)].drop { $0 == "(" }.split(separator: ",")
    }
}
