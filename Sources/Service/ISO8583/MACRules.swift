// SPDX-License-Identifier: Apache-2.0
/// How a host and this side authenticate messages: fields 64 and 128 of ISO 8583.
public struct MACRules: Equatable, Sendable {
    public enum Algorithm: String, Sendable, CaseIterable {
        /// AES (NIST SP 800-38B); its first eight bytes are sent.
        case cmac
        /// ISO 9797-1 algorithm 3 with DES and padding method 1 (ANSI X9.19).
        case retail
    }

    public let algorithm: Algorithm
    /// The field in which the host hands over a new key, asked for after each sign-on; `nil` where the key stays.
    public let exchange: Int?

    /// Bytes of a code.
    public static let count = 8
}

/// A key that a host hands over: hexadecimal, the key wrapped by the zone key (RFC 3394), and three bytes of its check value.
public struct HandedKey: Equatable, Sendable {
    public let wrapped: [UInt8]
    public let check: [UInt8]

    /// `nil` for what is no such text.
    public init?(_ text: [UInt8]) {
        guard let bytes = MessageHex.bytes(text[...]), [27, 35, 43].contains(bytes.count) else { return nil }
        wrapped = Array(bytes.dropLast(3))
        check = Array(bytes.suffix(3))
    }
}

/// A message whose code is to be made or verified.
public struct CodedMessage: Equatable, Sendable {
    /// What the code is made over: everything from the type to the field of the code, whose bit is set.
    public let bytes: [UInt8]
    /// 64, or 128 where there is a field above 64.
    public let field: Int
}

extension Packager {
    /// Whether messages of this type carry a code. Those of the session do not: they lead to the key.
    public func hasCode(_ type: MessageType) -> Bool { mac != nil && type.kind != 8 }

    /// The message as its code is made.
    ///
    /// - Throws: what cannot be packed.
    public func uncoded(_ message: ISOMessage) throws(MessageError) -> CodedMessage {
        let field = Self.codeField(message)
        let bytes = try build(message, code: [UInt8](repeating: 0, count: MACRules.count))
        return CodedMessage(bytes: Array(bytes.dropLast(try codeCount(field))), field: field)
    }

    /// The message with its code.
    ///
    /// - Parameter code: its first eight bytes are sent.
    /// - Throws: what cannot be packed.
    public func build(_ message: ISOMessage, code: [UInt8]) throws(MessageError) -> [UInt8] {
        var message = message
        let field = Self.codeField(message)
        message[64] = nil
        message[128] = nil
        message[field] = Array(code.prefix(MACRules.count))
        return try build(message)
    }

    /// What of a message that has come its code is made over; `nil` without a code where it has to stand: at the end.
    public func coded(_ bytes: [UInt8], _ message: ISOMessage) -> (covered: [UInt8], code: [UInt8])? {
        guard let last = message.fields.last, last == 64 || last == 128, let code = message[last],
            code.count == MACRules.count, let count = try? codeCount(last), bytes.count > count
        else { return nil }
        return (Array(bytes.dropLast(count)), code)
    }

    private static func codeField(_ message: ISOMessage) -> Int {
        message.fields.contains { $0 > 64 && $0 < 128 } ? 128 : 64
    }

    /// Bytes on the line.
    private func codeCount(_ field: Int) throws(MessageError) -> Int {
        guard let rule = fields[field] else { throw .notInPackager(field: field) }
        return try rule.encode([UInt8](repeating: 0, count: MACRules.count)).count
    }

    static func mac(
        _ object: PackagerObject?, _ base: MACRules?, _ fields: [Int: FieldRule]
    ) throws(PackagerError) -> MACRules? {
        guard let object else { return base }
        try object.only(["algorithm", "exchange"])
        let algorithm = try demanded(
            try object.choice("algorithm", MACRules.Algorithm.self) ?? base?.algorithm, "mac.algorithm")
        let exchange = try object.integer("exchange") ?? base?.exchange
        for field in [64, 128] {
            guard let rule = fields[field] else { throw .noSuchField("mac", field: field) }
            guard rule.format.content == .binary, case .fixed(MACRules.count) = rule.format.length else {
                throw .wrongKind("fields.\(field)", wanted: "the format b8, for “mac” is here")
            }
        }
        if let exchange {
            // One wrapping of two DES keys does not give the left one alone, which the retail MAC needs.
            guard algorithm == .cmac else { throw .notOneOf("mac.algorithm", ["cmac"]) }
            guard fields[exchange] != nil else { throw .noSuchField("mac.exchange", field: exchange) }
        }
        return MACRules(algorithm: algorithm, exchange: exchange)
    }
}
