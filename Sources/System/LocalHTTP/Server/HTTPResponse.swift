// SPDX-License-Identifier: Apache-2.0
/// What a handler answers: all at once, or as a stream of events.
public struct HTTPResponse: Sendable {
    /// 200…599. `Content-Length`, `Connection` and, for a stream, `Content-Type` and `Cache-Control` are the server's.
    public var status: Int
    public var fields: HTTPFields
    public var body: Body
    /// Called once the system has taken all of an answer in bytes, with `true`, or cannot, with `false`; perhaps twice with
    /// `false`. Runs on a socket thread: it must not block.
    public var whenWritten: (@Sendable (Bool) -> Void)?

    public enum Body: Sendable {
        case bytes([UInt8])
        /// Wiped once it is sent.
        case secret(SecretBody)
        /// Server-Sent Events from this queue, until it is finished, has overflowed, or the client has gone.
        case events(EventQueue)
        /// These bytes and no others, status line and fields included, then the connection is closed: for a server that
        /// has to play a broken one. `status` and `fields` are not used.
        case verbatim([UInt8])
    }

    public init(status: Int, fields: HTTPFields = HTTPFields(), body: Body = .bytes([])) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// An answer in JSON.
    public static func json(_ status: Int, _ bytes: [UInt8], fields: HTTPFields = HTTPFields()) -> HTTPResponse {
        var fields = fields
        fields.set("Content-Type", "application/json")
        return HTTPResponse(status: status, fields: fields, body: .bytes(bytes))
    }

    /// A stream of events: `text/event-stream`, status 200.
    public static func events(_ queue: EventQueue) -> HTTPResponse {
        HTTPResponse(status: 200, body: .events(queue))
    }
}
