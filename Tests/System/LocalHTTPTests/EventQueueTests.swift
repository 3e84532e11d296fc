// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LocalHTTP

@Suite(.timeLimit(.minutes(5))) struct EventQueueTests {
    private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    @Test func `What is queued comes out at once and in order, then the end`() async {
        let queue = EventQueue()
        #expect(queue.send(ServerSentEvent(id: "1", name: "a", data: "x")) == .queued)
        #expect(queue.send(ServerSentEvent(data: "y\nz")) == .queued)
        queue.finish()
        #expect(queue.send(ServerSentEvent(data: "late")) == .closed)
        #expect(text(await queue.next()) == "id: 1\nevent: a\ndata: x\n\ndata: y\ndata: z\n\n")
        #expect(await queue.next() == nil)
        #expect(await queue.next() == nil)
    }

    @Test func `A reader waits for the first event`() async {
        let queue = EventQueue()
        let reading = Task { await queue.next() }
        queue.send(ServerSentEvent(data: "x"))
        #expect(text(await reading.value) == "data: x\n\n")
    }

    @Test(arguments: [(3, 1_000_000), (1_000, 30)])
    func `A full queue takes one last event that says so, and no other`(_ events: Int, _ bytes: Int) async {
        let queue = EventQueue(maximumEvents: events, maximumBytes: bytes)
        let event = ServerSentEvent(id: "1", data: "a")
        for _ in 0..<(bytes == 30 ? 2 : 3) { #expect(queue.send(event) == .queued) }
        #expect(queue.send(event) == .overflowed)
        #expect(queue.send(event) == .closed)
        let all = text(await queue.next()) ?? ""
        #expect(all.hasSuffix("data: a\n\nevent: overflow\ndata: {\"reason\":\"client too slow\"}\n\n"), "\(all)")
        #expect(await queue.next() == nil)
    }

    @Test func `Emptying the queue makes room again`() async {
        let queue = EventQueue(maximumEvents: 1)
        for _ in 0..<3 {
            #expect(queue.send(ServerSentEvent(data: "x")) == .queued)
            #expect(await queue.next() != nil)
        }
    }

    @Test func `Closing drops what is queued, wakes the reader and tells the producer once`() async {
        let queue = EventQueue()
        let ended = Seen<Int>()
        queue.onEnd { ended.add(1) }
        let reading = Task { await queue.next() }
        queue.close()
        queue.close()
        #expect(await reading.value == nil)
        #expect(ended.all == [1])
        queue.onEnd { ended.add(2) }
        #expect(ended.all == [1, 2])
    }
}
