// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import ReaderCore
import ReaderPCSC
import Rigs
import Testing

extension PCSCTests {
    /// A reader whose hardware is played, behind the unmodified pcscd: what `Rigs/IFD` does arrives as its makers' drivers
    /// would have it arrive.
    @Suite(
        .enabled(
            if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
            Comment(rawValue: PrivatePCSCD.missing ?? "")))
    struct PlayedReaderTests {
        @Test func `a card on a reader that is played comes, answers and leaves`() async {
            await #expect(processExitsWith: .success) {
                let rig = try PlayedRig()
                rig.played.insert(SmokeCard())
                #expect(try rig.activate().isCard)
                #expect(try rig.transmit(select).data.count == 49)
                #expect(try rig.transmit("E0020100").data.count == 256)
                rig.played.remove()
                try rig.reader.waitForRemoval(until: soon(), cancellation: TapCancellation())
                rig.played.insert(SmokeCard())
                #expect(try rig.activate().isCard)
            }
        }

        @Test(
            "Row 5 of the guidance: a reader tells its firmware, if its driver is known to tell the device's and not its own"
        )
        func firmware() async {
            await #expect(processExitsWith: .success) {
                let rig = try PlayedRig()
                #expect(rig.reader.identity.firmware == "2.14")
                rig.played.insert(SmokeCard())
                #expect(try rig.activate().isCard && rig.reader.identity.firmware == "2.14")
            }
            await #expect(processExitsWith: .success) {
                let rig = try PlayedRig(name: "REINER SCT cyberJack RFID basis")
                #expect(rig.reader.identity.firmware == nil)
            }
            await #expect(processExitsWith: .success) {
                let rig = try PlayedRig(name: "Unheard-of Reader")
                #expect(rig.reader.identity.firmware == nil)
            }
        }

        @Test func `each slot of a reader that is played has a name and a card of its own`() async {
            await #expect(processExitsWith: .success) {
                let rig = try PlayedRig(name: "ACS ACR1281 1S Dual Reader", slots: 3, slot: 1)
                #expect(
                    try PCSCReaders.list().map(\.identity.name)
                        == ["00", "01", "02"].map { "\(rig.played.name) 00 \($0)" })
                rig.played.insert(TestCard(uid: [1, 1, 1, 1]), slot: 0)
                rig.played.insert(TestCard(uid: [2, 2, 2, 2]), slot: 1)
                guard case .card(let card) = try rig.activate() else {
                    Issue.record("no card")
                    return
                }
                #expect(card.uid == [2, 2, 2, 2])
            }
        }

        @Test func `what a played driver returns for a command is torn, as long as the card lies there`() async {
            await #expect(processExitsWith: .success) {
                let rig = try PlayedRig()
                for action in [
                    IFDAction.code(.communicationError), .code(.responseTimeout), .answer([0x90]), .answer([]),
                    .cardLeaves,
                ] {
                    rig.played.insert(SmokeCard())
                    rig.played.fault(action, at: .command(2))
                    #expect(try rig.activate().isCard, "\(action)")
                    #expect(try rig.transmit(select).status == .success)
                    #expect(throws: ReaderError.cardLost, "\(action)") { try rig.transmit(select) }
                    #expect(rig.played.faultsToCome == 0)
                    rig.played.remove()
                }
            }
        }

        @Test(
            "R8: a card that takes the place of one with contacts between two looks of pcscd is read, as often as it happens"
        )
        func changedPlaces() async {
            await #expect(processExitsWith: .success) {
                let rig = try PlayedRig()
                let contacts = try Hex.bytes("3B68000000 73C84012009000")
                for _ in 0..<3 {
                    rig.played.insert(DressedCard(SmokeCard(), as: CardActivation(technology: .unknown, atr: contacts)))
                    // On a busy machine pcscd may not have looked in between: then what was there is told once more.
                    let deadline = soon()
                    var seen = try rig.activate()
                    while seen.isCard, monotonicNow() < deadline { seen = try rig.activate() }
                    #expect(seen == .unreadable)
                    // No event of a removal: the reader's next answer is that a card is there.
                    rig.played.insert(SmokeCard())
                    var isRead = false
                    while !isRead, monotonicNow() < deadline {
                        isRead = try rig.activate().isCard && rig.transmit(select).data.count == 49
                    }
                    #expect(isRead)
                    rig.played.remove()
                    try rig.reader.waitForRemoval(until: soon(), cancellation: TapCancellation())
                }
            }
        }

        @Test(
            "R24: what takes another's place between two looks of pcscd is known by its own ATR, a tag after a card and a card after it"
        )
        func ownATR() async {
            await #expect(processExitsWith: .success) {
                let rig = try PlayedRig()
                func found() throws -> CardActivation? {
                    guard case .card(let card) = try rig.activate() else { return nil }
                    return card
                }
                rig.played.insert(SmokeCard())
                #expect(try found()?.takesCommands != false)
                for _ in 0..<3 {
                    // No event of a removal: the reader's next answer is that a card is there.
                    rig.played.insert(DressedCard(.mifareClassic))
                    #expect(try found()?.takesCommands == false)
                    rig.played.insert(SmokeCard())
                    #expect(try found()?.takesCommands != false)
                    #expect(try rig.transmit(select).data.count == 49)
                }
            }
        }

        @Test func `a played reader that is gone is faulty, and works again once it is back`() async {
            await #expect(processExitsWith: .success) {
                let rig = try PlayedRig()
                rig.played.unplug()
                #expect(throws: (any Error).self) { try rig.activate() }
                rig.played.plug()
                rig.played.insert(SmokeCard())
                let deadline = soon()
                while monotonicNow() < deadline {
                    guard let presence = try? rig.activate(milliseconds: 2_000) else { continue }
                    #expect(presence.isCard)
                    return
                }
                Issue.record("the reader did not come back")
            }
        }

        @Test func `a played reader counts the tones that reach it`() async {
            await #expect(processExitsWith: .success) {
                let rig = try PlayedRig(name: "ACS ACR1252 Dual Reader PICC")
                rig.played.takesEscapes(true)
                rig.reader.show(.approved)
                #expect(rig.played.tones == 1)
                rig.played.takesEscapes(false)
                rig.reader.show(.approved)
                #expect(rig.played.tones == 1, "a tone that the driver refuses is not heard")
            }
        }
    }
}

/// A private pcscd with one reader that is played, and ours on one of its slots.
final class PlayedRig {
    let pcscd: PrivatePCSCD
    let played: IFDReader
    let reader: PCSCReader

    init(name: String = "ACS ACR122U PICC Interface", slots: Int = 1, slot: Int = 0) throws {
        played = try IFDReader(name: name, slots: slots)
        pcscd = try PrivatePCSCD([played.stanza])
        unsafe setenv("PCSCLITE_CSOCK_NAME", pcscd.socketPath, 1)
        reader = try PCSCReader(name: "\(name) 00 0\(slot)")
    }

    func activate(milliseconds: UInt64 = patience) throws(ReaderError) -> CardPresence {
        try reader.activate(until: soon(milliseconds), cancellation: TapCancellation())
    }

    func transmit(_ hex: String, milliseconds: UInt64 = patience) throws -> ResponseAPDU {
        try reader.transmit(try CommandAPDU(try Hex.bytes(hex)), until: soon(milliseconds))
    }
}
