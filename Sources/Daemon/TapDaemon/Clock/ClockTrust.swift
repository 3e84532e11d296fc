// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Transactions

/// Whether the wall clock is believed, without asking any clock: what is known of the time goes in, a judgement comes out
/// (docs/internals/decisions/0019).
///
/// A clock can be wrong by years after a dead battery, and right again a minute later. Nothing may be erased meanwhile, and
/// no live payment taken: dates of cards, keys and profiles would be judged by it.
struct ClockTrust: Sendable {
    /// Why the wall clock is not believed.
    typealias Doubt = ClockStatus.Doubt

    /// What others say of the time just now.
    struct Witnesses: Sendable {
        /// Whether the machine's clock follows a time service; `nil` where nobody says.
        var isSynchronized: Bool?
        /// When the profile in force was signed.
        var profileIssuedAt: Timestamp?
    }

    /// A time server may put a clock back by less than this while it begins to follow it.
    static let tolerance: Duration = .seconds(60)
    /// Beyond it a second witness is wanted.
    static let farthest: Duration = .seconds(86_400)

    /// What an earlier run believed last, or the latest moment that a second witness confirmed.
    private var base: Moment?
    /// The latest time that was believed: before it the clock is wrong, or was.
    private(set) var latest: Timestamp?
    /// What the payment service said, with when that was heard.
    private var service: Moment?
    /// `nil` where the clock is believed.
    private(set) var doubt: Doubt?
    /// What an earlier run believed last, with the beginning of this one: it is later by now.
    private let known: Moment?
    /// When the clock was judged, a second witness said the same.
    private var isConfirmed = false

    /// - Parameters:
    ///   - believed: the last time that an earlier run believed. The newest entry proves nothing beside it: a daemon writes
    ///     with a wrong clock, too.
    ///   - newest: time of the journal's newest entry, for a journal of which nobody has noted that; `nil` for an empty one.
    init(believed: Timestamp? = nil, journal newest: Timestamp?, at now: Moment) {
        latest = believed ?? newest
        base = latest.map { Moment(monotonic: now.monotonic, wall: $0) }
        known = base
    }

    /// The payment service has said what time it is.
    mutating func heard(_ time: Timestamp, at now: Moment) { service = Moment(monotonic: now.monotonic, wall: time) }

    /// Judges the clock.
    mutating func judge(_ witnesses: Witnesses, at now: Moment) {
        doubt = doubt(witnesses, now)
        isConfirmed = isConfirmed(witnesses, now)
        guard doubt == nil else { return }
        latest = now.wall
        if base == nil || isConfirmed { base = now }
    }

    /// The latest that it may be, for whatever was sent before; `nil` where nobody knows. A clock that is believed may be
    /// behind by as much as a second witness is coarse.
    func latestPossible(at now: Moment) -> Timestamp? {
        guard doubt == nil, let latest = now.latest(after: known, isConfirmed: isConfirmed) else { return nil }
        guard let service else { return latest }
        return max(latest, service.wall(at: now).moved(by: ClockTrust.tolerance))
    }

    private func doubt(_ witnesses: Witnesses, _ now: Moment) -> Doubt? {
        if let service, !isNear(now.wall, service.wall(at: now)) { return .contradicted }
        guard !isConfirmed(witnesses, now) else { return nil }
        let earliest = [latest, witnesses.profileIssuedAt].compactMap(\.self).max()
        if let earliest, now.wall < earliest.moved(by: .zero - ClockTrust.tolerance) { return .behind }
        guard let base, now.wall > base.wall(at: now).moved(by: ClockTrust.farthest) else { return nil }
        // A profile that was signed within a day is as good as a witness.
        guard let issued = witnesses.profileIssuedAt, isNear(now.wall, issued) else { return .ahead }
        return nil
    }

    /// A second witness says the same.
    private func isConfirmed(_ witnesses: Witnesses, _ now: Moment) -> Bool {
        service != nil || witnesses.isSynchronized == true
    }

    private func isNear(_ time: Timestamp, _ other: Timestamp) -> Bool {
        time >= other.moved(by: .zero - ClockTrust.farthest) && time <= other.moved(by: ClockTrust.farthest)
    }
}

extension Timestamp {
    func moved(by duration: Duration) -> Timestamp { advanced(bySeconds: duration.components.seconds) }
}
