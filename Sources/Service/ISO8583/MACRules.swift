// SPDX-License-Identifier: Apache-2.0
/// How a host and this side authenticate messages: fields 64 and 128 of ISO 8583.
public struct MACRules: Equatable, Sendable {
    public enum Algorithm: String, Sendable, CaseIterable {
        /// AES (NIST SP 800-38B); its first eight bytes are sent.
        case cmac
        /// ISO 9797-1 algorithm 3 with DES and padding method 1 (ANSI X9.19).
        case retail

        /// Bytes of a block, and of the zeros of which a check value is the beginning of the code.
        public var blockCount: Int { self == .cmac ? 16 : 8 }
    }

    public let algorithm: Algorithm
    /// The field in which the host hands over a new key, asked for after each sign-on; `nil` where the key stays.
    public let exchange: Int?

    /// Bytes of a code.
    public static let count = 8
}

/// A key that a host hands over, in hexadecimal: the key wrapped by the zone key (RFC 3394), and three bytes of its check value. For the retail MAC the same
/// follows for the left one of its two keys, K1 K1 or K1 K1 K1: one wrapping of both does not give the left one alone.
public struct HandedKey: Equatable, Sendable {
    /// What has to be tried before the key is taken.
    public struct Trial: Equatable, Sendable {
        /// The key by which a block of zeros is to be coded, as ``HandedKey/wrapped`` is written.
        public let wrapped: [UInt8]
        /// How that code begins.
        public let check: [UInt8]
    }

    /// The wrapped key; for the retail MAC the one of both keys and the left one, one behind the other.
    public let wrapped: [UInt8]
    public let trials: [Trial]

    private static let checkCount = 3

    /// `nil` for what is no such text, and for two keys of the retail MAC that are the same one.
    public init?(_ text: [UInt8], _ algorithm: MACRules.Algorithm) {
        guard let bytes = MessageHex.bytes(text[...]) else { return nil }
        switch algorithm {
        case .cmac:
            guard [24, 32, 40].contains(bytes.count - Self.checkCount) else { return nil }
            wrapped = Array(bytes.dropLast(Self.checkCount))
            trials = [Trial(wrapped: wrapped, check: Array(bytes.suffix(Self.checkCount)))]
        case .retail:
            let half = bytes.count / 2
            guard bytes.count % 2 == 0, [24, 32].contains(half - Self.checkCount) else { return nil }
            let (both, left) = (bytes.prefix(half), bytes.suffix(half))
            let checks = (Array(both.suffix(Self.checkCount)), Array(left.suffix(Self.checkCount)))
            guard checks.0 != checks.1 else { return nil }
            let leftKey = Array(left.dropLast(Self.checkCount))
            wrapped = both.dropLast(Self.checkCount) + leftKey
            trials = [Trial(wrapped: wrapped, check: checks.0), Trial(wrapped: leftKey + leftKey, check: checks.1)]
        }
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
            guard fields[exchange] != nil else { throw .noSuchField("mac.exchange", field: exchange) }
        }
        return MACRules(algorithm: algorithm, exchange: exchange)
    }
}
