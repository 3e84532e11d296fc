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

extension Language {
    public func text(_ word: SummaryWord, _ values: [TextKey.Placeholder: String] = [:]) -> String {
        text(.summary(word), values)
    }

    /// A line of a report: the label, and its value in the same column as every other.
    public func line(_ label: SummaryWord, _ value: String) -> String { line(text(label), value) }

    public func line(_ words: String, _ value: String) -> String {
        "  " + words + String(repeating: " ", count: max(1, 15 - Columns.count(words))) + value
    }

    /// The amount with the language's decimal sign: `12,50 EUR`.
    public func text(_ money: Money) -> String { "\(money)".replacing(".", with: text(.decimalSeparator)) }
}
