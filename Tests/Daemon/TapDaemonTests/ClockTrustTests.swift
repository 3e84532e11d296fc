// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing
import Transactions

@testable import TapDaemon

@Suite("Whether the wall clock is believed (A4, rule R2)")
struct ClockTrustTests {
    private static let newest = Timestamp(milliseconds: 1_750_000_000_000)
    private let nobody = ClockTrust.Witnesses()

    /// So long after the start, with the wall clock so many seconds after the journal's newest entry.
    private func moment(_ elapsed: Int64, wall seconds: Int64) -> Moment {
        Moment(monotonic: elapsed * 1_000, wall: Self.newest.advanced(bySeconds: seconds))
    }

    private func doubt(
        wall seconds: Int64, journal: Timestamp? = newest, _ witnesses: ClockTrust.Witnesses = .init(),
        service: Int64? = nil
    ) -> ClockTrust.Doubt? {
        var belief = ClockTrust(journal: journal, at: moment(0, wall: seconds))
        if let service {
            belief.heard(Self.newest.advanced(bySeconds: service), at: moment(0, wall: seconds))
        }
        belief.judge(witnesses, at: moment(0, wall: seconds))
        return belief.doubt
    }

    private static let day: Int64 = 86_400

    @Test("A4 without a second witness it has to be within a day after the journal's newest entry")
    func alone() {
        #expect(doubt(wall: 0) == nil)
        #expect(doubt(wall: -60) == nil, "a time server puts it back by so much")
        #expect(doubt(wall: -61) == .behind)
        #expect(doubt(wall: -365 * Self.day) == .behind)
        #expect(doubt(wall: Self.day) == nil)
        #expect(doubt(wall: Self.day + 1) == .ahead)
        #expect(doubt(wall: 91 * Self.day) == .ahead)
        #expect(doubt(wall: 91 * Self.day, journal: nil) == nil, "new books contradict nothing")
    }

    @Test("A4 a second witness that says the same is enough, also where the journal was written in a wrong year")
    func confirmed() {
        let synchronized = ClockTrust.Witnesses(isSynchronized: true)
        #expect(doubt(wall: 91 * Self.day, synchronized) == nil)
        #expect(doubt(wall: -91 * Self.day, synchronized) == nil)
        #expect(doubt(wall: 91 * Self.day, service: 91 * Self.day) == nil)
        #expect(doubt(wall: -91 * Self.day, service: -91 * Self.day) == nil)
        let signed = ClockTrust.Witnesses(profileIssuedAt: Self.newest.advanced(bySeconds: 91 * Self.day))
        #expect(doubt(wall: 91 * Self.day + 3_600, signed) == nil)
        #expect(doubt(wall: 91 * Self.day, .init(isSynchronized: false)) == .ahead, "that is no witness")
    }

    @Test("A4 what the payment service says of the time counts more than the machine's word that it is right")
    func contradicted() {
        #expect(doubt(wall: 0, .init(isSynchronized: true), service: 2 * Self.day) == .contradicted)
        #expect(doubt(wall: 2 * Self.day, .init(isSynchronized: true), service: 0) == .contradicted)
        #expect(doubt(wall: Self.day, service: 0) == nil)
    }

    @Test("A4 before a signed profile was issued no clock is right")
    func profile() {
        let signed = ClockTrust.Witnesses(profileIssuedAt: Self.newest.advanced(bySeconds: 3_600))
        #expect(doubt(wall: 3_000, signed) == .behind)
        #expect(doubt(wall: 3_600, signed) == nil)
    }

    @Test("A4 a clock that jumps while the daemon runs is not believed, and is again once it is put right")
    func jumps() {
        var belief = ClockTrust(journal: Self.newest, at: moment(0, wall: 10))
        belief.judge(nobody, at: moment(0, wall: 10))
        belief.judge(nobody, at: moment(30 * Self.day, wall: 30 * Self.day))
        #expect(belief.doubt == nil, "time passes")
        belief.judge(nobody, at: moment(30 * Self.day + 1, wall: 121 * Self.day))
        #expect(belief.doubt == .ahead)
        belief.judge(nobody, at: moment(30 * Self.day + 2, wall: 30 * Self.day + 2))
        #expect(belief.doubt == nil)
        belief.judge(nobody, at: moment(30 * Self.day + 3, wall: 3))
        #expect(belief.doubt == .behind)
        belief.judge(nobody, at: moment(30 * Self.day + 4, wall: 30 * Self.day + 4))
        #expect(belief.doubt == nil)
    }

    @Test("A4 what was written with a clock that nobody believed is no witness for it at the next start")
    func written() {
        let wrong = Self.newest.advanced(bySeconds: 91 * Self.day)
        func doubt(wall seconds: Int64, _ witnesses: ClockTrust.Witnesses = .init()) -> ClockTrust.Doubt? {
            var belief = ClockTrust(believed: Self.newest, journal: wrong, at: moment(0, wall: seconds))
            belief.judge(witnesses, at: moment(0, wall: seconds))
            return belief.doubt
        }
        #expect(doubt(wall: 91 * Self.day) == .ahead)
        #expect(doubt(wall: 3_600) == nil, "the clock is right again, whatever the journal says")
        #expect(doubt(wall: -3_600) == .behind)
        #expect(doubt(wall: 91 * Self.day, .init(isSynchronized: true)) == nil)
    }

    @Test("A4 small steps ahead do not add up")
    func creeping() {
        var belief = ClockTrust(journal: Self.newest, at: moment(0, wall: 0))
        var doubts: [ClockTrust.Doubt?] = []
        for step in 1...4 as ClosedRange<Int64> {
            belief.judge(nobody, at: moment(step, wall: step * Self.day * 9 / 10))
            doubts.append(belief.doubt)
        }
        #expect(doubts == [nil, .ahead, .ahead, .ahead])
    }

    @Test(
        "W11: how late it may be is told by a clock that is believed, and by one that caught up with the time it lost by nobody"
    )
    func latest() {
        func possible(
            _ elapsed: Int64, wall seconds: Int64, _ witnesses: ClockTrust.Witnesses = .init(), service: Int64? = nil
        ) -> Int64? {
            var belief = ClockTrust(believed: Self.newest, journal: nil, at: moment(0, wall: 0))
            if let service { belief.heard(Self.newest.advanced(bySeconds: service), at: moment(elapsed, wall: 0)) }
            belief.judge(witnesses, at: moment(elapsed, wall: seconds))
            let latest = belief.latestPossible(at: moment(elapsed, wall: seconds))
            return latest.map { ($0.milliseconds - Self.newest.milliseconds) / 1_000 }
        }
        #expect(possible(10, wall: 600) == 720, "two minutes that nobody can tell")
        #expect(possible(10, wall: -30) == 130, "it is as late as an earlier run knew, and later")
        #expect(possible(0, wall: -3_600) == nil)
        // It goes on from where it was put back, and gets past the time that was believed: it lost that hour all the same.
        #expect(possible(7_200, wall: 3_600) == nil)
        #expect(possible(7_200, wall: 7_200) == 7_320, "it is put right")
        #expect(possible(7_200, wall: 3_600, .init(isSynchronized: true)) == 7_320)
        #expect(
            possible(0, wall: -3_600, service: 7_200) == 7_260, "the service knows better than a clock within a day")
        #expect(possible(0, wall: -3_600, service: 3 * Self.day) == nil, "contradicted")
        #expect(possible(0, wall: 2 * Self.day) == nil, "ahead")
    }
}
