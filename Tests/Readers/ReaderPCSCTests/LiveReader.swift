// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import ReaderCore
import ReaderPCSC
import Rigs
import Testing

/// A reader of the fake pcscd under a name of its own, and ours on top of it.
final class LiveReader {
    let fake: FakePCSCD
    let name: String
    let reader: PCSCReader
    let cancellation = TapCancellation()

    init(_ label: String, index: Int = 0) throws {
        fake = try FakePCSCD.shared()
        name = LiveReader.name(label, index)
        try fake.plug(name)
        reader = try PCSCReader(name: name)
    }

    deinit {
        reader.close()
        try? fake.unplug(name)
    }

    static func name(_ label: String, _ index: Int) -> String {
        "Rig \(label) PICC Interface \(index < 16 ? "0" : "")\(String(index, radix: 16, uppercase: true)) 00"
    }

    func activate(
        milliseconds: UInt64 = patience, _ cancellation: TapCancellation? = nil
    ) throws(ReaderError) -> CardPresence {
        try reader.activate(until: soon(milliseconds), cancellation: cancellation ?? self.cancellation)
    }

    func transmit(_ hex: String, milliseconds: UInt64 = patience) throws -> ResponseAPDU {
        try reader.transmit(try CommandAPDU(try Hex.bytes(hex)), until: soon(milliseconds))
    }

    func waitForRemoval(milliseconds: UInt64 = patience) throws(ReaderError) {
        try reader.waitForRemoval(until: soon(milliseconds), cancellation: cancellation)
    }

    func count(_ command: PCSCCommand) -> Int { fake.log(of: name).count { $0.command == command } }
}

/// A time that only something that hangs takes.
let patience: UInt64 = 60_000

func soon(_ milliseconds: UInt64 = patience) -> TapInstant { monotonicNow().advanced(byMilliseconds: milliseconds) }

/// Runs `action` on another thread as soon as some client of the fake pcscd waits for an event.
func onceSomebodyWaits(_ fake: FakePCSCD, _ action: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread {
        guard fake.waits(until: { fake.waiterCount > 0 }) else { return }
        do { try action() } catch { Issue.record(error) }
    }
}

/// `body` waits so long at least; that it ends at all is seen by whoever waits for the test.
func noSooner(than milliseconds: UInt64, _ body: () throws -> Void) rethrows {
    let deadline = soon(milliseconds)
    try body()
    #expect(monotonicNow() >= deadline)
}

let select = "00A404000E325041592E5359532E444446303100"
