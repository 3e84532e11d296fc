// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import ReaderCore
import ReaderPCSC
import Rigs
import Testing

extension PCSCTests {
    @Suite struct MonitorTests {
        @Test func `readers that are there already are told first`() throws {
            let live = try LiveReader("Monitor first")
            let changes = try PCSCMonitor().changes(until: soon(), cancellation: live.cancellation)
            #expect(attached(changes).contains(live.name))
        }

        @Test func `a reader is told when it comes and when it goes`() throws {
            let fake = try FakePCSCD.shared()
            let name = LiveReader.name("Monitor", 0)
            let monitor = try PCSCMonitor()
            _ = try monitor.changes(until: soon(10), cancellation: TapCancellation())
            onceSomebodyWaits(fake) { try fake.plug(name) }
            #expect(try next(monitor) { attached($0).contains(name) })
            onceSomebodyWaits(fake) { try fake.unplug(name) }
            #expect(try next(monitor) { detached($0).contains(name) })
        }

        @Test func `a reader that came between two waits is told by the next`() throws {
            let monitor = try PCSCMonitor()
            _ = try monitor.changes(until: soon(10), cancellation: TapCancellation())
            let live = try LiveReader("Monitor between")
            #expect(try next(monitor) { attached($0).contains(live.name) })
        }

        @Test func `nothing new by the deadline is no change`() throws {
            _ = try FakePCSCD.shared()
            let monitor = try PCSCMonitor()
            _ = try monitor.changes(until: soon(10), cancellation: TapCancellation())
            var changes: [PCSCMonitor.Change] = []
            try noSooner(than: 30) {
                changes = try monitor.changes(until: soon(30), cancellation: TapCancellation())
            }
            #expect(changes.isEmpty)
        }

        @Test func `the wait can be cancelled`() throws {
            let fake = try FakePCSCD.shared()
            let cancellation = TapCancellation()
            let monitor = try PCSCMonitor()
            _ = try monitor.changes(until: soon(10), cancellation: TapCancellation())
            onceSomebodyWaits(fake) { cancellation.cancel() }
            #expect(throws: ReaderError.cancelled) {
                while true { _ = try monitor.changes(until: soon(), cancellation: cancellation) }
            }
        }

        /// Other tests' readers come and go, too.
        private func next(_ monitor: PCSCMonitor, _ isWanted: ([PCSCMonitor.Change]) -> Bool) throws -> Bool {
            let deadline = soon()
            while monotonicNow() < deadline {
                if isWanted(try monitor.changes(until: deadline, cancellation: TapCancellation())) { return true }
            }
            return false
        }
    }
}

func attached(_ changes: [PCSCMonitor.Change]) -> [String] {
    changes.compactMap { change in
        switch change {
        case .attached(let entry): entry.identity.name
        case .detached: nil
        }
    }
}

func detached(_ changes: [PCSCMonitor.Change]) -> [String] {
    changes.compactMap { change in
        switch change {
        case .attached: nil
        case .detached(let entry): entry.identity.name
        }
    }
}
