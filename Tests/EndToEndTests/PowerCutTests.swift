// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("A machine that loses its power", .timeLimit(.minutes(15)))
struct PowerCutTests {
    @Test("Forty disks that power cuts may leave: what was told and asked is known, and nobody is charged twice")
    func fortyImages() throws {
        let check = try check("--count", "20", "--days", "2", "--real", "1")
        #expect(check.status == 0, "\(check.said)")
        #expect(check.said.contains("check-power: 40 images, 0 losses"), "\(check.said)")
    }

    @Test("W23: while a disk fails, is full or read-only, log, status and doctor say so, and what to do")
    func words() throws {
        let check = try check("--faults", "--count", "5")
        #expect(check.status == 0 && check.said.contains("check-power: 5 faults, 0 losses"), "\(check.said)")
        #expect(check.said.contains("3 met"), "\(check.said)")
    }

    private func check(_ arguments: String...) throws -> Finished {
        let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
        return try Peer.run("python3", [Checkout.file("Tests/Checks/check-power.py").path, programs] + arguments)
    }
}
