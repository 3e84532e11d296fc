// SPDX-License-Identifier: Apache-2.0
public import PaymentValues
import Settings

/// `[journal]`: where the books are, and for how long.
public struct JournalSettings: Equatable, Sendable {
    /// Made with mode 0700 where it is missing.
    public var directory: String
    public var retention = Retention()

    public init(directory: String) { self.directory = directory }
}

/// `[day]`: when the business day ends.
public struct DaySettings: Equatable, Sendable {
    /// Minutes after midnight by the machine's zone at which the daemon closes the day by itself; `nil` where it does not.
    public var endsAt: Int?
    /// What keeps a day open until it has an end, or somebody closes the day with force.
    public var blockOn: Set<OpenEntry.Kind> = []

    init() {}

    init(_ table: inout ConfigurationTable) {
        if let text = table.text("ends-at") {
            endsAt = DaySettings.minutes(text)
            if endsAt == nil { table.report("ends-at", "is no time of day", "write it as \"04:00\"") }
        }
        for text in table.texts("block-on") {
            if let kind = OpenEntry.Kind(rawValue: text) {
                blockOn.insert(kind)
            } else {
                table.report(
                    "block-on", "names no kind of open entry",
                    "use " + OpenEntry.Kind.allCases.map(\.rawValue).joined(separator: ", "))
            }
        }
        table.finish()
    }

    private static func minutes(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), (0...23).contains(hour), (0...59).contains(minute)
        else { return nil }
        return hour * 60 + minute
    }
}

/// How long what has ended is kept. Payment services and tax law often want more from a shop's own books: these are the
/// daemon's.
public struct Retention: Equatable, Sendable {
    public static let day: Duration = .seconds(86_400)

    /// Transactions, from their last change on.
    public var transactions = day * 90
    /// Payments that can still be refunded, whatever is said of transactions.
    public var refundable = day * 400
    /// `[credentials]`: what customers agreed to, from its end on: five years, one of them with a day more.
    public var proofs = day * 1_826
    /// Entries of the audit chain.
    public var audit = day * 400
    /// Events for clients that come back, which are in memory only.
    public var events = day
    /// How often it is looked after.
    public var interval: Duration = .seconds(3_600)

    public init() {}
}
