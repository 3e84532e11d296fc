/// Events as they arrive. Ends when the server ends the stream; throws `badAnswer(.truncated)` when the connection breaks
/// or the server's heartbeat stops. One iteration only; the connection is closed when the iterator is let go.
public struct EventStream: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent
    public typealias Failure = HTTPClientError

    public struct AsyncIterator: AsyncIteratorProtocol {
        public mutating func next() async throws(HTTPClientError) -> ServerSentEvent? { nil }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
}
