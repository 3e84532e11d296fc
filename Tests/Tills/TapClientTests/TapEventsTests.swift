// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues
import Testing

@testable import TapClient

@Suite(.timeLimit(.minutes(5))) struct TapEventsTests {
    private static func send(_ numbers: ClosedRange<UInt64>, to queue: EventQueue) {
        for number in numbers {
            let event = Event(id: number, .readerAttached, lane: "till-1")
            let data = (try? WireJSON.encode(event)) ?? []
            queue.send(
                ServerSentEvent(id: "\(number)", name: event.name.rawValue, data: String(decoding: data, as: UTF8.self))
            )
        }
    }

    /// Three events a connection, beginning after the cursor the client gives; then the stream ends.
    private static let threeAtATime: HTTPHandler = { request in
        let queue = EventQueue()
        let cursor = request.fields.only("Last-Event-ID").flatMap { UInt64($0) } ?? 0
        send(cursor + 1...cursor + 3, to: queue)
        queue.finish()
        return .events(queue)
    }

    @Test func `Events go on where they broke off, without loss and without doubles`() async throws {
        try await TestDaemon.run(Self.threeAtATime) { client in
            var ids: [UInt64] = []
            for try await event in client.events(after: 10) {
                ids.append(event.id)
                if ids.count == 8 { break }
            }
            #expect(ids == Array(11...18))
        }
    }

    @Test func `An event of a newer daemon is passed over, an overflow is no event`() async throws {
        let cursors = Journal<String?>()
        let handler: HTTPHandler = { request in
            let queue = EventQueue(maximumEvents: 2)
            if cursors.add(request.fields.only("Last-Event-ID")) == 0 {
                queue.send(ServerSentEvent(id: "7", name: "reader.teleported", data: #"{"id":7,"what":"?"}"#))
                queue.send(ServerSentEvent(id: "8", name: "nonsense", data: "not JSON"))
                #expect(queue.send(ServerSentEvent(id: "9", data: "{}")) == .overflowed)
            } else {
                Self.send(9...9, to: queue)
            }
            return .events(queue)
        }
        try await TestDaemon.run(handler) { client in
            var events = client.events().makeAsyncIterator()
            let event = try await events.next()
            #expect(event?.id == 9)
        }
        #expect(cursors.all == [nil, "8"])
    }

    @Test func `L8: events of the highest vocabulary are asked for, and an older daemon gives those that it has`()
        async throws
    {
        let asked = Journal<String>()
        let older: HTTPHandler = { request in
            let query = request.query.map { "\($0.name)=\($0.value)" }
            asked.add(query.joined())
            return query.isEmpty ? await Self.threeAtATime(request) : .refusal(.requestInvalidParameter)
        }
        let newer: HTTPHandler = { request in
            asked.add(request.query.map { "\($0.name)=\($0.value)" }.joined())
            let queue = EventQueue()
            var event = Event(id: 4, .pinRequested, lane: "till-1")
            event.pin = PINNotice(device: "pad", timeout: 30)
            let data = (try? WireJSON.encode(event)) ?? []
            queue.send(ServerSentEvent(id: "4", name: event.name.rawValue, data: String(decoding: data, as: UTF8.self)))
            return .events(queue)
        }
        try await TestDaemon.withPath { path in
            let daemon = TestDaemon(path: path)
            var events = TapClient(path: path).events().makeAsyncIterator()
            try await daemon.run(older) {
                for id in 1...3 {
                    let event = try await events.next()
                    #expect(event?.id == UInt64(id) && event?.name == .readerAttached)
                }
            }
            #expect(asked.all == ["vocabulary=3", "vocabulary=2", ""])
            // What comes after it is asked for everything again.
            try await daemon.run(newer) {
                let event = try await events.next()
                #expect(event?.name == .pinRequested && event?.pin?.device == "pad")
            }
            #expect(asked.all == ["vocabulary=3", "vocabulary=2", "", "vocabulary=3"])
        }
    }

    @Test func `A daemon that was never there is reported at once`() async throws {
        try await TestDaemon.withPath { path in
            var events = TapClient(path: path).events().makeAsyncIterator()
            await #expect(throws: error(.daemonNotRunning)) { try await events.next() }
        }
    }

    @Test func `A daemon that refuses is not asked again`() async throws {
        let calls = Journal<Int>()
        let handler: HTTPHandler = { _ in
            calls.add(1)
            return .refusal(.authRoleMissing)
        }
        try await TestDaemon.run(handler) { client in
            var events = client.events().makeAsyncIterator()
            await #expect(throws: error(.init(.authRoleMissing))) { try await events.next() }
        }
        #expect(calls.all == [1])
    }

    @Test func `A daemon that went away is waited for, but not for ever`() async throws {
        try await TestDaemon.withPath { path in
            let daemon = TestDaemon(path: path)
            let patient = TapClient(path: path).events()
            let impatient = TapClient(path: path).events(maximumOutage: .milliseconds(100))
            var (waiting, giving) = (patient.makeAsyncIterator(), impatient.makeAsyncIterator())
            try await daemon.run(Self.threeAtATime) {
                let first = try await (waiting.next(), giving.next())
                #expect(first.0?.id == 1)
                #expect(first.1?.id == 1)
            }
            for _ in 0..<2 { _ = try await giving.next() }
            await #expect(throws: error(.daemonNotRunning)) {
                while try await giving.next() != nil {}
            }
            try await daemon.run(Self.threeAtATime) {
                for id in 2...5 {
                    let event = try await waiting.next()
                    #expect(event?.id == UInt64(id))
                }
            }
        }
    }

    @Test func `Cancelling ends the sequence without an error`() async throws {
        try await TestDaemon.run({ _ in .events(EventQueue()) }) { client in
            let reading = Task {
                var events = client.events().makeAsyncIterator()
                return try await events.next()
            }
            reading.cancel()
            let event = try await reading.value
            #expect(event == nil)
        }
    }

    private func error(_ code: TapClientError.Code) -> TapClientError { TapClientError(code, "", hint: "") }
}
