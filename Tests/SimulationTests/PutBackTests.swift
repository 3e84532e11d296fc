// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import tap_simulation

/// A part of `make simulate` in every test run.
struct PutBackTests {
    @Test("In shops in which everything lies, the rules hold after every step, and the books say what was booked")
    func rules() async {
        let total = await Simulation.run(20_000, shares: 2)
        #expect(total.fault == nil, "SEED=\(total.fault?.seed ?? 0): \(total.fault?.what ?? "")")
        #expect(total.found.keys.allSatisfy { $0 == .open }, "\(total.found)")
        #expect(total.transactions >= 20_000)
    }

    @Test("A mend that is undone is found, and would not be found if it were not", arguments: Setting.PutBack.allCases)
    func putBack(_ mend: Setting.PutBack) {
        #expect(Simulation.seed(finding: mend, atMost: 50_000) != nil)
    }

    @Test("The story of a seed that fails is told as short as it can be")
    func shrunk() throws {
        let undone = Setting(putBack: .a7)
        let found = try #require(Simulation.seed(finding: .a7, atMost: 50_000))
        var whole = Story(seed: found.seed, undone, isTold: true)
        let setting = Story.shrunk(seed: found.seed, undone) { $0.isFound(.a7) }
        var short = Story(seed: found.seed, setting, isTold: true)
        #expect(whole.isFound(.a7) && short.isFound(.a7))
        #expect(short.rows.count <= whole.rows.count)
        #expect(short.lines.count <= whole.lines.count)
    }
}
