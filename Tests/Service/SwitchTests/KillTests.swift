// SPDX-License-Identifier: Apache-2.0
import Foundation
import PSPAPI
import PaymentValues
import TestSupport
import Testing

@testable import rig_tills

/// Replicas die at any moment, the database with them, and the acquirer loses, doubles, delays and cuts off its answers: no payment
/// is charged twice, and none is lost. `make check-switch` pays a thousand times.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct KillTests {
    private static let payments = Int(ProcessInfo.processInfo.environment["NFC_TAP_SWITCH_PAYMENTS"] ?? "") ?? 320
    private static let tills = 32

    /// Mostly approved; the rest by the digits of `acquirer.py`.
    private static func amount(_ source: inout SeededGenerator) -> Int64 {
        let cents: [Int64] = [0, 0, 0, 0, 0, 0, 0, 0, 5, 10, 51, 91, 94, 95, 96, 97, 98, 99]
        let whole = Int64.random(in: 1...90, using: &source) * 100
        return whole + cents[Int.random(in: 0..<cents.count, using: &source)]
    }

    @Test func `no payment is charged twice or lost while replicas and the database die`() async throws {
        let faults = ["lost=10", "twice=10", "late=10", "closed=5", "seconds=3"]
        try await SwitchRig.run(replicas: 3, faults: faults, answerSeconds: 2) { rig in
            let killer = Task {
                var source = SeededGenerator(seed: 7)
                var round = 0
                while !Task.isCancelled {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 500...2_500, using: &source)))
                    rig.kill(Int.random(in: 0..<3, using: &source))
                    round += 1
                    if round == 5 {
                        try rig.server.crash()
                        try rig.server.start()
                    }
                }
            }
            defer { killer.cancel() }
            let till = TestTill(rig.proxy)
            var beliefs: [String: TestTill.Belief] = [:]
            try await withThrowingTaskGroup { group in
                for number in 0..<Self.tills {
                    group.addTask {
                        var source = SeededGenerator(seed: UInt64(number) + 1)
                        var own: [String: TestTill.Belief] = [:]
                        for _ in 0..<max(1, Self.payments / Self.tills) {
                            let request = try await till.sale(Self.amount(&source))
                            let cancels = Int.random(in: 0..<20, using: &source) == 0
                            own[request.id.text] = try await till.pay(request, cancels: cancels)
                        }
                        return own
                    }
                }
                for try await own in group { beliefs.merge(own) { $1 } }
            }
            killer.cancel()
            // Not in the middle of the database's death.
            _ = await killer.result
            try await PaymentBooksCheck(rig).holds(beliefs)
            try CardNumbers.areNowhere(in: [rig.folder, rig.server.folder])
            let kinds = Dictionary(grouping: beliefs.values) { belief -> String in
                if case .approved = belief { "approved" } else { "\(belief)" }
            }
            print("switch:", kinds.mapValues(\.count).sorted { $0.key < $1.key })
            // Otherwise the acquirer has approved nothing, and nothing was proved.
            #expect((kinds["approved"]?.count ?? 0) * 8 > beliefs.count)
        }
    }
}
