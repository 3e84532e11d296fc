// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Codes that are shown on the machine and typed at a till, as a machine: time and randomness come from outside.
struct PairingCodes: Sendable {
    private struct Offer {
        var draft: TillDraft
        var until: Timestamp
    }

    enum Redemption: Equatable {
        case paired(TillDraft)
        case wrong
        /// The code was one once: it was used, or is too old, or was voided.
        case spent
        /// Too many attempts; try again after so many seconds.
        case tooOften(seconds: Int64)
    }

    /// 31 letters and digits that are not taken for each other: eight of them are 39.6 bits.
    private static let letters = Array("23456789ABCDEFGHJKMNPQRSTUVWXYZ")
    private static let length = 8
    /// Seconds.
    static let life: Int64 = 5 * 60
    /// So many wrong codes end every open one.
    static let wrongCodes = 5
    /// Codes that pair nothing; then nobody gets to try.
    static let attemptsPerMinute = 10
    private static let rememberedCodes = 64

    /// By the code's hash.
    private var offers: [String: Offer] = [:]
    /// Hashes of codes that hold no more, oldest first.
    private var spent: [String] = []
    private var wrong = 0
    private var attempts: [Timestamp] = []

    /// - Returns: the code as it is shown: `K7QM-2HXV`. An open one of the same till ends.
    mutating func offer(
        _ draft: TillDraft, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> String {
        for (hash, offer) in offers where offer.draft.till == draft.till { void(hash) }
        if offers.isEmpty { wrong = 0 }
        let letters = (0..<Self.length).map { _ in
            Self.letters[Int.random(in: 0..<Self.letters.count, using: &generator)]
        }
        let code = String(letters)
        offers[TillToken.hash(of: code)] = Offer(draft: draft, until: now.advanced(bySeconds: Self.life))
        return "\(code.prefix(4))-\(code.suffix(4))"
    }

    /// The tills that have an open code.
    func promised(at now: Timestamp) -> Set<String> { Set(offers.values.filter { $0.until > now }.map(\.draft.till)) }

    /// Somebody has typed a code, in any case, with dashes and blanks or without.
    mutating func redeem(_ typed: String, at now: Timestamp) -> Redemption {
        // A clock that was put back must not keep attempts for ever.
        attempts.removeAll { $0.advanced(bySeconds: 60) <= now || $0 > now }
        if attempts.count >= Self.attemptsPerMinute, let first = attempts.first {
            return .tooOften(seconds: max(1, (first.advanced(bySeconds: 60).milliseconds - now.milliseconds) / 1_000))
        }
        for (hash, offer) in offers where offer.until <= now { void(hash) }
        let code = String(typed.uppercased().filter { $0 != "-" && $0 != " " }.prefix(64))
        let hash = TillToken.hash(of: code)
        if let offer = offers[hash] {
            void(hash)
            return .paired(offer.draft)
        }
        attempts.append(now)
        if spent.contains(hash) { return .spent }
        wrong += 1
        if wrong >= Self.wrongCodes {
            for hash in offers.keys { void(hash) }
            wrong = 0
        }
        return .wrong
    }

    /// A till was revoked: its open code must not bring it back.
    mutating func withdraw(_ till: String) {
        for (hash, offer) in offers where offer.draft.till == till { void(hash) }
    }

    private mutating func void(_ hash: String) {
        offers[hash] = nil
        spent.append(hash)
        if spent.count > Self.rememberedCodes { spent.removeFirst(spent.count - Self.rememberedCodes) }
    }
}
