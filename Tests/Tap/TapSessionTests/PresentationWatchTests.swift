// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

/// What counts as one failed read, in a time of the test's own.
struct PresentationWatchTests {
    private func at(_ milliseconds: UInt64) -> TapInstant { TapInstant(nanoseconds: milliseconds * 1_000_000) }

    private func failing(at times: [UInt64]) -> PresentationWatch {
        var watch = PresentationWatch()
        for time in times {
            watch.cardFound(at: at(time))
            watch.readFailed()
        }
        return watch
    }

    @Test("R1: however often a card that stays is activated, it has failed once, after a second and a half")
    func stays() {
        var watch = failing(at: Array(stride(from: 0, through: 1_400, by: 50)))
        #expect(watch.ended(at: at(1_499)) == nil)
        #expect(watch.due == at(1_500))
        #expect(watch.ended(at: at(1_500)) == .cardStayed)
        #expect(watch.due == nil && watch.ended(at: at(9_000)) == nil, "it is told once")
    }

    @Test("R1: a card that is being read is given the time for it")
    func isRead() {
        var watch = failing(at: [0])
        watch.cardFound(at: at(1_400))
        #expect(watch.due == nil && watch.ended(at: at(2_500)) == nil)
        watch.readFailed()
        #expect(watch.ended(at: at(2_500)) == .cardStayed)
    }

    @Test(
        "R1: a card that has left has failed once, and not before a second is over",
        arguments: [
            (100, 1_000), (499, 1_000), (700, 1_200), (990, 1_490), (1_300, 1_500),
        ] as [(UInt64, UInt64)])
    func leaves(gone: UInt64, ended: UInt64) {
        var watch = failing(at: [0, 80])
        watch.fieldEmptied(at: at(gone))
        watch.fieldEmptied(at: at(gone + 5))
        #expect(watch.due == at(ended))
        #expect(watch.ended(at: at(ended - 1)) == nil)
        #expect(watch.ended(at: at(ended)) == .cardLeft)
    }

    @Test("R1: a card that the field loses for a moment is the same presentation")
    func flickers() {
        var watch = failing(at: [0])
        watch.fieldEmptied(at: at(100))
        watch.cardFound(at: at(550))
        watch.readFailed()
        #expect(watch.ended(at: at(1_499)) == nil)
        #expect(watch.ended(at: at(1_500)) == .cardStayed)
    }

    @Test("R4: a phone that wants its holder has not failed, however long it lies there")
    func phone() {
        var watch = PresentationWatch()
        for round in 0..<20 as Range<UInt64> {
            watch.cardFound(at: at(round * 1_500))
            watch.startOver()
            #expect(watch.due == nil && watch.ended(at: at(round * 1_500 + 1_400)) == nil)
        }
    }

    @Test("R1: a target that takes no commands is told of once, after a second, and fails nothing")
    func target() {
        var watch = PresentationWatch()
        #expect(!watch.targetFound(at: at(0)) && !watch.targetFound(at: at(999)))
        #expect(watch.targetFound(at: at(1_000)) == true)
        #expect(!watch.targetFound(at: at(1_100)) && !watch.targetFound(at: at(60_000)), "once")
        watch.fieldEmptied(at: at(60_100))
        #expect(watch.targetFound(at: at(60_300)) == false, "the same one, that the field had lost")
        watch.fieldEmptied(at: at(61_000))
        #expect(!watch.targetFound(at: at(61_500)) && watch.targetFound(at: at(62_500)), "another one")
        #expect(watch.due == nil && watch.ended(at: at(99_000)) == nil)
    }

    @Test("R1: whatever the field does, three failed reads take three seconds of somebody's time")
    func random() {
        for seed in 0..<2_000 as Range<UInt64> {
            var random = SplitMix(seed)
            var watch = PresentationWatch()
            var (now, ends): (UInt64, [UInt64]) = (0, [])
            var first: UInt64?
            while ends.count < 3, now < 60_000 {
                now += random.next() % 300
                // Whoever reads is asked before each activation, as the reader does.
                if watch.ended(at: at(now)) != nil {
                    ends.append(now)
                    continue
                }
                switch random.next() % 4 {
                case 0: watch.fieldEmptied(at: at(now))
                case 1: _ = watch.targetFound(at: at(now))
                default:
                    first = first ?? now
                    watch.cardFound(at: at(now))
                    watch.readFailed()
                }
            }
            guard let first, ends.count == 3 else { continue }
            #expect(ends[2] - first >= 3_000, "seed \(seed): \(first), then \(ends)")
        }
    }
}

/// The same numbers from the same seed (SplitMix64).
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
