// SPDX-License-Identifier: Apache-2.0
/// Takes a `text/event-stream` apart, however its bytes are cut (WHATWG HTML, "Interpreting an event stream").
struct EventParser {
    enum Failure: Error {
        /// An event, or a line, larger than allowed.
        case tooLarge
    }

    private let maximumBytes: Int
    private var line: [UInt8] = []
    private var previousByte: UInt8 = 0
    private var isFirstLine = true
    private var lastID: String?
    private var name: String?
    private var data: [UInt8] = []

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// The events that these bytes complete.
    mutating func parse(_ bytes: some Sequence<UInt8>) throws(Failure) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            defer { previousByte = byte }
            if byte == 0x0A, previousByte == 0x0D { continue }
            guard byte == 0x0A || byte == 0x0D else {
                guard line.count + data.count < maximumBytes else { throw .tooLarge }
                line.append(byte)
                continue
            }
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        if line.isEmpty { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == 0x20 { value = value.dropFirst() }
        take(field: String(decoding: line[..<colon], as: UTF8.self), value)
        return nil
    }

    private mutating func take(field: String, _ value: ArraySlice<UInt8>) {
        switch field {
        case "id" where !value.contains(0): lastID = String(decoding: value, as: UTF8.self)
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            data += value
            data.append(0x0A)
        // A comment has an empty name; unknown fields are to be ignored.
        default: break
        }
    }

    /// An event without data is none (WHATWG HTML, "dispatch the event").
    private mutating func dispatch() -> ServerSentEvent? {
        defer { (name, data) = (nil, []) }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(id: lastID, name: name, data: String(decoding: data.dropLast(), as: UTF8.self))
    }
}
