// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import ReaderCore
import Rigs
import Testing

@testable import ReaderPCSC

extension PCSCTests {
    /// What pcscd says of itself, and what its coming and going does to a wait. Each in a process of its own.
    @Suite struct RestartTests {
        @Test func `R10: a pcscd that closes a new connection is tried again, and then it refuses`() async {
            await #expect(processExitsWith: .success) {
                let fake = try FakePCSCD.shared()
                for _ in 0..<2 { fake.force(.code(0x8010_006A), on: .establishContext) }
                #expect(try PCSCReaders.list().isEmpty)
                for _ in 0..<3 { fake.force(.code(0x8010_006A), on: .establishContext) }
                #expect(throws: ReaderError.serviceUnavailable(.accessDenied)) { _ = try PCSCReaders.list() }
                #expect(fake.log.count { $0.command == .establishContext } == 6)
            }
        }

        @Test func `R20: a pcscd of another version is no pcscd that does not run`() async {
            await #expect(processExitsWith: .success) {
                let fake = try FakePCSCD.shared()
                fake.force(.code(0x8010_001E), on: .version)
                #expect(throws: ReaderError.serviceUnavailable(.otherVersion)) { _ = try PCSCReaders.list() }
                #expect(try PCSCReaders.list().isEmpty)
            }
        }

        @Test func `R13: a pcscd behind a socket of another name is found`() async {
            await #expect(processExitsWith: .success) {
                let folder = NSTemporaryDirectory() + "/nfc-tap-\(ProcessInfo.processInfo.processIdentifier)"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(atPath: folder) }
                let fake = FakePCSCD(path: folder + "/bound-elsewhere")
                try fake.start()
                try FileManager.default.createSymbolicLink(
                    atPath: folder + "/link", withDestinationPath: fake.path)
                unsafe setenv("PCSCLITE_CSOCK_NAME", folder + "/link", 1)
                let name = "Rig Elsewhere PICC 00 00"
                try fake.plug(name)
                try fake.insert(SmokeCard(), into: name)
                let reader = try PCSCReader(name: name)
                #expect(try reader.activate(until: soon(), cancellation: TapCancellation()).isCard)
                // A call that hangs is still ended: it is that connection which is severed.
                fake.force(.hang, on: .transmit, reader: name)
                let command = try CommandAPDU(try Hex.bytes(select))
                #expect(throws: ReaderError.timedOut) { _ = try reader.transmit(command, until: soon(20)) }
            }
        }

        @Test func `R21: a wait for a card outlasts a restart of pcscd`() async {
            await #expect(processExitsWith: .success) {
                let live = try LiveReader("Upgraded")
                onceSomebodyWaits(live.fake) { [fake = live.fake, name = live.name] in
                    fake.die()
                    Thread.sleep(forTimeInterval: 0.3)
                    try fake.start()
                    _ = fake.waits { fake.waiterCount > 0 }
                    try fake.insert(SmokeCard(), into: name)
                }
                #expect(try live.activate().isCard)
                #expect(try live.transmit(select).status == .success)
                live.reader.release()
                // And so does the wait for the card to leave.
                onceSomebodyWaits(live.fake) { [fake = live.fake, name = live.name] in
                    fake.die()
                    try fake.start()
                    _ = fake.waits { fake.waiterCount > 0 }
                    try fake.remove(from: name)
                }
                try live.waitForRemoval()
            }
        }

        @Test func `R21: a reader that the new pcscd finds late, under another name, is taken up`() async {
            await #expect(processExitsWith: .success) {
                let live = try LiveReader("Late")
                let newName = LiveReader.name("Late", 4)
                onceSomebodyWaits(live.fake) { [fake = live.fake, name = live.name] in
                    fake.die()
                    try fake.unplug(name)
                    try fake.start()
                    Thread.sleep(forTimeInterval: 0.5)
                    try fake.plug(newName)
                    try fake.insert(SmokeCard(), into: newName)
                }
                #expect(try live.activate().isCard)
                #expect(live.reader.identity.name == newName)
            }
        }

        @Test func `R21: a pcscd that stays away ends the wait after its time, and a cancel at once`() async {
            await #expect(processExitsWith: .success) {
                let live = try LiveReader("Gone for good")
                onceSomebodyWaits(live.fake) { [fake = live.fake] in fake.die() }
                #expect(throws: ReaderError.detached, "the first thing that went wrong") {
                    _ = try live.activate(milliseconds: 500)
                }
                let cancellation = TapCancellation()
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: 0.2)
                    cancellation.cancel()
                }
                #expect(throws: ReaderError.cancelled) { _ = try live.activate(cancellation) }
            }
        }

        @Test func `R21: an outage has ten seconds, a later one its own`() {
            var outage = ServiceOutage()
            let lost = PCSCFailure(.getStatusChange, 0, meaning: .connectionLost)
            let away = PCSCFailure(.establishContext, 0, meaning: .notRunning)
            func goesOn(_ failure: PCSCFailure, _ error: ReaderError, _ milliseconds: UInt64) -> Bool {
                let now = TapInstant(nanoseconds: (1_000 + milliseconds) * 1_000_000)
                if case .goesOn = outage.take(failure, error, at: now) { return true }
                return false
            }
            // A reader that is not there is no outage.
            #expect(!goesOn(PCSCFailure(.listReaders, 0, meaning: .readerGone), .detached, 0))
            #expect(goesOn(lost, .detached, 0))
            for time in stride(from: UInt64(100), to: 10_000, by: 100) { #expect(goesOn(away, .detached, time)) }
            #expect(!goesOn(away, .detached, 10_000))
            // Two seconds without a failure, and it is another one.
            #expect(goesOn(lost, .detached, 30_000))
            #expect(goesOn(PCSCFailure(.listReaders, 0, meaning: .readerGone), .detached, 30_100))
            // A call of pcscd's own that does not come back is made on a new connection, once; one to a card is none of that.
            #expect(!goesOn(PCSCFailure(.transmit, 0, meaning: .stuck), .timedOut, 30_150))
            let stuck = PCSCFailure(.getStatusChange, 0, meaning: .stuck)
            #expect(goesOn(stuck, .serviceUnavailable(.pcscdNotRunning), 60_000))
            #expect(!goesOn(stuck, .serviceUnavailable(.pcscdNotRunning), 65_100))
            // Another program that has the card is none of that, nor is a card that is refused.
            #expect(!goesOn(PCSCFailure(.connect, 0, meaning: .inUse), .inUse, 30_200))
            #expect(!goesOn(PCSCFailure(.connect, 0, meaning: .accessDenied), .inUse, 30_300))
        }
    }
}
