// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import PostgreSQL

/// An exchange with the acquirer as a row of the books: the stage in words, the messages in one sealed piece.
enum StoredExchange {
    static func stage(_ stage: Exchange.Stage) -> String {
        switch stage {
        case .awaiting: "awaiting"
        case .answered: "answered"
        case .reversing: "reversing"
        case .reversed, .voided: "reversed"
        case .advising: "advising"
        case .advised: "advised"
        case .reconciling: "reconciling"
        case .reconciled: "reconciled"
        }
    }

    /// What is kept of an answer: its code, whether an advice was accepted, what became of a day's sums.
    /// While it is taken back: whether the host had approved it.
    static func detail(_ exchange: Exchange) -> String {
        switch exchange.stage {
        case .reversing where exchange.isApprovedByHost: approvedBefore
        case .answered(let verdict): verdict.code
        case .advised(let isAccepted): isAccepted ? "accepted" : "declined"
        case .reconciled(let balance): "\(balance)"
        case .awaiting, .reversing, .reversed, .voided, .advising, .reconciling: ""
        }
    }

    private static let approvedBefore = "approved"

    /// The messages that have to be kept, each behind two bytes of length; `nil` where none has to be.
    ///
    /// - Parameter isFinal: nothing can follow it, so that the card is no longer needed.
    static func content(_ exchange: Exchange, _ packager: Packager, isFinal: Bool) -> SecretBytes? {
        guard !isFinal else { return nil }
        var messages = [exchange.original]
        if let repeated = exchange.repetition?.message, repeated != exchange.original { messages.append(repeated) }
        if case .advised = exchange.stage {
            messages = [exchange.original.keeping(matched + packager.reversal.fields)]
        }
        var bytes: [UInt8] = []
        for message in messages {
            guard let built = try? packager.build(message) else { return nil }
            bytes += [UInt8(built.count >> 8 & 0xFF), UInt8(built.count & 0xFF)] + built
        }
        return SecretBytes(bytes)
    }

    /// Fields by which answers are found and what follows is made.
    private static let matched = [3, 4, 7, 11, 12, 32, 33, 37, 41, 49]

    /// `nil` for what cannot be read, or has no message where its stage needs one.
    static func exchange(_ row: Row, _ content: SecretBytes, _ packager: Packager) -> Exchange? {
        let bytes = content.withSpan { span in span.indices.map { span[$0] } }
        var messages: [ISOMessage] = []
        var rest = bytes[...]
        while let high = rest.popFirst(), let low = rest.popFirst() {
            let count = Int(high) << 8 | Int(low)
            guard rest.count >= count, let message = try? packager.parse(Array(rest.prefix(count))) else { return nil }
            messages.append(message)
            rest = rest.dropFirst(count)
        }
        guard var original = messages.first, let last = messages.last else { return nil }
        // Its answer came after the message was sealed.
        if packager.answers.reference == .host, let reference = row["reference"] { original.set(37, reference) }
        let repetition = Repetition(
            message: last, attempts: Int(row.number("attempts") ?? 0), isGivenUp: row.flag("given_up"))
        let stage: Exchange.Stage
        switch row.text("stage") {
        case "awaiting": stage = .awaiting(until: 0, cancelled: nil)
        case "answered": stage = .answered(row.text("detail") == "10" ? .partial : .approved)
        case "reversing": stage = .reversing(repetition)
        case "reversed": stage = .reversed
        case "advising": stage = .advising(repetition)
        case "reconciling": stage = .reconciling(repetition)
        case "advised": stage = .advised(isAccepted: row.text("detail") == "accepted")
        default: return nil
        }
        return Exchange(
            id: ExchangeID(row.text("id")), order: 0, original: original, stage: stage,
            isApprovedByHost: row.text("stage") == "reversing" && row.text("detail") == approvedBefore)
    }
}
