/// A client for an HTTP/1.1 server on a Unix socket. Each `send` uses a connection of its own; `connect` gives one that
/// stays open.
public struct HTTPClient: Sendable {
    public var path: String
    public var connectTime: Duration = .seconds(2)
    /// A larger answer is a `badAnswer`.
    public var maximumAnswerBytes = 256 * 1024

    public init(path: String) { self.path = path }

    /// Sends one request and waits for the whole answer. Any status is an answer, not an error.
    public func send(
        _ request: HTTPClientRequest, answerWithin time: Duration
    ) async throws(HTTPClientError) -> HTTPClientAnswer {
        throw .notConnected(.cancelled)
    }

    /// A connection that stays open for requests one after the other.
    public func connect() async throws(HTTPClientError) -> HTTPClientConnection {
        throw .notConnected(.cancelled)
    }

    /// Subscribes to a stream of events. Another status than 200 is thrown as `.badAnswer(.refused(answer))`.
    public func events(
        _ request: HTTPClientRequest, answerWithin time: Duration
    ) async throws(HTTPClientError) -> EventStream {
        throw .notConnected(.cancelled)
    }
}

public final class HTTPClientConnection: Sendable {
    /// One request at a time; a second one meanwhile waits its turn.
    public func send(
        _ request: HTTPClientRequest, answerWithin time: Duration
    ) async throws(HTTPClientError) -> HTTPClientAnswer {
        throw .notConnected(.cancelled)
    }

    public func close() async {}
}
