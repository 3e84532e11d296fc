// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import ReaderCore
import ReaderPCSC
import Rigs
import TestSupport
import Testing

extension PCSCTests {
    /// Through the unmodified pcscd and Debian's vpcd driver, each in a process of its own. Skipped where that is not
    /// possible, except in CI.
    @Suite(
        .enabled(
            if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
            Comment(rawValue: PrivatePCSCD.missing ?? "")))
    struct PrivatePCSCDTests {
        @Test func `a card is read, leaves, and another is read`() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                rig.card.insert(SmokeCard())
                #expect(try rig.activate().isCard)
                #expect(try rig.transmit(select).data.count == 49)
                #expect(try rig.transmit("E0020100").data.count == 256)
                rig.card.remove()
                try rig.reader.waitForRemoval(until: soon(), cancellation: TapCancellation())
                rig.card.insert(TestCard(uid: [4, 3, 2, 1]))
                guard case .card(let card) = try rig.activate() else {
                    Issue.record("no card")
                    return
                }
                #expect(card.uid == [4, 3, 2, 1])
            }
        }

        @Test("R1: that a card has left is told once, and half a status word leaves it where it is")
        func leaves() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                rig.card.insert(SmokeCard())
                #expect(try rig.activate().isCard)
                #expect(throws: ReaderError.cardLost) { _ = try rig.transmit("E0070000") }
                #expect(try rig.activate().isCard)
                rig.card.remove()
                #expect(try rig.reader.activate(until: soon(), cancellation: TapCancellation()) == .emptied)
                #expect(throws: ReaderError.timedOut) { _ = try rig.activate(milliseconds: 100) }
            }
        }

        @Test("R1: a tag that takes no commands is known by the ATR that the reader makes for it")
        func tag() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                for (name, takes) in [([0x00, 0x01], false), ([0x00, 0x03], false), ([0xFF, 0x28], true)]
                    as [([UInt8], Bool)]
                {
                    let bytes = [0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0, 0, 3, 6, 3] + name + [0, 0, 0, 0]
                    rig.card.insert(TestCard(uid: [1, 2, 3, 4], atr: [0x3B] + bytes + [bytes.reduce(0, ^)]))
                    guard case .card(let card) = try rig.activate() else { Issue.record("no card"); return }
                    #expect(card.takesCommands == takes, "\(name)")
                    rig.card.remove()
                    try rig.reader.waitForRemoval(until: soon(), cancellation: TapCancellation())
                }
            }
        }

        @Test func `a card that leaves in mid-command, or answers nothing, is lost`() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                rig.card.insert(SmokeCard())
                _ = try rig.activate()
                #expect(throws: ReaderError.cardLost) { _ = try rig.transmit("E0050000") }
                rig.card.insert(SmokeCard())
                #expect(try rig.activate().isCard)
                #expect(try rig.transmit(select).status == .success)
            }
        }

        @Test("D11: a card that stops answering holds up pcscd's driver until the deadline, and the reader works again")
        func silentCard() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                rig.card.insert(SmokeCard())
                _ = try rig.activate()
                // The rig says nothing from here on.
                #expect(throws: ReaderError.timedOut) { _ = try rig.transmit("E0060000", milliseconds: 200) }
                rig.card.remove()
                rig.card.insert(SmokeCard())
                let deadline = soon()
                while monotonicNow() < deadline {
                    guard let presence = try? rig.activate(milliseconds: 2_000) else { continue }
                    #expect(presence.isCard)
                    #expect(try rig.transmit(select).status == .success)
                    return
                }
                Issue.record("the reader did not come back")
            }
        }

        @Test func `a card slower than the deadline costs the deadline`() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                rig.card.insert(SmokeCard())
                _ = try rig.activate()
                let answered = soon(12_000)
                noSooner(than: 100) {
                    #expect(throws: ReaderError.timedOut) { _ = try rig.transmit("E0042EE0", milliseconds: 100) }
                }
                #expect(monotonicNow() < answered, "the card had not answered yet")
            }
        }

        /// pcscd notices nothing and lets the second card answer on the first one's handle; the UID tells.
        @Test func `a card swapped between two looks of pcscd has another UID at the next activation`() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                rig.card.insert(TestCard(uid: [1, 1, 1, 1]))
                _ = try rig.activate()
                rig.card.swap(TestCard(uid: [2, 2, 2, 2]))
                let deadline = soon()
                var answer: ResponseAPDU?
                while answer == nil, monotonicNow() < deadline { answer = try? rig.transmit(select) }
                #expect(answer?.data == [2, 2, 2, 2])
                // On a busy machine pcscd may notice after all, while it is activated.
                var uid: [UInt8]?
                while uid == nil, monotonicNow() < deadline {
                    if case .card(let card)? = try? rig.activate() { uid = card.uid }
                }
                #expect(uid == [2, 2, 2, 2])
            }
        }

        @Test func `a reader survives pcscd's crash and restart`() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                rig.card.insert(SmokeCard())
                _ = try rig.activate()
                rig.pcscd.kill()
                #expect(throws: ReaderError.detached) { _ = try rig.transmit("E00403E8") }
                try rig.pcscd.restart()
                rig.card.insert(SmokeCard())
                let deadline = soon()
                while monotonicNow() < deadline {
                    guard let presence = try? rig.activate(milliseconds: 2_000) else { continue }
                    #expect(presence.isCard)
                    #expect(try rig.transmit(select).status == .success)
                    return
                }
                Issue.record("the reader did not come back")
            }
        }

        @Test func `a pcscd that hangs costs the deadline, and the reader works once it goes on`() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                rig.card.insert(SmokeCard())
                _ = try rig.activate()
                rig.pcscd.freeze()
                noSooner(than: 100) {
                    #expect(throws: ReaderError.timedOut) { _ = try rig.transmit(select, milliseconds: 100) }
                }
                rig.reader.release()
                rig.pcscd.thaw()
                #expect(try rig.activate().isCard)
            }
        }

        @Test func `the launcher runs a command beside pcscd and ends with its status`() throws {
            let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            try PrivatePCSCD.configuration([PrivatePCSCD.Stanza(name: "Rig")]).write(
                to: directory.appending(path: "readers"), atomically: true, encoding: .utf8)
            let run = try Peer.run(
                PrivatePCSCD.script.path,
                [directory.path, "sh", "-c", "test -S /run/pcscd/pcscd.comm && kill -0 $PCSCD_PID && exit 7"])
            #expect(run.status == 7, "\(run.said)")
        }

        @Test func `a command through the real pcscd has no delayed acknowledgement in it`() async {
            await #expect(processExitsWith: .success) {
                let rig = try VPCDRig()
                rig.card.insert(SmokeCard())
                _ = try rig.activate()
                let before = try rig.pcscd.network.delayedAcknowledgements()
                for _ in 0..<50 { _ = try rig.transmit(select) }
                // One for each command without TCP_QUICKACK, which makes it last 44 ms.
                #expect(try rig.pcscd.network.delayedAcknowledgements() - before < 25)
            }
        }
    }

    @Test func `the launcher refuses wrong use with a status of its own`() throws {
        #expect(try Peer.run(PrivatePCSCD.script.path, ["relative", "true"]).status == 64)
    }
}

/// A private pcscd, a card for its first slot, and our reader on it.
final class VPCDRig {
    let pcscd: PrivatePCSCD
    let card: VPCDCard
    let reader: PCSCReader

    init() throws {
        let stanza = PrivatePCSCD.Stanza(name: "ACS ACR122U PICC Interface")
        pcscd = try PrivatePCSCD([stanza])
        unsafe setenv("PCSCLITE_CSOCK_NAME", pcscd.socketPath, 1)
        card = VPCDCard(port: stanza.port, in: pcscd.network)
        reader = try PCSCReader(name: "\(stanza.name) 00 00")
    }

    func activate(milliseconds: UInt64 = patience) throws(ReaderError) -> CardPresence {
        // That an earlier card has left is told first.
        let presence = try reader.activate(until: soon(milliseconds), cancellation: TapCancellation())
        guard presence == .emptied else { return presence }
        return try reader.activate(until: soon(milliseconds), cancellation: TapCancellation())
    }

    func transmit(_ hex: String, milliseconds: UInt64 = patience) throws -> ResponseAPDU {
        try reader.transmit(try CommandAPDU(try Hex.bytes(hex)), until: soon(milliseconds))
    }
}
