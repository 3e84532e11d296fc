// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("A machine that loses its power", .timeLimit(.minutes(15)))
struct PowerCutTests {
    @Test("Forty disks that power cuts of two days may leave: what was told and asked is known, and nobody is charged twice")
    func fortyImages() throws {
        let check = try Peer.run(
            "python3",
            [
                Checkout.file("Tests/Checks/check-power.py").path,
                URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path, "--count", "20",
                "--days", "2", "--real", "1",
            ])
        #expect(check.status == 0, "\(check.said)")
        #expect(check.said.contains("check-power: 40 images, 0 losses"), "\(check.said)")
    }
}
