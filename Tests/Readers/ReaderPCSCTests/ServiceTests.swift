// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import ReaderCore
import ReaderPCSC
import Rigs
import Testing

extension PCSCTests {
    /// Each in a process of its own: here pcscd dies, or never lived.
    @Suite struct ServiceTests {
        @Test func `without pcscd there is a clear error`() async {
            await #expect(processExitsWith: .success) {
                unsafe setenv("PCSCLITE_CSOCK_NAME", "/nonexistent/pcscd.comm", 1)
                #expect(throws: ReaderError.serviceUnavailable(.pcscdNotRunning)) { _ = try PCSCReaders.list() }
                #expect(throws: ReaderError.serviceUnavailable(.pcscdNotRunning)) {
                    _ = try PCSCReader(name: "X 00 00")
                }
                let changes = try PCSCMonitor().changes(until: soon(150), cancellation: TapCancellation())
                #expect(changes.isEmpty)
            }
        }

        @Test func `no reader at all is an empty list`() async {
            await #expect(processExitsWith: .success) {
                _ = try FakePCSCD.shared()
                #expect(try PCSCReaders.list().isEmpty)
            }
        }

        @Test func `a reader survives pcscd's death and rebirth`() async {
            await #expect(processExitsWith: .success) {
                let live = try LiveReader("Phoenix")
                onceSomebodyWaits(live.fake) { [fake = live.fake] in fake.die() }
                #expect(throws: ReaderError.detached) { _ = try live.activate() }
                #expect(throws: ReaderError.serviceUnavailable(.pcscdNotRunning)) { _ = try live.activate() }
                #expect(throws: ReaderError.serviceUnavailable(.pcscdNotRunning)) { try live.reader.reopen() }
                try live.fake.start()
                try live.fake.insert(SmokeCard(), into: live.name)
                #expect(try live.activate().isCard)
                #expect(try live.transmit(select).status == .success)
            }
        }

        @Test func `pcscd's death in mid-command is a detached reader`() async {
            await #expect(processExitsWith: .success) {
                let live = try LiveReader("Death")
                try live.fake.insert(SmokeCard(), into: live.name)
                _ = try live.activate()
                Thread.detachNewThread { [fake = live.fake, name = live.name] in
                    _ = fake.waits { fake.log(of: name).contains { $0.command == .transmit && $0.detail == 4 } }
                    fake.die()
                }
                #expect(throws: ReaderError.detached) { _ = try live.transmit("E0042710", milliseconds: 9_000) }
                try live.fake.start()
                #expect(try live.activate().isCard)
            }
        }

        @Test func `the monitor tells of all readers when pcscd dies, and again when it lives`() async {
            await #expect(processExitsWith: .success) {
                let fake = try FakePCSCD.shared()
                let names = ["Rig One 00 00", "Rig Two 01 00"]
                for name in names { try fake.plug(name) }
                let monitor = try PCSCMonitor()
                #expect(attached(try monitor.changes(until: soon(), cancellation: TapCancellation())) == names)
                onceSomebodyWaits(fake) { fake.die() }
                #expect(detached(try monitor.changes(until: soon(), cancellation: TapCancellation())) == names)
                try fake.start()
                #expect(attached(try monitor.changes(until: soon(), cancellation: TapCancellation())) == names)
            }
        }
    }
}
