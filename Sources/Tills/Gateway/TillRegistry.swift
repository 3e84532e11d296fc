// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Every till there is or ever was, by name.
struct TillRegistry: Equatable, Sendable {
    private(set) var tills: [String: Till] = [:]

    /// Both tokens hold for so long, in seconds, while one replaces the other.
    static let overlap: Int64 = 24 * 3_600

    init(_ tills: [Till] = []) {
        for till in tills { self.tills[till.till] = till }
    }

    var all: [Till] { tills.values.sorted { $0.till < $1.till } }

    /// Whose token this is. It takes as long for a till that is unknown as for one that is not.
    func owner(of token: TillToken?, at now: Timestamp) -> Till? {
        let hash = token?.hash ?? ""
        let till = token.flatMap { tills[$0.till] }
        let current = TillToken.isSame(hash, till?.hash ?? Self.nobody)
        let next =
            TillToken.isSame(hash, till?.next?.hash ?? Self.nobody) && (till?.next.map { now < $0.until } ?? false)
        guard let till, till.revokedAt == nil, current || next else { return nil }
        return till
    }

    /// A till has used its token.
    ///
    /// - Returns: whether the book has changed: the day is another one, or the new token takes the old one's place.
    mutating func used(_ token: TillToken, at now: Timestamp) -> Bool {
        guard var till = tills[token.till] else { return false }
        let before = till
        if let next = till.next {
            if TillToken.isSame(next.hash, token.hash) {
                till.hash = next.hash
                (till.next, till.rotating) = (nil, nil)
            } else if now >= next.until {
                // The till never got it: it is told again.
                till.next = nil
            }
        }
        till.lastUsedOn = String(now.description.prefix(10))
        tills[token.till] = till
        return till != before
    }

    /// Whether a till of this name may be paired: a name that was revoked is never used again.
    func mayPair(_ name: String) -> Bool { tills[name]?.revokedAt == nil }

    /// A name for a till to which nobody gave one: the first number that is neither a till's nor promised to one.
    func freeName(_ kind: String, besides promised: Set<String>) -> String {
        var number = 1
        while tills["\(kind)-\(number)"] != nil || promised.contains("\(kind)-\(number)") { number += 1 }
        return "\(kind)-\(number)"
    }

    /// A code has come. A till that is paired anew keeps its name, and its old token ends.
    mutating func pair(_ draft: TillDraft, _ token: TillToken, at now: Timestamp) {
        guard mayPair(draft.till) else { return }
        tills[draft.till] = Till(
            till: draft.till, hash: token.hash, roles: draft.roles, lanes: draft.lanes, types: draft.types,
            origins: draft.origins, createdAt: tills[draft.till]?.createdAt ?? now)
    }

    /// - Returns: whether there was anything to revoke.
    mutating func revoke(_ name: String, at now: Timestamp) -> Bool {
        guard tills[name] != nil, tills[name]?.revokedAt == nil else { return false }
        tills[name]?.revokedAt = now
        tills[name]?.next = nil
        tills[name]?.rotating = nil
        return true
    }

    /// Its token is to be changed; the till fetches the new one.
    mutating func rotate(_ name: String) -> Bool {
        guard tills[name] != nil, tills[name]?.revokedAt == nil else { return false }
        tills[name]?.rotating = true
        return true
    }

    /// The till fetches its new token; again where the answer was lost.
    ///
    /// - Returns: whether one is due.
    mutating func renew(_ token: TillToken, at now: Timestamp) -> Bool {
        guard tills[token.till]?.rotating == true, tills[token.till]?.revokedAt == nil else { return false }
        tills[token.till]?.next = Till.NextToken(hash: token.hash, until: now.advanced(bySeconds: Self.overlap))
        return true
    }

    /// The hash of no token.
    private static let nobody = String(repeating: "-", count: 64)
}
