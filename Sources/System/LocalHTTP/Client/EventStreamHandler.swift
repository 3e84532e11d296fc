// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1

/// Sends one request and turns the body of its answer into events.
final class EventStreamHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Subscription
    typealias OutboundOut = HTTPClientRequestPart

    /// What to ask for; the promise is kept once the head of the answer is here.
    struct Subscription: Sendable {
        let request: HTTPClientRequest
        let time: Duration
        let promise: EventLoopPromise<Result<Void, HTTPClientError>>
    }

    struct Cancel: Sendable {}

    private enum State {
        case idle
        case waiting(Subscription, hasBegun: Bool)
        /// The answer is no stream: its body is collected for the error.
        case refused(Subscription, HTTPClientAnswer)
        case streaming
        case ended
    }

    private let inbox: EventInbox
    private let maximumBytes: Int
    private let maximumSilence: Duration
    private var parser: EventParser
    private var state = State.idle
    private var timer: Scheduled<Void>?

    init(inbox: EventInbox, maximumBytes: Int, maximumSilence: Duration) {
        self.inbox = inbox
        self.maximumBytes = maximumBytes
        self.maximumSilence = maximumSilence
        parser = EventParser(maximumBytes: maximumBytes)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let subscription = Self.unwrapOutboundIn(data)
        promise?.succeed()
        guard context.channel.isActive else { return subscription.promise.succeed(.failure(.notConnected(.closed))) }
        state = .waiting(subscription, hasBegun: false)
        wait(subscription.time, context)
        let request = subscription.request
        context.write(Self.wrapOutboundOut(.head(request.head(keepAlive: true))), promise: nil)
        if !request.body.isEmpty {
            let body = context.channel.allocator.buffer(bytes: request.body)
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ArrivalMeter.Event.arrived:
            if case .waiting(let subscription, _) = state { state = .waiting(subscription, hasBegun: true) }
            if case .streaming = state { wait(maximumSilence, context) }
        case ArrivalMeter.Event.parsed: break
        case is Cancel: end(.noAnswer(.cancelled), context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head): receive(HTTPClientAnswer(head), context)
        case .body(let bytes): receive(bytes, context)
        case .end: receiveEnd(context)
        }
    }

    private func receive(_ answer: HTTPClientAnswer, _ context: ChannelHandlerContext) {
        guard case .waiting(let subscription, _) = state else { return }
        guard answer.status == 200 else {
            state = .refused(subscription, answer)
            return
        }
        let type = answer.fields.only("Content-Type")?.lowercased() ?? ""
        guard type == "text/event-stream" || type.hasPrefix("text/event-stream;") else {
            return end(.badAnswer(.notAnEventStream), context)
        }
        state = .streaming
        wait(maximumSilence, context)
        subscription.promise.succeed(.success(()))
    }

    private func receive(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        switch state {
        case .refused(let subscription, var answer):
            guard answer.body.count + bytes.readableBytes <= maximumBytes else {
                return end(.badAnswer(.tooLarge), context)
            }
            answer.body += bytes.readableBytesView
            state = .refused(subscription, answer)
        case .streaming: deliver(bytes, context)
        case .idle, .waiting, .ended: break
        }
    }

    private func deliver(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        do throws(EventParser.Failure) {
            let events = try parser.parse(bytes.readableBytesView)
            guard !events.isEmpty else { return }
            let channel = context.channel
            let isFull = inbox.deliver(events) { channel.setOption(.autoRead, value: true).whenFailure { _ in } }
            if isFull { pause(context) }
        } catch {
            end(.badAnswer(.tooLarge), context)
        }
    }

    /// The reader is slow: the socket fills, and the server notices. Silence is no fault meanwhile.
    private func pause(_ context: ChannelHandlerContext) {
        timer?.cancel()
        context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
    }

    private func receiveEnd(_ context: ChannelHandlerContext) {
        switch state {
        case .refused(_, let answer): end(.badAnswer(.refused(answer)), context)
        case .streaming:
            state = .ended
            inbox.end(.success(()))
            close(context)
        case .idle, .waiting, .ended: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error as? HTTPParserError {
        case .invalidEOFState?, .closedConnection?, nil: broken(.closed, context)
        case .headerOverflow?: end(.badAnswer(.tooLarge), context)
        case .some: end(.badAnswer(.malformed), context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        broken(.closed, context)
        context.fireChannelInactive()
    }

    private func broken(_ silence: HTTPClientError.Silence, _ context: ChannelHandlerContext) {
        if case .waiting(_, hasBegun: false) = state { return end(.noAnswer(silence), context) }
        end(.badAnswer(.truncated), context)
    }

    private func end(_ error: HTTPClientError, _ context: ChannelHandlerContext) {
        switch state {
        case .waiting(let subscription, _), .refused(let subscription, _):
            subscription.promise.succeed(.failure(error))
        case .streaming: inbox.end(.failure(error))
        case .idle, .ended: break
        }
        state = .ended
        close(context)
    }

    private func close(_ context: ChannelHandlerContext) {
        timer?.cancel()
        context.close(promise: nil)
    }

    private func wait(_ time: Duration, _ context: ChannelHandlerContext) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
            self.broken(.timedOut, context)
        }
    }
}
