// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import ReaderCore
import Rigs
import Testing

extension PCSCTests {
    /// The same through the unmodified pcscd. Skipped where that is not possible, except in CI.
    @Suite(
        .enabled(
            if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
            Comment(rawValue: PrivatePCSCD.missing ?? "")))
    struct PrivateRestartTests {
        @Test func `R21: one wait outlasts the unmodified pcscd's crash and restart`() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                // A busy machine may start pcscd later than a reader waits for it: ten seconds. Then it is tried once more.
                for _ in 0..<10 {
                    rig.pcscd.kill()
                    let waited = soon(10_000)
                    try rig.pcscd.restart()
                    rig.card.insert(SmokeCard())
                    do {
                        #expect(try rig.activate().isCard)
                        #expect(try rig.transmit(select).status == .success)
                        return
                    } catch ReaderError.detached {
                        #expect(monotonicNow() > waited)
                    }
                }
                Issue.record("the reader did not come back")
            }
        }

        @Test func `R8: behind the unmodified pcscd a card with contacts gets no command`() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                let contacts = try Hex.bytes("3B6800000073C84000009000")
                rig.card.insert(TestCard(uid: [], technology: .unknown, atr: contacts))
                #expect(try rig.activate() == .unreadable)
                rig.card.insert(SmokeCard())
                #expect(try rig.activate().isCard)
            }
        }
    }
}
