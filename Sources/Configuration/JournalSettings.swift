// SPDX-License-Identifier: Apache-2.0
/// `[journal]`: where the books are, and for how long.
public struct JournalSettings: Equatable, Sendable {
    /// Made with mode 0700 where it is missing.
    public var directory: String
    public var retention = Retention()

    public init(directory: String) { self.directory = directory }
}

/// How long what has ended is kept. Payment services and tax law often want more from a shop's own books: these are the
/// daemon's.
public struct Retention: Equatable, Sendable {
    public static let day: Duration = .seconds(86_400)

    /// Transactions, from their last change on.
    public var transactions = day * 90
    /// Entries of the audit chain.
    public var audit = day * 400
    /// Events for clients that come back, which are in memory only.
    public var events = day
    /// How often it is looked after.
    public var interval: Duration = .seconds(3_600)

    public init() {}
}
