// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PostgreSQL

/// Who asks, by the name in the till's certificate. The tables are asked every five seconds at most, so that a till that is blocked is
/// refused that soon; a till that asks too often is told to wait. Terminals as the acquirer knows them are asked for as seldom.
actor TillRoster {
    enum Admission: Equatable, Sendable {
        case merchant(String)
        case refused
        case tooOften(seconds: Int)
    }

    private struct Entry {
        var merchant: String?
        var lookedUp: UInt64
        var noted: UInt64?
        var bucket: TokenBucket
    }

    private static let second: UInt64 = 1_000_000_000

    private let store: SwitchStore
    /// Requests in a second, of one till; three seconds' worth may come at once.
    private let rate: Double
    private var entries: [String: Entry] = [:]
    private var acceptors: [String: (acceptor: Acceptor, lookedUp: UInt64)] = [:]

    init(store: SwitchStore, rate: Int) {
        self.store = store
        self.rate = Double(rate)
    }

    /// `nil` for a terminal that is not in the tables, which is looked for each time.
    func acceptor(
        _ terminal: AuthorizationRequest.Terminal, at now: UInt64
    ) async throws(DatabaseError) -> Acceptor? {
        let key = terminal.merchant + "\0" + terminal.id
        if let known = acceptors[key], now &- known.lookedUp < 5 * Self.second { return known.acceptor }
        let found = try await store.acceptor(terminal)
        acceptors[key] = found.map { (acceptor: $0, lookedUp: now) }
        return found
    }

    /// - Parameters:
    ///   - version: what the till says of its program.
    ///   - now: nanoseconds of a clock that nobody sets.
    func admit(_ name: String, version: String?, at now: UInt64) async throws(DatabaseError) -> Admission {
        let known = entries[name].map { now &- $0.lookedUp < 5 * Self.second } ?? false
        if !known {
            let merchant = try await store.merchant(ofTill: name)
            var entry = entries[name] ?? Entry(lookedUp: now, bucket: TokenBucket(level: rate * 3, filledAt: now))
            (entry.merchant, entry.lookedUp) = (merchant, now)
            entries[name] = entry
        }
        guard var entry = entries[name], let merchant = entry.merchant else { return .refused }
        let wait = entry.bucket.take(rate, rate * 3, now)
        let isToBeNoted = entry.noted.map { now &- $0 > 60 * Self.second } ?? true
        if isToBeNoted { entry.noted = now }
        entries[name] = entry
        if isToBeNoted {
            // What fails now is noted in a minute; no payment waits for it.
            do throws(DatabaseError) { try await store.noteTill(name, version: version) } catch {}
        }
        return wait.map { .tooOften(seconds: $0) } ?? .merchant(merchant)
    }
}
