// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LocalHTTP

@Suite(.timeLimit(.minutes(5))) struct TerminationTests {
    @Test func `Observers are called once, in the order they came, and late ones at once`() {
        let termination = Termination()
        let calls = Seen<Int>()
        for number in 1...3 { _ = termination.observe { calls.add(number) } }
        #expect(!termination.hasHappened)
        termination.happen()
        termination.happen()
        #expect(termination.hasHappened)
        #expect(calls.all == [1, 2, 3])
        _ = termination.observe { calls.add(4) }
        #expect(calls.all == [1, 2, 3, 4])
    }

    @Test func `An observer may look, and add another, while it is called`() {
        let termination = Termination()
        let calls = Seen<Bool>()
        _ = termination.observe {
            calls.add(termination.hasHappened)
            _ = termination.observe { calls.add(true) }
        }
        termination.happen()
        #expect(calls.all == [true, true])
    }

    @Test func `Many tasks wait for one end`() async {
        let termination = Termination()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { await termination.wait() } }
            termination.happen()
        }
        await termination.wait()
        #expect(termination.hasHappened)
    }

    @Test func `A cancelled task waits no longer, and leaves nothing behind`() async {
        let termination = Termination()
        let waiting = Task { await termination.wait() }
        waiting.cancel()
        await waiting.value
        #expect(!termination.hasHappened)
        termination.happen()
    }

    @Test func `A wake-up is not lost, whichever side is first`() async {
        let early = WakeUp()
        early.call()
        early.call()
        await early.wait()
        let late = WakeUp()
        let waiting = Task { await late.wait() }
        late.call()
        await waiting.value
        #expect(waiting.isCancelled == false)
    }
}
