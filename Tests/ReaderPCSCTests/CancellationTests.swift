import CardBytes
import CardSim
import Foundation
import ReaderCore
import ReaderPCSC
import Rigs
import Testing

extension PCSCTests {
    @Suite struct CancellationTests {
        /// SCardCancel is lost unless the wait has begun at that moment: the moments go around that one.
        @Test func `a wait cancelled at any moment ends, 300 times of 300`() throws {
            let live = try LiveReader("Cancel")
            var worst: UInt64 = 0
            for round in 0..<300 {
                let cancellation = TapCancellation()
                let delay = useconds_t(round % 60 * 10)
                Thread.detachNewThread {
                    usleep(delay)
                    cancellation.cancel()
                }
                let took = milliseconds {
                    #expect(throws: ReaderError.cancelled) {
                        _ = try live.reader.activate(until: soon(30_000), cancellation: cancellation)
                    }
                }
                worst = max(worst, took)
            }
            // A wait whose cancellation got lost would end only after a second.
            #expect(worst < 900)
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
            let presence = try live.reader.activate(until: soon(1_000), cancellation: TapCancellation())
            #expect(presence.isCard)
        }
    }
}
