// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1

/// Sends requests one after the other over one channel, and pairs each with its answer.
final class ClientExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = ClientExchange
    typealias OutboundOut = HTTPClientRequestPart

    private struct Running {
        var exchange: ClientExchange
        var timer: Scheduled<Void>
        /// Something of the answer is here.
        var hasBegun = false
        var answer: HTTPClientAnswer?
        var keepAlive = false
    }

    private let maximumAnswerBytes: Int
    private let wantsHeadOnly: Bool
    private var running: Running?
    private var waiting: [ClientExchange] = []

    init(maximumAnswerBytes: Int, wantsHeadOnly: Bool = false) {
        (self.maximumAnswerBytes, self.wantsHeadOnly) = (maximumAnswerBytes, wantsHeadOnly)
    }

    /// The promise tells only that the exchange has reached this handler: from then on its own promise counts.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let exchange = Self.unwrapOutboundIn(data)
        promise?.succeed()
        guard context.channel.isActive else { return exchange.promise.succeed(.failure(.notConnected(.closed))) }
        waiting.append(exchange)
        startNext(context)
    }

    private func startNext(_ context: ChannelHandlerContext) {
        guard running == nil, !waiting.isEmpty else { return }
        let exchange = waiting.removeFirst()
        let timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(exchange.time)) {
            self.fail(.timedOut, context)
        }
        running = Running(exchange: exchange, timer: timer)
        let request = exchange.request
        context.write(Self.wrapOutboundOut(.head(request.head(keepAlive: exchange.keepAlive))), promise: nil)
        if !request.body.isEmpty {
            let body = context.channel.allocator.buffer(bytes: request.body)
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ArrivalMeter.Event.arrived: running?.hasBegun = true
        case ArrivalMeter.Event.parsed: break
        case let cancel as ClientExchange.Cancel: self.cancel(cancel.id, context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes that nobody asked for: the connection is not to be trusted with a further request.
        guard running != nil else { return context.close(promise: nil) }
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            running?.answer = HTTPClientAnswer(head)
            running?.keepAlive = head.isKeepAlive
        case .body(let bytes):
            guard !wantsHeadOnly else { return }
            let count = (running?.answer?.body.count ?? 0) + bytes.readableBytes
            guard count <= maximumAnswerBytes else { return finish(.failure(.badAnswer(.tooLarge)), context) }
            running?.answer?.body += bytes.readableBytesView
        case .end:
            guard let answer = running?.answer else { return }
            finish(.success(answer), context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error as? HTTPParserError {
        case .invalidEOFState?, .closedConnection?, nil: fail(.closed, context)
        case .headerOverflow?: finish(.failure(.badAnswer(.tooLarge)), context)
        case .some: finish(.failure(.badAnswer(.malformed)), context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closed, context)
        context.fireChannelInactive()
    }

    private func cancel(_ id: UInt64, _ context: ChannelHandlerContext) {
        if running?.exchange.id == id { return fail(.cancelled, context) }
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).promise.succeed(.failure(.notConnected(.cancelled)))
    }

    private func fail(_ silence: HTTPClientError.Silence, _ context: ChannelHandlerContext) {
        if wantsHeadOnly, silence != .cancelled, let answer = running?.answer {
            running?.keepAlive = false
            return finish(.success(answer), context)
        }
        let hasBegun = running?.hasBegun ?? false
        finish(.failure(hasBegun && silence != .cancelled ? .badAnswer(.truncated) : .noAnswer(silence)), context)
    }

    /// Anything but a whole answer, and an answer that says so, ends the connection.
    private func finish(_ outcome: ClientExchange.Outcome, _ context: ChannelHandlerContext) {
        guard let ended = running else { return closeAll(context) }
        running = nil
        ended.timer.cancel()
        ended.exchange.promise.succeed(outcome)
        if case .success = outcome, ended.keepAlive, ended.exchange.keepAlive {
            startNext(context)
        } else {
            closeAll(context)
        }
    }

    private func closeAll(_ context: ChannelHandlerContext) {
        for exchange in waiting { exchange.promise.succeed(.failure(.notConnected(.closed))) }
        waiting = []
        context.close(promise: nil)
    }
}
