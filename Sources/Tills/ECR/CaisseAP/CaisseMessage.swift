// SPDX-License-Identifier: Apache-2.0

/// A message of Caisse-AP over IP: `TT LLL V…` repeated, in ASCII. It has no frame: it ends where the bytes end.
public struct CaisseMessage: Equatable, Sendable {
    public struct Field: Equatable, Sendable {
        public let tag: CaisseTag
        public let value: String
    }

    public enum Failure: Error, Equatable, Sendable {
        /// The last value is not whole: more may follow.
        case truncated
        case notATag(offset: Int)
        /// Not three digits, or 000.
        case notALength(offset: Int)
        case notASCII(offset: Int)
        /// Which of the two counts would be a matter of the reader.
        case duplicate(CaisseTag)
    }

    public private(set) var fields: [Field] = []

    public init() {}

    public init(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let offset = rest.startIndex
            if let wrong = rest.prefix(2).firstIndex(where: { !(0x41...0x5A).contains($0) }) {
                throw .notATag(offset: wrong)
            }
            if let wrong = rest.dropFirst(2).prefix(3).firstIndex(where: { !(0x30...0x39).contains($0) }) {
                throw .notALength(offset: wrong)
            }
            guard rest.count >= 5, let tag = CaisseTag(rest.prefix(2)) else { throw .truncated }
            let length = rest.dropFirst(2).prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
            guard length > 0 else { throw .notALength(offset: offset + 2) }
            rest = rest.dropFirst(5)
            if let wrong = rest.prefix(length).firstIndex(where: { !(0x20...0x7E).contains($0) }) {
                throw .notASCII(offset: wrong)
            }
            guard rest.count >= length else { throw .truncated }
            guard self[tag] == nil else { throw .duplicate(tag) }
            fields.append(Field(tag: tag, value: String(decoding: rest.prefix(length), as: UTF8.self)))
            rest = rest.dropFirst(length)
        }
    }

    public subscript(_ tag: CaisseTag) -> String? { fields.first { $0.tag == tag }?.value }

    /// Leaves the field out where it cannot be written: empty, longer than 999, or not ASCII that can be printed.
    public mutating func append(_ tag: CaisseTag, _ value: String?) {
        guard let value, (1...999).contains(value.utf8.count), self[tag] == nil,
            value.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return }
        fields.append(Field(tag: tag, value: value))
    }

    public var bytes: [UInt8] {
        fields.flatMap { field -> [UInt8] in
            let digits = String(field.value.utf8.count)
            let length = String(repeating: "0", count: max(0, 3 - digits.utf8.count)) + digits
            return Array((field.tag.text + length + field.value).utf8)
        }
    }
}

/// Two upper-case letters.
public struct CaisseTag: Hashable, Sendable {
    public let text: String

    public init?(_ bytes: some Sequence<UInt8>) {
        let letters = Array(bytes)
        guard letters.count == 2, letters.allSatisfy({ (0x41...0x5A).contains($0) }) else { return nil }
        text = String(decoding: letters, as: UTF8.self)
    }

    private init(known text: String) { self.text = text }

    public static let version = CaisseTag(known: "CZ")
    public static let concert = CaisseTag(known: "CJ")
    public static let till = CaisseTag(known: "CA")
    public static let amount = CaisseTag(known: "CB")
    public static let kind = CaisseTag(known: "CD")
    public static let currency = CaisseTag(known: "CE")
    public static let answerTime = CaisseTag(known: "BA")
    public static let application = CaisseTag(known: "CC")
    public static let result = CaisseTag(known: "AE")
    public static let reason = CaisseTag(known: "AF")
    public static let card = CaisseTag(known: "AA")
    public static let authorisation = CaisseTag(known: "AC")
    public static let aid = CaisseTag(known: "AI")
    public static let reading = CaisseTag(known: "CI")
}
