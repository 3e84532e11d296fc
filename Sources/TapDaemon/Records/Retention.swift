/// How long what has ended is kept. Payment services and tax law often want more from a shop's own books: these are the
/// daemon's.
struct Retention: Equatable, Sendable {
    static let day: Duration = .seconds(86_400)

    /// Transactions, from their last change on.
    var transactions = day * 90
    /// Entries of the audit chain.
    var audit = day * 400
    /// Events for clients that come back, which are in memory only.
    var events = day
    /// How often it is looked after.
    var interval: Duration = .seconds(3_600)
}
