// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What a host's answer in field 39 is taken for.
public enum HostVerdict: Equatable, Sendable {
    case approved
    /// Approved for the amount in field 4, less than was asked for.
    case partial
    case declined(String)
    /// Declined for now: a payment may be tried again, an advice or a reversal is repeated.
    case later(String)
    /// The host may have booked, or its code means nothing known: the payment is reversed.
    case doubtful(String)
}

/// The values of field 39 that mean something. Every other one is doubtful: it says neither that the host has booked nor that it has not.
public struct HostCodes: Equatable, Sendable {
    public let approved: Set<String>
    public let partial: Set<String>
    public let later: Set<String>
    public let doubtful: Set<String>
    public let declined: Set<String>
    /// Those that say a host has nothing of the original any more, or never had.
    public let reversed: Set<String>
    /// Those that say a host never had the original. They end the reversal of what it has not approved, and contradict an approval.
    public let unknown: Set<String>
    /// “Sent twice”: the same trace number was there before.
    static let duplicate: Set<String> = ["94", "913"]

    func verdict(_ code: String) -> HostVerdict {
        if approved.contains(code) { return .approved }
        if partial.contains(code) { return .partial }
        if later.contains(code) { return .later(code) }
        return declined.contains(code) && !doubtful.contains(code) ? .declined(code) : .doubtful(code)
    }

    /// Whether any list of payments has it.
    func knows(_ code: String) -> Bool {
        [approved, partial, later, doubtful, declined].contains { $0.contains(code) }
    }
}

/// Which fields of an answer have to be those of the request, and whose reference counts.
public struct AnswerRules: Equatable, Sendable {
    public enum Reference: String, Sendable, CaseIterable {
        /// Field 37 of the request.
        case ours
        /// Field 37 of the answer: what follows the payment names it by that.
        case host
    }

    /// Wherever they are echoed; 7 or 37 has to be, if one of them is among them. Type and trace number always count.
    public let match: [Int]
    public let reference: Reference

    /// Fields that are kept of a request, so that an answer can be held against them.
    static let possible = [3, 4, 7, 12, 32, 33, 37, 41, 49]
}

/// Sign-on and echo.
public struct NetworkRules: Equatable, Sendable {
    /// What a host may ask for by itself.
    public enum Word: String, Sendable, CaseIterable {
        case signOn, signOff, echo, cutOver, keyChange
    }

    public let type: MessageType
    /// The field that says which: 70 in 1987, 24 in 1993.
    public let field: Int
    public let signOn: String
    public let signOff: String
    public let echo: String
    public let cutOver: String
    public let keyChange: String
    /// What is done, and answered by an accepted code, if the host asks for it; all else is refused.
    public let obeyed: Set<Word>
    public let accepted: Set<String>
    public let refused: String

    func word(_ code: String) -> Word? {
        switch code {
        case signOn: .signOn
        case signOff: .signOff
        case echo: .echo
        case cutOver: .cutOver
        case keyChange: .keyChange
        default: nil
        }
    }
}

/// What a host wants in requests beside what the read and the tables say.
public struct RequestRules: Equatable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        case sale, preauth, refund, offline, capture, release
    }

    /// Set in every message of the kind, in place of what stands there; an empty text leaves the field out.
    public let constants: [Kind: [Int: String]]
    /// Field 22 of a read with chip data, and of one in magnetic-stripe mode.
    public let chipEntry: String
    public let stripeEntry: String

    /// Fields that say what was read, what is paid and who asks, or that lead from one message to another: no file sets them.
    static let ofTheProgram: Set<Int> = [
        2, 4, 7, 11, 12, 13, 14, 22, 23, 32, 33, 35, 36, 37, 38, 39, 41, 42, 45, 49, 50, 52, 55, 56, 64, 90, 95, 128,
    ]

    /// Fields that a host may not want.
    static let dispensable: Set<Int> = [12, 13, 14, 18, 22, 23, 25, 35, 43]

    public func complete(_ message: inout ISOMessage, _ kind: Kind) {
        for (field, text) in constants[kind] ?? [:] { message[field] = text.isEmpty ? nil : Array(text.utf8) }
    }
}

/// How the sums of a day by scheme name the scheme.
public struct TotalsRules: Equatable, Sendable {
    public let field: Int
    /// Texts of the field by the scheme's name, as a till has it.
    public let schemes: [String: String]
    /// Of every other one.
    public let other: String
}

/// What a reversal is made of.
public struct ReversalRules: Equatable, Sendable {
    /// 0420 is repeated as advice, 0400 as request.
    public let isAdvice: Bool
    /// Fields of the original that are kept and sent again.
    public let fields: [Int]
    /// Where the reason stands: 39 in 1987, 25 in 1993.
    public let reasonField: Int
    /// Values of the reason by its name.
    public let reasons: [ReversalReason: String]
    /// Set in every whole reversal, as 400 in field 24.
    public let constants: [Int: String]
}

public enum ReversalReason: String, Sendable, CaseIterable {
    case timeout
    case customerCancel
    case malfunction
    case suspectedFraud
    /// The host's answer contradicts the request.
    case badAnswer
}

/// Which data objects go into field 55.
public struct ChipRules: Equatable, Sendable {
    public enum Scheme: String, Sendable, CaseIterable {
        case visa, mastercard, other
    }

    /// Without these nothing is sent.
    public let required: [Tag]
    /// Sent where the card or terminal has them.
    public let optional: [Tag]
    public let schemes: [Scheme: [Tag]]
    /// Sent again with a reversal; never a cryptogram.
    public let reversal: [Tag]
    /// Left out, in this order, where the whole is too long.
    public let expendable: [Tag]
    public let most: Int
}
