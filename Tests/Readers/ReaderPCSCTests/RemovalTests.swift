// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import ReaderCore
import ReaderPCSC
import Rigs
import Testing

extension PCSCTests {
    @Suite struct RemovalTests {
        @Test func `removal is seen when it happens`() throws {
            let live = try LiveReader("Removal")
            let name = live.name
            try live.fake.insert(SmokeCard(), into: name)
            _ = try live.activate()
            onceSomebodyWaits(live.fake) { [fake = live.fake] in try fake.remove(from: name) }
            try live.waitForRemoval()
        }

        @Test func `a card that has left already is not waited for`() throws {
            let live = try LiveReader("Left")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            live.reader.release()
            try live.fake.remove(from: live.name)
            try live.waitForRemoval()
        }

        @Test func `a card that was exchanged for another has left`() throws {
            let live = try LiveReader("Exchanged")
            try live.fake.insert(TestCard(uid: [1]), into: live.name)
            _ = try live.activate()
            live.reader.release()
            try live.fake.swap(TestCard(uid: [2]), in: live.name)
            try live.waitForRemoval()
        }

        @Test func `the event counter may wrap`() throws {
            let live = try LiveReader("Wrap")
            try live.fake.insert(SmokeCard(), into: live.name)
            for _ in 0..<32_766 { try live.fake.swap(SmokeCard(), in: live.name) }
            _ = try live.activate()
            live.reader.release()
            for _ in 0..<2 { try live.fake.swap(SmokeCard(), in: live.name) }
            try live.waitForRemoval()
        }

        @Test func `a card that stays is a time-out`() throws {
            let live = try LiveReader("Stays")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            noSooner(than: 40) {
                #expect(throws: ReaderError.timedOut) { try live.waitForRemoval(milliseconds: 40) }
            }
        }

        @Test func `a wait for removal can be cancelled`() throws {
            let live = try LiveReader("Cancelled removal")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            onceSomebodyWaits(live.fake) { [cancellation = live.cancellation] in cancellation.cancel() }
            #expect(throws: ReaderError.cancelled) { try live.waitForRemoval() }
        }
    }
}
