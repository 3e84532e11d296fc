// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Linux
import ReaderCore
import Testing

@Suite struct WakeSignalTests {
    @Test func `a signal from before the wait is not lost, and many count as one`() throws {
        let signal = try WakeSignal()
        for _ in 0..<1_000 { signal.signal() }
        #expect(signal.wait(until: TapInstant(nanoseconds: .max)))
        #expect(!signal.wait(until: monotonicNow()))
    }

    @Test func `a signal wakes a waiter on another thread`() throws {
        let signal = try WakeSignal()
        Thread.detachNewThread { signal.signal() }
        #expect(signal.wait())
    }

    @Test func `a wait without a signal ends at its deadline, not before`() throws {
        let deadline = monotonicNow().advanced(byMilliseconds: 20)
        #expect(!(try WakeSignal().wait(until: deadline)))
        #expect(monotonicNow() >= deadline)
    }

    @Test func `looking at a signal leaves it for others`() throws {
        let signal = try WakeSignal()
        signal.signal()
        #expect(signal.isSignalled())
        #expect(signal.isSignalled())
        #expect(signal.wait())
    }
}
