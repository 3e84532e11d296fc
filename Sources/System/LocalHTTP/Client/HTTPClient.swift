// SPDX-License-Identifier: Apache-2.0
package import Linux
import NIOCore

/// A client for an HTTP/1.1 server on a Unix socket, or on a port of this machine. Each `send` uses a connection of its own;
/// `connect` gives one that stays open.
public struct HTTPClient: Sendable {
    public var path: String
    /// Instead of a path.
    private var loopback: TCPAddress?
    public var connectTime: Duration = .seconds(2)
    /// A larger answer is a `badAnswer`.
    public var maximumAnswerBytes = 256 * 1024
    /// An answer's head says all: its body may be of any size and is dropped, and one that breaks off takes nothing back.
    package var wantsHeadOnly = false
    /// A stream of events without even a heartbeat for so long is taken for broken.
    public var maximumSilence: Duration = .seconds(45)

    public init(path: String) { self.path = path }

    /// - Parameter address: there is no TLS here: what is sent to another machine could be read on the way.
    package init(loopback address: TCPAddress) {
        path = ""
        loopback = address
    }

    /// Sends one request and waits for the whole answer. Any status is an answer, not an error.
    /// - Parameter time: from the moment the connection stands.
    /// - Throws: `HTTPClientError`, by what is known of the request at the other end.
    public func send(
        _ request: HTTPClientRequest, answerWithin time: Duration
    ) async throws(HTTPClientError) -> HTTPClientAnswer {
        guard request.isSendable else { throw .notConnected(.unsendable) }
        let connection = try await connect()
        return try await connection.send(request, keepAlive: false, answerWithin: time)
    }

    /// A connection that stays open for requests one after the other.
    ///
    /// - Throws: `HTTPClientError.notConnected` alone.
    public func connect() async throws(HTTPClientError) -> HTTPClientConnection {
        let (limit, isHeadOnly) = (maximumAnswerBytes, wantsHeadOnly)
        let channel = try await connector.connect {
            ClientExchangeHandler(maximumAnswerBytes: limit, wantsHeadOnly: isHeadOnly)
        }
        return HTTPClientConnection(channel: channel)
    }

    /// Subscribes to a stream of events. Another status than 200 is thrown as `.badAnswer(.refused(answer))`.
    /// - Parameter time: until the head of the answer is here.
    /// - Throws: `HTTPClientError`, also for an answer that is no stream.
    public func events(
        _ request: HTTPClientRequest, answerWithin time: Duration
    ) async throws(HTTPClientError) -> EventStream {
        guard request.isSendable else { throw .notConnected(.unsendable) }
        let inbox = EventInbox()
        let (limit, silence) = (maximumAnswerBytes, maximumSilence)
        let channel = try await connector.connect {
            EventStreamHandler(inbox: inbox, maximumBytes: limit, maximumSilence: silence)
        }
        let stream = EventStream(inbox: inbox, channel: channel)
        let subscription = EventStreamHandler.Subscription(
            request: request, time: time, promise: channel.eventLoop.makePromise())
        Self.write(subscription, to: channel, for: subscription.promise)
        let outcome = await withTaskCancellationHandler {
            await Self.outcome(of: subscription.promise)
        } onCancel: {
            channel.pipeline.fireUserInboundEventTriggered(EventStreamHandler.Cancel())
        }
        try outcome.get()
        return stream
    }

    private var connector: ClientConnector { ClientConnector(path: path, loopback: loopback, time: connectTime) }

    /// Writes; where that never reaches the handler, nothing was sent.
    static func write<Message: Sendable, Answer: Sendable>(
        _ message: Message, to channel: any Channel, for promise: EventLoopPromise<Result<Answer, HTTPClientError>>
    ) {
        channel.writeAndFlush(message).whenFailure { _ in promise.succeed(.failure(.notConnected(.closed))) }
    }

    /// Waits for what the handler makes of what was written.
    static func outcome<Answer: Sendable>(
        of promise: EventLoopPromise<Result<Answer, HTTPClientError>>
    ) async -> Result<Answer, HTTPClientError> {
        do {
            return try await promise.futureResult.get()
        } catch {
            // Nobody fails the promise: failures are values of it.
            return .failure(.noAnswer(.closed))
        }
    }
}
