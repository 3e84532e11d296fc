// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import ReaderCore
import ReaderPCSC
import Rigs
import Synchronization
import Testing

extension PCSCTests {
    @Suite struct CancellationTests {
        /// SCardCancel is lost unless the wait has begun at that moment: the moments go around that one.
        @Test func `a wait cancelled at any moment ends, 300 times of 300`() throws {
            let live = try LiveReader("Cancel")
            var lost = 0
            for round in 0..<300 {
                let cancellation = TapCancellation()
                let delay = useconds_t(round % 60 * 10)
                let wish = Mutex<TapInstant?>(nil)
                Thread.detachNewThread {
                    usleep(delay)
                    cancellation.cancel()
                    wish.withLock { $0 = monotonicNow() }
                }
                #expect(throws: ReaderError.cancelled) { _ = try live.activate(cancellation) }
                // A wait whose cancellation got lost goes on to the end of its second, and then takes itself off the list.
                let ranOut = live.fake.log.last { $0.command == .stopWaiting }
                if let wished = wish.withLock({ $0 }), let ranOut, ranOut.at >= wished.advanced(byMilliseconds: 900) {
                    lost += 1
                }
            }
            // A busy machine may hold up one; what gets lost does so in one round of twenty.
            #expect(lost < 3)
        }

        @Test func `a wish from before the wait counts`() throws {
            let live = try LiveReader("Cancelled before")
            live.cancellation.cancel()
            #expect(throws: ReaderError.cancelled) { _ = try live.activate() }
        }

        @Test func `the reader works after a cancelled wait`() throws {
            let live = try LiveReader("After cancel")
            onceSomebodyWaits(live.fake) { [cancellation = live.cancellation] in cancellation.cancel() }
            #expect(throws: ReaderError.cancelled) { _ = try live.activate() }
            try live.fake.insert(SmokeCard(), into: live.name)
            let presence = try live.reader.activate(until: soon(), cancellation: TapCancellation())
            #expect(presence.isCard)
        }
    }
}
