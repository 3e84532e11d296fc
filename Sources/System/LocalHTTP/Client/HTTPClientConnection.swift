// SPDX-License-Identifier: Apache-2.0
import NIOCore
import Synchronization

/// A connection that stays open. Closed when the last owner lets go.
public final class HTTPClientConnection: Sendable {
    private let channel: any Channel
    private static let lastID = Atomic<UInt64>(0)

    init(channel: any Channel) { self.channel = channel }

    deinit { channel.close(promise: nil) }

    /// Sends a request and waits for the whole answer. One request at a time: a second one meanwhile waits its turn,
    /// and its time does not run before. After an error the connection is closed.
    ///
    /// - Throws: `HTTPClientError`, by what is known of the request at the other end.
    public func send(
        _ request: HTTPClientRequest, answerWithin time: Duration
    ) async throws(HTTPClientError) -> HTTPClientAnswer {
        try await send(request, keepAlive: true, answerWithin: time)
    }

    /// Whether the server has not closed it yet, as far as is known.
    public var isOpen: Bool { channel.isActive }

    public func close() async {
        // An error means that it is closed already.
        try? await channel.close().get()
    }

    /// Sends a request now; its answer can be waited for later. In turn with the others, as for `send`.
    ///
    /// - Throws: `HTTPClientError.notConnected`: nothing was sent.
    public func begin(
        _ request: HTTPClientRequest, answerWithin time: Duration
    ) throws(HTTPClientError) -> PendingAnswer {
        try begin(request, keepAlive: true, answerWithin: time)
    }

    func send(
        _ request: HTTPClientRequest, keepAlive: Bool, answerWithin time: Duration
    ) async throws(HTTPClientError) -> HTTPClientAnswer {
        try await begin(request, keepAlive: keepAlive, answerWithin: time).answer()
    }

    private func begin(
        _ request: HTTPClientRequest, keepAlive: Bool, answerWithin time: Duration
    ) throws(HTTPClientError) -> PendingAnswer {
        guard request.isSendable else { throw .notConnected(.unsendable) }
        if Task.isCancelled { throw .notConnected(.cancelled) }
        let exchange = ClientExchange(
            id: Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue, request: request, keepAlive: keepAlive,
            time: time, promise: channel.eventLoop.makePromise())
        return PendingAnswer(exchange, over: channel, of: self)
    }
}
