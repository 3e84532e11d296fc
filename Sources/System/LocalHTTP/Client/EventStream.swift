// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Events as they arrive, for one reader. Ends when the server ends the stream; throws `badAnswer(.truncated)` when the
/// connection breaks or falls silent. The connection is closed when the stream and its iterators are let go.
public struct EventStream: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent
    public typealias Failure = HTTPClientError

    private let source: Source

    init(inbox: EventInbox, channel: any Channel) { source = Source(inbox: inbox, channel: channel) }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        /// The next event; `nil` at the end, and when the task is cancelled.
        ///
        /// - Throws: `HTTPClientError` once the stream has broken or was silent for too long.
        public mutating func next() async throws(HTTPClientError) -> ServerSentEvent? {
            try await source.inbox.next()
        }
    }

    fileprivate final class Source: Sendable {
        let inbox: EventInbox
        let channel: any Channel

        init(inbox: EventInbox, channel: any Channel) {
            self.inbox = inbox
            self.channel = channel
        }

        deinit { channel.close(promise: nil) }
    }
}
