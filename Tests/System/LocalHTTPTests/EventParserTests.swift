// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LocalHTTP

@Suite struct EventParserTests {
    private func parse(_ text: String, maximum: Int = 1_000) throws -> [ServerSentEvent] {
        var parser = EventParser(maximumBytes: maximum)
        return try parser.parse(text.utf8)
    }

    @Test(arguments: [
        ServerSentEvent(data: ""), ServerSentEvent(data: " two blanks"), ServerSentEvent(data: "a\nb\n\nc"),
        ServerSentEvent(id: "7", name: "read.completed", data: "{\"a\":\"ä\"}"), ServerSentEvent(id: "", data: ":"),
    ])
    func `What is encoded is parsed back`(_ event: ServerSentEvent) throws {
        var parser = EventParser(maximumBytes: 1_000)
        // An event whose data is empty is sent as one empty data line, which is data.
        #expect(try parser.parse(event.encoded) == [event])
    }

    @Test func `Line ends of all three kinds count the same`() throws {
        let expected = [ServerSentEvent(id: "1", name: "n", data: "a\nb")]
        for end in ["\n", "\r", "\r\n"] {
            let lines = ["id: 1", "event:n", "data: a", "data:b", "", ""].joined(separator: end)
            #expect(try parse(lines) == expected)
        }
        #expect(ServerSentEvent(data: "a\r\nb\rc\nd").encoded == ServerSentEvent(data: "a\nb\nc\nd").encoded)
    }

    @Test func `Bytes may be cut anywhere`() throws {
        let bytes = Array("\u{FEFF}: hello\r\nid: 1\r\ndata: ä\r\n\r\nevent: x\ndata\n\n".utf8)
        let whole = [ServerSentEvent(id: "1", data: "ä"), ServerSentEvent(id: "1", name: "x", data: "")]
        for cut in bytes.indices {
            var parser = EventParser(maximumBytes: 1_000)
            let events = try parser.parse(bytes[..<cut]) + parser.parse(bytes[cut...])
            #expect(events == whole, "cut at \(cut)")
        }
    }

    @Test func `Comments, unknown fields and events without data give nothing`() throws {
        #expect(try parse(":\n\n: beat\n\nretry: 10\n\nfoo: bar\n\nevent: x\n\n") == [])
    }

    @Test func `An id stays until the next one, even where its own event had no data`() throws {
        let events = try parse("id: 1\n\ndata: a\n\nid: 2\ndata: b\n\nid: x\0y\ndata: c\n\nid\ndata: d\n\n")
        #expect(events.map(\.id) == ["1", "2", "2", ""])
    }

    @Test func `An unfinished event is not delivered`() throws {
        #expect(try parse("data: a\n") == [])
    }

    @Test func `A line without end is refused, and so is an event without end`() {
        #expect(throws: EventParser.Failure.tooLarge) { try parse(String(repeating: "a", count: 101), maximum: 100) }
        let lines = String(repeating: "data: aaaaaaaaaa\n", count: 20)
        #expect(throws: EventParser.Failure.tooLarge) { try parse(lines, maximum: 100) }
    }

    @Test func `Line breaks in a name or an id cannot forge a field`() throws {
        let event = ServerSentEvent(id: "1\ndata: x", name: "a\r\nb", data: "d")
        #expect(try parse(String(decoding: event.encoded, as: UTF8.self)).map(\.data) == ["d"])
    }
}
