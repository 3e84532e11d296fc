// SPDX-License-Identifier: Apache-2.0
public import Codes

/// What a till has asked for over Caisse-AP, with its own bytes for what the answer repeats.
public struct CaisseRequest: Equatable, Sendable {
    public let order: TillOrder
    public let message: CaisseMessage

    /// The tags without which a message is no request.
    static let demanded: [CaisseTag] = [.version, .concert, .till, .amount, .kind, .currency]

    /// Whether all tags that have to be there are there, and whole; further ones may follow.
    static func isWhole(_ message: CaisseMessage) -> Bool { demanded.allSatisfy { message[$0] != nil } }

    /// - Throws: the reason of the refusal.
    public init(_ message: CaisseMessage, allowing kinds: Set<TillOrder.Kind>, in currency: CurrencyCode)
        throws(CaisseReason)
    {
        guard Self.isWhole(message), message.fields.first?.tag == .version,
            let version = message[.version], version.utf8.count == 4, version.hasPrefix("03"), Self.isNumber(version),
            message[.concert]?.utf8.count == 12, message[.till]?.utf8.count == 2,
            let digits = message[.amount], digits.utf8.count <= 12, Self.isNumber(digits), let amount = Int64(digits),
            amount > 0, let number = message[.currency], number.utf8.count == 3, Self.isNumber(number),
            let direction = message[.kind], direction.utf8.count == 1
        else { throw .format }
        let answerTime = message[.answerTime]
        guard answerTime == nil || answerTime == "0" || answerTime == "1" else { throw .format }
        let kind: TillOrder.Kind
        switch direction {
        case "0": kind = .sale
        case "1": kind = .refund
        default: throw .unknownAction
        }
        guard UInt64(number) == UInt64(currency.numeric) else { throw .currency }
        // An answer "accepted" before the outcome leaves the till without any way to learn of it. Cheques are not read here.
        guard answerTime != "1", message[.application] != "00C" else { throw .selection }
        guard kinds.contains(kind) else { throw .forbidden }
        self.message = message
        order = TillOrder(kind: kind, amount: amount, currency: currency)
    }

    private static func isNumber(_ text: String) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}

/// Why a payment was not made: tag AF.
public enum CaisseReason: String, Error, Sendable, CaseIterable {
    case callIssuer = "02"
    case refused = "04"
    case forbidden = "05"
    case abandoned = "06"
    case notCompleted = "07"
    case inputTime = "08"
    case format = "09"
    case selection = "10"
    case operatorStopped = "11"
    case unknownAction = "12"
    case currency = "13"

    init(_ reason: TillRefusal.Reason) {
        switch reason {
        case .callIssuer: self = .callIssuer
        case .declined, .notAccepted, .expiredCard, .limitExceeded, .otherInterface: self = .refused
        case .notPermitted: self = .forbidden
        case .cancelledByCustomer: self = .abandoned
        case .cancelledByOperator: self = .operatorStopped
        case .deadline: self = .inputTime
        case .currency: self = .currency
        case .amount: self = .format
        case .busy, .readerGone, .serviceAway, .hostTimeout, .failed, .takenBack: self = .notCompleted
        }
    }
}

/// Answers of Caisse-AP.
public enum CaisseAnswer {
    /// In the order in which known terminals answer. The amount is repeated byte for byte, since tills compare it.
    private static let repeated: [CaisseTag] = [.version, .concert, .till, .currency, .answerTime, .kind, .amount]

    public static func refused(_ reason: CaisseReason, to request: CaisseMessage) -> [UInt8] {
        var answer = head(of: request)
        answer.append(.result, "01")
        answer.append(.reason, reason.rawValue)
        return answer.bytes
    }

    public static func approved(_ approval: TillApproval, to request: CaisseRequest) -> [UInt8] {
        var answer = head(of: request.message)
        answer.append(.result, "10")
        answer.append(.application, application(of: approval.network))
        answer.append(.reading, "2")
        answer.append(.card, approval.maskedCard.map { String($0.map { $0 == "*" ? "#" : $0 }.prefix(40)) })
        answer.append(.authorisation, approval.authorisation.map { String($0.prefix(40)) })
        answer.append(.aid, approval.aid.map { String($0.prefix(32)) })
        return answer.bytes
    }

    private static func head(of request: CaisseMessage) -> CaisseMessage {
        var answer = CaisseMessage()
        for tag in repeated {
            // A value that is too long for its tag is not worth repeating.
            guard let value = request[tag], value.utf8.count <= 12 else { continue }
            answer.append(tag, value)
        }
        // Known tills read an answer only if it begins with a version.
        guard answer.fields.first?.tag == .version else {
            var whole = CaisseMessage()
            whole.append(.version, "0300")
            for field in answer.fields { whole.append(field.tag, field.value) }
            return whole
        }
        return answer
    }

    private static func application(of network: TillNetwork?) -> String {
        switch network {
        case .amex: "00D"
        case .diners: "006"
        case .jcb: "009"
        case .unionPay: "00U"
        case .cartesBancaires, .visa, .mastercard, .maestro, .vPay: "00B"
        case .girocard, .discover, nil: "000"
        }
    }
}
