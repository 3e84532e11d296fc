// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// A public test number that stands for a real one, of the same length.
struct TestAccount {
    /// 0…9 each.
    let pan: [UInt8]

    /// Public test numbers of the schemes' test cards. A transcript with one of these can be kept as it is.
    static let publicNumbers: Set<[UInt8]> = Set(
        [
            "4761739001010010", "5413330089601034", "5413330089600010", "374245455400001", "4761739001010119",
            "3530111333300000", "6011000990139424", "6200000000000005",
        ].map(digits))

    /// - Parameters:
    ///   - original: the number to be replaced, in digits.
    ///   - ordinal: 0 for a card's first number; further ones get numbers of their own.
    init(for original: [UInt8], aid: [UInt8], ordinal: Int = 0) {
        var model = TestAccount.digits(TestAccount.number(of: aid))
        guard model.count != original.count || ordinal > 0 else {
            pan = model
            return
        }
        if ordinal > 0 { model[7] = (model[7] + UInt8(ordinal % 9)) % 10 }
        pan = TestAccount.fitted(model, to: original.count)
    }

    private static func number(of aid: [UInt8]) -> String {
        switch CodeNames.kernel(aid) {
        case .visa?: "4761739001010010"
        case .mastercard?: "5413330089601034"
        case .americanExpress?: "374245455400001"
        case .jcb?: "3530111333300000"
        case .discover?: "6011000990139424"
        case .unionPay?: "6200000000000005"
        // Numbers beginning with 9 belong to no bank.
        case _: "9999990000000006"
        }
    }

    /// Another length: cut or filled with zeros, with a check digit of its own (ISO/IEC 7812-1 Annex B).
    private static func fitted(_ digits: [UInt8], to count: Int) -> [UInt8] {
        guard count > 1 else { return [UInt8](repeating: 0, count: count) }
        let body = (digits + [UInt8](repeating: 0, count: count)).prefix(count - 1)
        let sum = body.reversed().enumerated().reduce(0) { sum, item in
            let value = item.offset.isMultiple(of: 2) ? Int(item.element) * 2 : Int(item.element)
            return sum + (value > 9 ? value - 9 : value)
        }
        return body + [UInt8((10 - sum % 10) % 10)]
    }

    private static func digits(_ text: String) -> [UInt8] { text.utf8.map { $0 &- 0x30 } }

    /// The number as it may stand anywhere in bytes: packed from either nibble on, and as ASCII.
    static func traces(of pan: [UInt8]) -> [String] {
        let text = pan.map { String($0) }.joined()
        return [text, pan.map { "3\($0)" }.joined()]
    }
}
