// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Dispatch
import Glibc
import ReaderCore
import Rigs
import Synchronization
import Testing

@testable import ReaderPCSC

extension PCSCTests {
    @Suite struct AttachmentTests {
        @Test func `a reader that is unplugged during the wait is detached`() throws {
            let live = try LiveReader("Unplugged")
            let name = live.name
            onceSomebodyWaits(live.fake) { [fake = live.fake] in try fake.unplug(name) }
            #expect(throws: ReaderError.detached) { _ = try live.activate() }
            #expect(throws: ReaderError.detached) { _ = try live.activate() }
            #expect(throws: ReaderError.detached) { try live.reader.reopen() }
        }

        @Test func `a reader that is unplugged between two waits is detached`() throws {
            let live = try LiveReader("Unplugged between")
            #expect(throws: ReaderError.timedOut) { _ = try live.activate(milliseconds: 10) }
            try live.fake.unplug(live.name)
            #expect(throws: ReaderError.detached) { _ = try live.activate() }
        }

        @Test func `a reader that is unplugged in mid-command is detached`() throws {
            let live = try LiveReader("Unplugged command")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            live.fake.force(.code(PCSCCode.readerUnavailable), on: .transmit, reader: live.name)
            #expect(throws: ReaderError.detached) { _ = try live.transmit(select) }
        }

        @Test func `a reader that comes back under another name is found by its model`() throws {
            let live = try LiveReader("Replugged")
            try live.fake.unplug(live.name)
            #expect(throws: ReaderError.detached) { _ = try live.activate() }
            let newName = LiveReader.name("Replugged", 3)
            try live.fake.plug(newName)
            try live.fake.insert(SmokeCard(), into: newName)
            #expect(try live.activate().isCard)
            #expect(live.reader.identity.name == newName)
            #expect(live.reader.identity.model == "Rig Replugged PICC Interface")
            try live.fake.unplug(newName)
        }

        @Test func `two readers of one model do not end up with one device`() throws {
            let first = try LiveReader("Twin", index: 0)
            let second = try LiveReader("Twin", index: 1)
            try first.fake.unplug(first.name)
            #expect(throws: ReaderError.detached) { _ = try first.activate() }
            #expect(throws: ReaderError.detached) { try first.reader.reopen() }
            #expect(second.reader.identity.name == second.name)
        }

        @Test func `a name that pcscd does not know is an unknown reader`() throws {
            _ = try FakePCSCD.shared()
            #expect(throws: ReaderError.serviceUnavailable(.unknownReader)) {
                _ = try PCSCReader(name: "Rig Never 00 00")
            }
        }

        @Test func `a connection that pcscd ends in mid-command is detached, and made anew`() throws {
            let live = try LiveReader("Hung up")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            live.fake.force(.hangUp, on: .transmit, reader: live.name)
            #expect(throws: ReaderError.detached) { _ = try live.transmit(select) }
            #expect(try live.activate().isCard)
        }

        @Test(arguments: [0x8010_0003, 0x8010_0011, 0x8010_0013, 0x8010_001D, 0x8010_001E, 0x8010_006A] as [UInt32])
        func `every code of a dead context is detached, and the context made anew`(code: UInt32) throws {
            let live = try LiveReader("Dead \(code)")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            live.fake.force(.code(code), on: .transmit, reader: live.name)
            #expect(throws: ReaderError.detached) { _ = try live.transmit(select) }
            #expect(try live.activate().isCard)
        }

        @Test func `a closed reader is detached until it is opened again`() throws {
            let live = try LiveReader("Closed")
            live.reader.close()
            #expect(throws: ReaderError.detached) { _ = try live.activate() }
            try live.reader.reopen()
            #expect(throws: ReaderError.timedOut) { _ = try live.activate(milliseconds: 10) }
        }

        @Test func `contexts that pcscd does not answer are given up, also where one waits for another`() async throws {
            let live = try LiveReader("Silent service")
            for _ in 0..<4 { live.fake.force(.hang, on: .establishContext) }
            let guards = try (0..<4).map { _ in try CallGuard() }
            await withTaskGroup(of: Void.self) { group in
                for callGuard in guards {
                    group.addTask {
                        do throws(PCSCFailure) {
                            let context = try SmartCardContext(guardedBy: callGuard, within: 50)
                            Issue.record("established: \(try context.readers().count) readers")
                        } catch {
                            #expect(error.meaning == .stuck)
                            #expect(error.readerError == .serviceUnavailable(.pcscdNotRunning))
                        }
                    }
                }
            }
            live.fake.forgetFaults()
            #expect(throws: ReaderError.timedOut) { _ = try live.activate(milliseconds: 10) }
        }

        @Test func `a call that has nothing to be severed at its deadline is severed as soon as it has`() throws {
            let severed = DispatchSemaphore(value: 0)
            let attempts = Atomic(0)
            #expect(throws: PCSCFailure.self) {
                try CallGuard().run(
                    until: soon(0),
                    sever: { if attempts.add(1, ordering: .relaxed).newValue == 3 { severed.signal() } }
                ) { () throws(PCSCFailure) in
                    severed.wait()
                    throw PCSCFailure(.transmit, 0, meaning: .connectionLost)
                }
            }
            #expect(attempts.load(ordering: .relaxed) >= 3)
        }

        @Test func `a reader leaves no descriptor behind, however its connections ended`() throws {
            let live = try LiveReader("Descriptors")
            try live.fake.insert(SmokeCard(), into: live.name)
            let before = try stableDescriptorCount(live.fake)
            for round in 0..<12 {
                let reader = try PCSCReader(name: live.name)
                _ = try reader.activate(until: soon(), cancellation: live.cancellation)
                let command = try CommandAPDU(try Hex.bytes(select))
                switch round % 3 {
                case 0: _ = try reader.transmit(command, until: soon())
                case 1:
                    live.fake.force(.hang, on: .transmit, reader: live.name)
                    #expect(throws: ReaderError.timedOut) { _ = try reader.transmit(command, until: soon(5)) }
                    live.fake.forgetFaults(reader: live.name)
                default:
                    live.fake.force(.hangUp, on: .transmit, reader: live.name)
                    #expect(throws: ReaderError.detached) { _ = try reader.transmit(command, until: soon()) }
                }
                reader.close()
            }
            var after = 0
            let isSame = live.fake.waits {
                after = openDescriptors()
                return after <= before
            }
            #expect(isSame, "\(before) descriptors before, \(after) after")
        }

        /// The fake's own ends close on threads of their own.
        private func stableDescriptorCount(_ fake: FakePCSCD) throws -> Int {
            #expect(fake.waits { fake.connectionCount == 2 })
            return openDescriptors()
        }

        private func openDescriptors() -> Int {
            (Int32(0)..<1_024).count { fcntl($0, F_GETFD) >= 0 }
        }
    }
}
