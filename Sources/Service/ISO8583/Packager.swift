// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// How one host packs messages, and what it means by its codes: a file, not code. docs/service/iso8583.md describes the file.
public struct Packager: Equatable, Sendable {
    public enum TypeEncoding: String, Sendable, CaseIterable {
        case ascii, ebcdic, bcd
    }

    public enum BitmapEncoding: String, Sendable, CaseIterable {
        case binary
        /// Sixteen hexadecimal characters in ASCII.
        case hex
        case ebcdic
    }

    /// Longest message of any host.
    public static let mostBytes = 8192

    public let name: String
    public let version: MessageType.Version
    public let type: TypeEncoding
    public let bitmap: BitmapEncoding
    public let frame: FrameFormat
    let defaults: FieldDefaults
    public let fields: [Int: FieldRule]
    public let codes: HostCodes
    public let network: NetworkRules
    public let answers: AnswerRules
    public let requests: RequestRules
    public let reversal: ReversalRules
    public let chip: ChipRules
    /// `nil` where no sums by scheme are told.
    public let totals: TotalsRules?
    /// `nil` where messages carry no code.
    public let mac: MACRules?

    // MARK: - Building

    public func build(_ message: ISOMessage) throws(MessageError) -> [UInt8] {
        guard message.type.version == version.rawValue else { throw .otherVersion(message.type.version) }
        let numbers = message.fields
        var body: [UInt8] = []
        for number in numbers {
            guard let rule = fields[number], let value = message[number] else { throw .notInPackager(field: number) }
            body += try rule.encode(value)
        }
        let bytes = typeBytes(message.type) + bitmapBytes(numbers) + body
        guard bytes.count <= Self.mostBytes else { throw .tooLong(count: bytes.count, most: Self.mostBytes) }
        return bytes
    }

    private func typeBytes(_ type: MessageType) -> [UInt8] {
        let digits = type.digits
        return switch self.type {
        case .ascii: digits
        case .ebcdic: digits.map(EBCDIC.encode)
        case .bcd:
            [
                UInt8(type.number / 1000 % 10 * 16 + type.number / 100 % 10),
                UInt8(type.number / 10 % 10 * 16 + type.number % 10),
            ]
        }
    }

    private func bitmapBytes(_ numbers: [Int]) -> [UInt8] {
        let isLong = (numbers.last ?? 0) > 64
        var bits = [UInt8](repeating: 0, count: isLong ? 16 : 8)
        for number in (isLong ? [1] : []) + numbers { bits[(number - 1) / 8] |= 0x80 >> UInt8((number - 1) % 8) }
        return switch bitmap {
        case .binary: bits
        case .hex: hexText(bits)
        case .ebcdic: hexText(bits).map(EBCDIC.encode)
        }
    }

    private func hexText(_ bytes: [UInt8]) -> [UInt8] { Array(Hex.string(bytes).utf8) }

    // MARK: - Parsing

    /// Reads a whole message; nothing may be left over. A second bitmap without fields is taken: some hosts always send it.
    public func parse(_ bytes: [UInt8]) throws(MessageError) -> ISOMessage {
        guard bytes.count <= Self.mostBytes else { throw .tooLong(count: bytes.count, most: Self.mostBytes) }
        var reader = MessageReader(bytes)
        var message = ISOMessage(try readType(&reader))
        var numbers = try readBitmap(&reader, .bitmap, first: 1)
        if numbers.first == 1 {
            numbers.removeFirst()
            numbers += try readBitmap(&reader, .field(1), first: 65)
        }
        guard !numbers.contains(65) else { throw .thirdBitmap }
        for number in numbers {
            guard let rule = fields[number] else { throw .notInPackager(field: number) }
            message[number] = try rule.decode(&reader)
        }
        guard reader.left == 0 else { throw .trailing(count: reader.left) }
        return message
    }

    private func readType(_ reader: inout MessageReader) throws(MessageError) -> MessageType {
        let found: MessageType?
        switch type {
        case .ascii: found = MessageType(digits: try reader.take(4, .type))
        case .ebcdic: found = MessageType(digits: try reader.take(4, .type).map(EBCDIC.decode))
        case .bcd: found = BCD.decode(try reader.take(2, .type)).flatMap { MessageType(UInt16($0)) }
        }
        guard let found else { throw .notAType }
        guard found.version == version.rawValue else { throw .otherVersion(found.version) }
        return found
    }

    private func readBitmap(
        _ reader: inout MessageReader, _ part: MessagePart, first: Int
    ) throws(MessageError) -> [Int] {
        let bits: [UInt8]
        switch bitmap {
        case .binary: bits = Array(try reader.take(8, part))
        case .hex, .ebcdic:
            let taken = try reader.take(16, part)
            let text = bitmap == .hex ? taken : taken.map(EBCDIC.decode)[...]
            guard let bytes = MessageHex.bytes(text) else { throw .notABitmap(part) }
            bits = bytes
        }
        return (0..<64).filter { bits[$0 / 8] & 0x80 >> UInt8($0 % 8) != 0 }.map { $0 + first }
    }
}
