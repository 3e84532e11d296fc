// SPDX-License-Identifier: Apache-2.0
import Codes

/// A request of Caisse E+, the serial form of Caisse: 34 characters between STX and ETX.
///
/// The layout is the one that a client of this protocol sends. The specification was not at hand.
public struct EPlusRequest: Equatable, Sendable {
    /// When the terminal answers.
    public enum Answer: Sendable {
        /// `A010`: once the payment has an end.
        case atTheEnd
        /// `A011`: once the payment has begun.
        case atOnce
    }

    /// Why a request is not carried out.
    public enum Refusal: Error, Sendable, CaseIterable {
        /// A cheque, or another kind of payment than a sale or a credit.
        case kind
        case currency
        case amount
    }

    static let length = 34

    /// Between STX and ETX.
    public let body: [UInt8]
    /// In minor units.
    public let amount: Int64
    public let answer: Answer

    /// - Returns: `nil` for what is no request, or asks for the long answer, whose layout is not known here.
    public init?(_ body: [UInt8]) {
        guard body.count == Self.length, let amount = Self.number(body[2..<10]), body[10] == UInt8(ascii: "0") else {
            return nil
        }
        switch body[26..<30] {
        case Array("A010".utf8)[...]: answer = .atTheEnd
        case Array("A011".utf8)[...]: answer = .atOnce
        default: return nil
        }
        self.body = body
        self.amount = amount
    }

    func order(
        allowing kinds: Set<TillOrder.Kind>, in currency: CurrencyCode
    ) throws(Refusal) -> TillOrder {
        let kind: TillOrder.Kind = body[12] == UInt8(ascii: "0") ? .sale : .refund
        guard body[11] == UInt8(ascii: "1"), [0x30, 0x31].contains(body[12]), kinds.contains(kind) else { throw .kind }
        // Clients disagree on the sum of a currency without hundredths: one multiplies it by 100 all the same.
        guard Self.number(body[13..<16]) == Int64(currency.numeric), currency.exponent == 2 else { throw .currency }
        guard amount > 0 else { throw .amount }
        return TillOrder(kind: kind, amount: amount, currency: currency)
    }

    /// What the terminal says of it, between STX and ETX.
    func answered(isPaid: Bool) -> [UInt8] {
        let result: UInt8 = isPaid ? 0x30 : 0x37
        return Array(body[0..<2]) + [result] + body[2..<10] + [body[11]] + body[13..<26]
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        digits.reduce(into: Int64?(0)) { number, digit in
            number = (0x30...0x39).contains(digit) ? number.map { $0 * 10 + Int64(digit - 0x30) } : nil
        }
    }
}

/// What is sent around a message: control characters, and a frame with the exclusive or of its bytes behind STX.
enum EPlusFrame {
    static let stx: UInt8 = 0x02
    static let etx: UInt8 = 0x03
    static let eot: UInt8 = 0x04
    static let enq: UInt8 = 0x05
    static let ack: UInt8 = 0x06
    static let nak: UInt8 = 0x15

    static func bytes(of body: [UInt8]) -> [UInt8] { [stx] + body + [etx, sum(body)] }

    /// - Returns: `nil` for what is no whole frame of a request.
    static func request(_ bytes: [UInt8]) -> EPlusRequest? {
        guard bytes.count == EPlusRequest.length + 3, bytes.first == stx else { return nil }
        let body = Array(bytes[1...EPlusRequest.length])
        return Self.bytes(of: body) == bytes ? EPlusRequest(body) : nil
    }

    private static func sum(_ body: [UInt8]) -> UInt8 { body.reduce(etx, ^) }
}
