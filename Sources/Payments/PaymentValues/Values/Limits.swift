// SPDX-License-Identifier: Apache-2.0
import Codes

/// What the POS socket accepts at most. Each limit has its own answer in the error catalogue.
public enum Limits {
    /// Largest amount in minor units: twelve digits. A shop that wants less has its limits in its profile and its configuration.
    public static let amount = CurrencyCode.largestAmount
    /// Stored payments in one batch.
    public static let batchSize = 1...100
    public static let items = 64
    /// Lanes of a daemon, and so of a request.
    public static let lanes = 64
    /// Characters of an item's label.
    public static let labelLength = 32
    /// Characters of a merchant's order reference.
    public static let orderLength = 64
    /// Payments of which an instalment is one.
    public static let instalments = 2...999
    /// Entries of `preferredApplications`, and the bytes of each.
    public static let preferredApplications = 4
    public static let applicationIdentifierLength = 5...16
    /// Seconds within which the card must be presented.
    public static let deadlineSeconds = 1...600
    public static let defaultDeadlineSeconds = 60
    /// Commands to a card in one request, and the hexadecimal digits of each: a short command APDU.
    public static let cardCommands = 1...32
    public static let cardCommandDigits = 8...522
    /// Seconds within which their card must be presented, and in which it has to answer all of them.
    public static let cardCommandDeadlineSeconds = 1...60
    public static let defaultCardCommandDeadlineSeconds = 15
    public static let cardCommandSeconds = 30
    /// Seconds within which an approval can have to be confirmed.
    public static let confirmSeconds = 1...600
    /// Seconds in which a customer may pay a link.
    public static let linkSeconds = 60...86_400
    public static let defaultLinkSeconds = 900
    /// Seconds in which a customer may pay at another terminal.
    public static let handoverSeconds = 30...3_600
    public static let defaultHandoverSeconds = 180
    /// Characters of a terminal's name, and terminals of one payment service that a till can offer.
    public static let terminalNameLength = 64
    public static let handoverTerminals = 16
    /// Seconds a caller may wait for a settled state.
    public static let waitSeconds = 0...600
    /// Visible ASCII characters of an Idempotency-Key.
    public static let idempotencyKeyLength = 1...128
    /// Loyalty programmes in one request, and the characters of a programme's id and of a language tag.
    public static let programmes = 16
    public static let programmeLength = 32
    public static let languageLength = 35
    /// Characters of the note of a settlement, and the open items in one answer.
    public static let noteLength = 500
    /// Characters of an agreement, and the earlier transactions in the answer to a look-up.
    public static let agreementLength = 10_000
    public static let earlier = 20
    public static let openItems = 100
    /// Open entries in totals and reports.
    public static let openEntries = 200
    /// Lines of a reconciliation, items in one of its pages and in a line, and those that a difference shows.
    public static let reconciliationItems = 100_000
    public static let reconciliationLines = 1_000
    public static let reconciliationPage = 500
    public static let differenceItems = 100
    /// Transactions in a page of a list.
    public static let page = 1...100
    public static let pageDefault = 50
    /// Characters of a business day's label.
    public static let dayLabelLength = 64
    /// Bytes of an acceptance file.
    public static let acceptanceFileLength = 16 * 1024
    /// Characters of an error message, and of a field's path in it.
    public static let messageLength = 128
    static let fieldPathLength = 128
}
