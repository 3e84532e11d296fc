// SPDX-License-Identifier: Apache-2.0
import Codes

/// The words in which a command reports how a transaction ended. Labels take at most 14 columns: values stand in a column.
public enum SummaryWord: String, CaseIterable, Sendable {
    /// `held`: approved, and nothing is charged before it is captured.
    case approved, partiallyApproved, held, declined, stored, unknown, passReadOnly
    case refunded, verified, lookedUp, cardStored, cardNotStored, waiting, handedOver, reversed, cancelled,
        notCompleted
    /// Of a cancellation that came after the read.
    case tooLate, tooLateReversed, nothingToCancel
    case passRead, noPass, noCard, testMode, noMoneyMoves
    case approvalCode, responseCode, reason, notSupported, error, remedy, otherTerminal, sameAs, confirmed, toConfirm
    case settled, next, transaction, card, storedCard, earlier, customer
    /// `{code}` is a transaction, `{command}` what a person types.
    case sameAsText, toConfirmText, settledText, contradictedText
    case charged, notCharged
    /// Another way to pay goes on with what was read.
    case readKept
    /// Of a transaction whose answer was lost.
    case outcomeUnknown, lookUpFirst
    /// A capture, an adjustment or a release, by its id; and one that was only tried.
    case operation, dryRun
    /// Before what can be done about a failure.
    case hint

    /// Stands before values.
    public static let labels: [SummaryWord] = [
        .approvalCode, .responseCode, .reason, .notSupported, .error, .remedy, .otherTerminal, .sameAs, .confirmed,
        .toConfirm, .settled, .next, .transaction, .card, .storedCard, .earlier, .customer, .operation,
    ]
}

/// The words in which a command says how the daemon is, and what waits there: `status`, `queue` and `open`.
public enum StatusPhrase: String, CaseIterable, Sendable {
    case mode, terms, profile, cards, others, blocked, adapter, queue, settle, lane
    case test, live, up, down, notAsked
    case termsNotRequired, termsNotAccepted, termsAccepted, termsRevoked, acceptAt
    case profileOf, signedBy, notSigned, expires, acceptedUntil, profileRefused
    case storedCount, storedUnknown, oldest, overdue, reversals, unreadable
    case needPerson, nothingOpen, openSince, askedOf
    case noReader, heldBy
    case nothingStored, overdueDo, openBatch, attempts, cannotStore, storedUntil, batchMade, left, noBatch, openOne
    case noNumber, seeNumbers
    /// The daemon cannot be asked, and what to do.
    case away, startIt, denied, joinGroup, unanswered, repeatKey, stopped, lookUp

    /// Stands before values.
    public static let labels: [StatusPhrase] = [
        .mode, .terms, .profile, .cards, .others, .blocked, .adapter, .queue, .settle, .lane,
    ]
}

extension Language {
    public func text(_ word: StatusPhrase, _ values: [TextKey.Placeholder: String] = [:]) -> String {
        text(.status(word), values)
    }

    /// A line of the status: the label, and its value in the same column as every other; without a label it goes on from the line before.
    public func line(_ label: StatusPhrase?, _ value: String) -> String {
        let column = (StatusPhrase.labels.map { Columns.count(text($0)) }.max() ?? 0) + 2
        let label = label.map { text($0) } ?? ""
        return label + String(repeating: " ", count: max(1, column - Columns.count(label))) + inOrder(value)
    }

    public func text(_ word: SummaryWord, _ values: [TextKey.Placeholder: String] = [:]) -> String {
        text(.summary(word), values)
    }

    /// A line of a report: the label, and its value in the same column as every other.
    public func line(_ label: SummaryWord, _ value: String) -> String { line(text(label), value) }

    public func line(_ words: String, _ value: String) -> String {
        "  " + words + String(repeating: " ", count: max(1, 15 - Columns.count(words))) + inOrder(value)
    }

    /// The amount with the language's decimal sign: `12,50 EUR`.
    public func text(_ money: Money) -> String { inOrder("\(money)".replacing(".", with: text(.decimalSeparator))) }
}
