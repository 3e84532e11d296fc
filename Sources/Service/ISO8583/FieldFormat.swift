// SPDX-License-Identifier: Apache-2.0
/// What a field holds and how long it is, as the standard writes it: `n6`, `n..19`, `ans...999`, `b8`, `z..37`, `x+n8`.
public struct FieldFormat: Equatable, Sendable {
    public struct Characters: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        public static let letters = Characters(rawValue: 1)
        public static let digits = Characters(rawValue: 2)
        public static let special = Characters(rawValue: 4)

        /// A blank fills up fields of letters, also where special characters are not allowed.
        func contains(_ unit: UInt8) -> Bool {
            switch unit {
            case 0x30...0x39: contains(.digits)
            case 0x41...0x5A, 0x61...0x7A: contains(.letters)
            case 0x20: self != .digits
            case 0x21...0x7E: contains(.special)
            default: false
            }
        }
    }

    public enum Content: Equatable, Sendable {
        case text(Characters)
        case binary
        /// Digits and the separator D.
        case track
        /// C or D, then digits.
        case signed
    }

    public enum Length: Equatable, Sendable {
        case fixed(Int)
        /// `digits` of a length stand in front.
        case variable(digits: Int, most: Int)
    }

    public let content: Content
    public let length: Length

    /// `nil` for what is not written so. `..` has a length of two digits in front, `...` of three.
    public init?(_ notation: String) {
        let kind = notation.prefix { !$0.isNumber && $0 != "." }
        let dots = notation.dropFirst(kind.count).prefix { $0 == "." }
        let digits = notation.dropFirst(kind.count + dots.count)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != "0",
            let most = Int(digits)
        else { return nil }
        switch kind {
        case "b": content = .binary
        case "z": content = .track
        case "x+n": content = .signed
        case "a": content = .text(.letters)
        case "n": content = .text(.digits)
        case "s": content = .text(.special)
        case "an": content = .text([.letters, .digits])
        case "as": content = .text([.letters, .special])
        case "ns": content = .text([.digits, .special])
        case "ans": content = .text([.letters, .digits, .special])
        default: return nil
        }
        switch (dots.count, most) {
        // The sign comes before the digits that are counted.
        case (0, 1...999): length = .fixed(content == .signed ? most + 1 : most)
        case (2, 1...99) where content != .signed: length = .variable(digits: 2, most: most)
        case (3, 1...999) where content != .signed: length = .variable(digits: 3, most: most)
        default: return nil
        }
    }

    /// As the standard writes it, and a packager file.
    public var notation: String {
        let kind =
            switch content {
            case .binary: "b"
            case .track: "z"
            case .signed: "x+n"
            case .text(let characters):
                (characters.contains(.letters) ? "a" : "") + (characters.contains(.digits) ? "n" : "")
                    + (characters.contains(.special) ? "s" : "")
            }
        return switch length {
        case .fixed(let count): "\(kind)\(content == .signed ? count - 1 : count)"
        case .variable(let digits, let most): kind + String(repeating: ".", count: digits) + "\(most)"
        }
    }

    /// The most characters, digits or bytes.
    public var most: Int {
        switch length {
        case .fixed(let count): count
        case .variable(_, let most): most
        }
    }

    /// Position of the first unit of `value` that the content does not have.
    func misfit(_ value: some Collection<UInt8>) -> Int? {
        for (position, unit) in value.enumerated() {
            let fits =
                switch content {
                case .binary: true
                case .text(let characters): characters.contains(unit)
                case .track: (0x30...0x39).contains(unit) || unit == 0x44
                case .signed: position == 0 ? unit == 0x43 || unit == 0x44 : (0x30...0x39).contains(unit)
                }
            if !fits { return position }
        }
        return nil
    }
}
