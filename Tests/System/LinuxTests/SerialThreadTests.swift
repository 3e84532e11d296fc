// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Linux
import ReaderCore
import Synchronization
import TestSupport
import Testing

@Suite struct SerialThreadTests {
    actor Lane {
        let thread: SerialThread
        private var order: [Int] = []

        init(_ thread: SerialThread) { self.thread = thread }

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

        func threadID() -> UInt { UInt(pthread_self()) }
        func isOnThread() -> Bool { thread.isIsolatingCurrentContext() == true }
        func note(_ number: Int) { order.append(number) }
        func noted() -> [Int] { order }
        func name() throws -> String { try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
        func stopThread() { thread.stop() }
    }

    @Test func `every call to the actor comes from the same thread, which has the name`() async throws {
        let lane = Lane(try SerialThread(name: "lane-under-test-with-a-long-name"))
        let first = await lane.threadID()
        for _ in 0..<20 { #expect(await lane.threadID() == first) }
        #expect(first != UInt(pthread_self()))
        #expect(await lane.isOnThread())
        #expect(lane.thread.isIsolatingCurrentContext() == false)
        #expect(try await lane.name() == "lane-under-test\n")
    }

    @Test func `jobs run one at a time and none is lost`() async throws {
        let lane = Lane(try SerialThread(name: "serial"))
        await withTaskGroup { group in
            for number in 0..<500 { group.addTask { await lane.note(number) } }
        }
        #expect(await lane.noted().sorted() == Array(0..<500))
    }

    @Test func `work without a task runs on the thread in its turn, and on the caller's once the thread has ended`()
        async throws
    {
        let lane = Lane(try SerialThread(name: "work"))
        let threads = Mutex<[UInt]>([])
        let note = { @Sendable in threads.withLock { $0.append(UInt(pthread_self())) } }
        for number in 0..<50 {
            lane.thread.perform { lane.assumeIsolated { $0.note(number) } }
            lane.thread.perform(note)
        }
        #expect(await lane.noted() == Array(0..<50))
        let own = await lane.threadID()
        #expect(threads.withLock { $0 } == Array(repeating: own, count: 50))
        lane.thread.stop()
        lane.thread.perform(note)
        #expect(threads.withLock { $0.count == 51 && $0.last != own })
    }

    @Test func `two actors have two threads`() async throws {
        let lanes = (Lane(try SerialThread(name: "one")), Lane(try SerialThread(name: "two")))
        let first = await lanes.0.threadID()
        let second = await lanes.1.threadID()
        #expect(first != second)
    }

    @Test func `stop waits for the thread, and later calls still get an answer`() async throws {
        let lane = Lane(try SerialThread(name: "stopped"))
        let before = await lane.threadID()
        lane.thread.stop()
        lane.thread.stop()
        await lane.note(1)
        #expect(await lane.noted() == [1])
        #expect(await lane.threadID() != before)
        await withTaskGroup { group in
            for number in 2..<200 { group.addTask { await lane.note(number) } }
        }
        #expect(await lane.noted().count == 199)
    }

    @Test func `a thread may stop itself`() async throws {
        let lane = Lane(try SerialThread(name: "own end"))
        await lane.stopThread()
        await lane.note(1)
        #expect(await lane.noted() == [1])
    }

    @Test func `the thread goes when its executor goes`() async throws {
        for _ in 0..<40 { _ = await Lane(try SerialThread(name: "brief-executor")).threadID() }
        try await eventually("the end of the threads") { threads(named: "brief-executor") == 0 }
    }

    private func threads(named name: String) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count { task in
            (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == name + "\n"
        }
    }
}
