// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The answer to a request that has been sent. Keeps its connection open.
public struct PendingAnswer: Sendable {
    private let exchange: ClientExchange
    private let channel: any Channel
    private let connection: HTTPClientConnection

    /// Sends the request.
    init(_ exchange: ClientExchange, over channel: any Channel, of connection: HTTPClientConnection) {
        self.exchange = exchange
        self.channel = channel
        self.connection = connection
        HTTPClient.write(exchange, to: channel, for: exchange.promise)
    }

    /// Waits for the whole answer. Cancelling the task that waits ends the exchange.
    ///
    /// - Throws: `HTTPClientError`, by what is known of the request at the other end.
    public func answer() async throws(HTTPClientError) -> HTTPClientAnswer {
        let outcome = await withTaskCancellationHandler {
            await HTTPClient.outcome(of: exchange.promise)
        } onCancel: {
            channel.pipeline.fireUserInboundEventTriggered(ClientExchange.Cancel(id: exchange.id))
        }
        return try outcome.get()
    }
}
