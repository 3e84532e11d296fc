// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import TapDaemon

@Suite("Something that happens once", .timeLimit(.minutes(5)))
struct OneShotTests {
    @Test("whoever waits goes on when it happens, with a limit and without")
    func happens() async {
        let occasion = OneShot()
        await withTaskGroup { group in
            for _ in 0..<50 {
                group.addTask { await occasion.wait() }
                group.addTask { await occasion.wait(atMost: .seconds(3_600)) }
            }
            group.addTask { occasion.fire() }
        }
        #expect(occasion.hasFired)
        await occasion.wait()
        await occasion.wait(atMost: .seconds(3_600))
    }

    @Test(
        "a limit ends a wait for what does not happen",
        arguments: [Duration.milliseconds(2), .nanoseconds(1), .zero, .seconds(-5)])
    func limit(limit: Duration) async {
        let occasion = OneShot()
        await occasion.wait(atMost: limit)
        #expect(!occasion.hasFired)
    }

    @Test("a cancelled task does not wait, whatever the limit")
    func cancelled() async {
        let occasion = OneShot()
        for limit: Duration in [.seconds(3_600), .seconds(Int64.max)] {
            let task = Task { await occasion.wait(atMost: limit) }
            task.cancel()
            await task.value
        }
        let task = Task { await occasion.wait() }
        task.cancel()
        await task.value
        #expect(!occasion.hasFired)
    }

    @Test("it may happen and the wait be cancelled in the same moment")
    func happensAndIsCancelled() async {
        for _ in 0..<2_000 {
            let occasion = OneShot()
            let task = Task {
                await withTaskGroup { group in
                    for _ in 0..<4 { group.addTask { await occasion.wait(atMost: .seconds(3_600)) } }
                }
            }
            async let happening: Void = occasion.fire()
            async let cancelling: Void = task.cancel()
            _ = await (happening, cancelling)
            await task.value
            #expect(occasion.hasFired)
        }
    }

    @Test("a wait that is over keeps nothing of its occasion until its limit")
    func release() async {
        weak var kept: OneShot?
        do {
            let occasion = OneShot()
            kept = occasion
            async let waiting: Void = occasion.wait(atMost: .seconds(3_600))
            occasion.fire()
            await waiting
        }
        #expect(kept == nil)
    }
}
