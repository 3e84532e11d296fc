// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import Rigs
import Testing

/// What a till is told of pcscd itself, played under the real daemon and the real libpcsclite.
@Suite("pcscd and the daemon", .serialized, .timeLimit(.minutes(10)))
struct PCSCServiceTests {
    @Test("R17: a daemon that pcscd refuses says so, in the lane's state and in its log")
    func refused() throws {
        let rig = try FakeRig()
        // More than the daemon will ask in this test.
        for _ in 0..<2_000 { rig.pcscd.force(.code(0x8010_006A), on: .establishContext) }
        rig.pcscd.die()
        try rig.pcscd.start()
        try rig.shop.eventually("a lane that is refused") { try self.laneError(rig.shop) == "reader.access_denied" }
        #expect(try rig.log.contains("reader.access_denied"))
        rig.pcscd.forgetFaults()
        try rig.shop.eventually("a ready lane") { try rig.reader.laneState() == "ready" }
        try rig.reader.pays()
    }

    @Test("R20: a pcscd of another version is told as that")
    func otherVersion() throws {
        let rig = try FakeRig()
        for _ in 0..<2_000 { rig.pcscd.force(.code(0x8010_001E), on: .version) }
        rig.pcscd.die()
        try rig.pcscd.start()
        try rig.shop.eventually("a lane that says why") { try self.laneError(rig.shop) == "reader.service_mismatch" }
        rig.pcscd.forgetFaults()
        try rig.shop.eventually("a ready lane") { try rig.reader.laneState() == "ready" }
    }

    @Test("R21: a sale that waits for its card outlasts a restart of pcscd, and is paid")
    func restarted() throws {
        let rig = try FakeRig()
        let id = try rig.reader.start()
        try rig.reader.events.awaits("read.readyForTap")
        let told = rig.reader.events.count("reader.detached")
        rig.pcscd.die()
        try rig.reader.events.awaits("reader.detached", beyond: told)
        try rig.pcscd.start()
        try rig.pcscd.insert(try #require(CardCatalogue.card(named: "visa")), into: rig.name)
        #expect(try rig.reader.settled(id)["state"] as? String == "approved")
        try rig.pcscd.remove(from: rig.name)
        try rig.shop.eventually("a ready lane") { try rig.reader.laneState() == "ready" }
        try rig.reader.pays()
        try rig.reader.expectBalancedBooks()
    }

    @Test("R5: a till is told of something that does not answer, and the card after it is paid with")
    func mute() throws {
        let rig = try FakeRig()
        let id = try rig.reader.start()
        try rig.reader.events.awaits("read.readyForTap")
        try rig.pcscd.insertMute(into: rig.name)
        try rig.reader.events.awaits("read.retry")
        try rig.pcscd.insert(try #require(CardCatalogue.card(named: "visa")), into: rig.name)
        #expect(try rig.reader.settled(id)["state"] as? String == "approved")
        #expect(rig.reader.events.count("read.retry") == 1)
        try rig.reader.expectBalancedBooks()
    }

    private func laneError(_ shop: Shop) throws -> String? {
        let lanes = try shop.get("/v1/status")["lanes"] as? [[String: Any]]
        return (lanes?.first?["error"] as? [String: Any])?["code"] as? String
    }
}
