// SPDX-License-Identifier: Apache-2.0
import Digits

/// A bitmap: a number, and data of a form that the number says.
public struct ZVTField: Equatable, Sendable {
    public enum Form: Equatable, Sendable {
        case fixed(Int)
        /// Two or three bytes F0 to F9, a decimal digit each.
        case digits(Int)
        /// A length as in BER.
        case container
    }

    public let number: UInt8
    public let value: [UInt8]

    /// - Returns: `nil` for a number that is not known, or a value that does not fit its form.
    public init?(_ number: UInt8, _ value: [UInt8]) {
        guard let form = ZVTField.form(of: number) else { return nil }
        switch form {
        case .fixed(let count): guard value.count == count else { return nil }
        case .digits(let count): guard value.count < (count == 2 ? 100 : 1_000) else { return nil }
        case .container: guard value.count <= 0xFFFF else { return nil }
        }
        self.number = number
        self.value = value
    }

    /// A decimal number, filled with zeros on the left.
    public init?(_ number: UInt8, decimal: UInt64) {
        guard case .fixed(let count)? = ZVTField.form(of: number), let value = BCD.encode(decimal, count: count) else {
            return nil
        }
        self.init(number, value)
    }

    public var decimal: UInt64? { BCD.decode(value) }

    public static func form(of number: UInt8) -> Form? {
        switch number {
        case 0x01, 0x02, 0x03, 0x05, 0x19, 0x27, 0x8A, 0x8C, 0xA0, 0xD0, 0xD2, 0xD3, 0xE0, 0xE9, 0xEA, 0xF0,
            0xF9...0xFD,
            0x72...0x75:
            .fixed(1)
        case 0x0D, 0x0E, 0x17, 0x3A, 0x49, 0x87: .fixed(2)
        case 0x0B, 0x0C, 0x37, 0x3D, 0x88, 0xAA: .fixed(3)
        case 0x29, 0x70, 0x71: .fixed(4)
        case 0xBA: .fixed(5)
        case 0x04: .fixed(6)
        case 0x3B, 0xEB: .fixed(8)
        case 0x2A: .fixed(15)
        case 0x22, 0x23, 0x2D, 0x4C, 0x8B, 0xA7, 0xD1, 0xE1...0xE8, 0xF1...0xF8: .digits(2)
        case 0x24, 0x2E, 0x3C, 0x60, 0x9A, 0xAF: .digits(3)
        case 0x06: .container
        default: nil
        }
    }

    /// Numbers that hold data of a card: never taken from a till.
    public static let ofCards: Set<UInt8> = [0x0E, 0x22, 0x23, 0x24, 0x2D, 0x2E, 0x3A, 0xA7]

    public var bytes: [UInt8] {
        switch ZVTField.form(of: number) {
        case .digits(let count): [number] + ZVTField.digits(value.count, count) + value
        case .container: [number] + ZVTObject.length(value.count) + value
        case .fixed, nil: [number] + value
        }
    }

    static func digits(_ length: Int, _ count: Int) -> [UInt8] {
        var rest = length
        return (0..<count).map { _ in
            defer { rest /= 10 }
            return 0xF0 | UInt8(truncatingIfNeeded: rest % 10)
        }.reversed()
    }

    /// The length that stands in F-digits.
    public static func length(digits: some Sequence<UInt8>) throws(ZVTFailure) -> Int {
        var length = 0
        for digit in digits {
            guard (0xF0...0xF9).contains(digit) else { throw .notALength }
            length = length * 10 + Int(digit & 0x0F)
        }
        return length
    }

    /// - Throws: for a number that is not known, one that stands there twice, or a value that is not whole.
    public static func parse(_ bytes: some Sequence<UInt8>) throws(ZVTFailure) -> [ZVTField] {
        var fields: [ZVTField] = []
        var rest = Array(bytes)[...]
        while let number = rest.popFirst() {
            guard let form = form(of: number) else { throw .unknownBitmap(number) }
            let length: Int
            switch form {
            case .fixed(let count): length = count
            case .digits(let count):
                guard rest.count >= count else { throw .truncated }
                length = try self.length(digits: rest.prefix(count))
                rest = rest.dropFirst(count)
            case .container: length = try ZVTObject.popLength(&rest)
            }
            guard rest.count >= length, let field = ZVTField(number, Array(rest.prefix(length))) else {
                throw .truncated
            }
            guard !fields.contains(where: { $0.number == number }) else { throw .duplicate(number) }
            fields.append(field)
            rest = rest.dropFirst(length)
        }
        return fields
    }
}

extension [ZVTField] {
    public subscript(number number: UInt8) -> ZVTField? { first { $0.number == number } }

    public var bytes: [UInt8] { flatMap(\.bytes) }

    /// The objects of the container 06; empty if there is none.
    public func objects() throws(ZVTFailure) -> [ZVTObject] {
        guard let container = self[number: 0x06] else { return [] }
        return try ZVTObject.parse(container.value)
    }
}
