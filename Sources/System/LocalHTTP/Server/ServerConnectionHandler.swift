// SPDX-License-Identifier: Apache-2.0
import Glibc
import Logging
import NIOCore
import NIOHTTP1

/// Joins a connection's channel to its `RequestIntake`: parts, timers and closing in, requests and answers out.
final class ServerConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = ReceivedRequest
    typealias OutboundIn = ServerWrite
    typealias OutboundOut = HTTPServerResponsePart

    /// Sent through the pipeline when the server is being stopped.
    struct Stop: Sendable {}

    /// How long a refused sender may go on sending, so that it gets to read the answer: closing with bytes unread
    /// would reset the connection.
    private static let lingerTime = Duration.seconds(2)
    /// How long a connection that is refused anyway may take to ask.
    private static let refusalTime = Duration.seconds(1)

    private let connection: HTTPConnection
    private let limits: HTTPLimits
    private let logger: Logger
    private let refusalBody: @Sendable (HTTPRefusal) -> [UInt8]

    private var intake: RequestIntake
    private var intakeTimer: Scheduled<Void>?
    private var outputTimer: Scheduled<Void>?
    /// Writes that the socket has not taken yet.
    private var pendingWrites = 0
    private var isStreaming = false
    private var closing = Closing.no

    private enum Closing {
        case no
        /// Once everything written is taken; with patience for a sender that is still sending, or without.
        case afterWrites(lingers: Bool)
        /// Our side is shut; what still comes in is thrown away.
        case lingering
    }

    /// `refusal`: answer this to whatever is asked, and close.
    init(
        connection: HTTPConnection, refusal: HTTPRefusal?, limits: HTTPLimits, logger: Logger,
        refusalBody: @escaping @Sendable (HTTPRefusal) -> [UInt8]
    ) {
        self.connection = connection
        self.limits = limits
        self.logger = logger
        self.refusalBody = refusalBody
        intake = RequestIntake(limits: limits, refusal: refusal)
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        perform(intake.begin(), context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        intakeTimer?.cancel()
        outputTimer?.cancel()
        connection.closing.happen()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head): perform(intake.headReceived(RequestHead(head)), context)
        case .body(let bytes): perform(intake.bodyReceived(bytes.readableBytesView), context)
        case .end: perform(intake.endReceived(), context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ArrivalMeter.Event.arrived(let count): perform(intake.bytesArrived(count), context)
        case ArrivalMeter.Event.parsed: perform(intake.bytesParsed(), context)
        // Not passed on: the connection's task would take it for the end of the connection.
        case ChannelEvent.inputClosed:
            if case .lingering = closing { return context.close(promise: nil) }
            perform(intake.inputEnded(), context)
        case is Stop: perform(intake.stop(), context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError {
            perform(intake.parsingFailed(HTTPRefusal(error)), context)
        } else {
            context.close(promise: nil)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .answer(let status, let fields, let body, let isHead, let whenWritten):
            let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
            if let whenWritten {
                promise.futureResult.whenComplete { result in
                    if case .success = result { whenWritten(true) } else { whenWritten(false) }
                }
            }
            send(status, fields, body, isHead: isHead, closes: intake.closesAfterAnswer, context, promise)
            perform(intake.answered(), context)
        case .secretAnswer(let status, let fields, let body, let isHead):
            send(status, fields, body, isHead: isHead, closes: intake.closesAfterAnswer, context, promise)
            perform(intake.answered(), context)
        case .streamHead(let fields):
            isStreaming = true
            put(.head(Self.head(200, fields, closes: true)), context, promise)
        case .streamBytes(let bytes):
            put(.body(.byteBuffer(context.channel.allocator.buffer(bytes: bytes))), context, promise)
        case .streamEnd:
            isStreaming = false
            put(.end(nil), context, promise)
            close(lingering: false, context)
        }
    }

    private func perform(_ action: RequestIntake.Action, _ context: ChannelHandlerContext) {
        switch action {
        case .nothing: break
        case .wait(let deadline): wait(for: deadline, context)
        case .askForBody:
            put(.head(HTTPResponseHead(version: .http1_1, status: .continue)), context, nil)
            context.flush()
            wait(for: .body, context)
        case .deliver(let request):
            intakeTimer?.cancel()
            context.fireChannelRead(Self.wrapInboundOut(request))
            context.fireChannelReadComplete()
        case .refuse(let refusal):
            intakeTimer?.cancel()
            refuse(refusal, context)
        case .close:
            intakeTimer?.cancel()
            close(lingering: false, context)
        }
    }

    private func wait(for deadline: RequestIntake.Deadline, _ context: ChannelHandlerContext) {
        let time =
            switch deadline {
            case .idle: connection.isStranger ? min(limits.strangerTime, limits.idleTime) : limits.idleTime
            case .head: limits.headTime
            case .body: limits.bodyTime
            case .refusal: Self.refusalTime
            }
        intakeTimer?.cancel()
        intakeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
            self.perform(self.intake.deadlinePassed(isHeld: self.connection.isHeld), context)
        }
    }
}

// MARK: - Output

extension ServerConnectionHandler {
    private func refuse(_ refusal: HTTPRefusal, _ context: ChannelHandlerContext) {
        logger.debug(
            "request refused",
            metadata: [
                "reason": "\(refusal.rawValue)", "uid": "\(connection.peer.userID)", "connection": "\(connection.id)",
            ])
        var fields: HTTPFields = ["Content-Type": "application/json"]
        if refusal.isRetryable { fields.set("Retry-After", "1") }
        send(refusal.status, fields, refusalBody(refusal), isHead: false, closes: true, context, nil)
        context.flush()
        close(lingering: true, context)
    }

    private func send(
        _ status: Int, _ fields: HTTPFields, _ body: [UInt8], isHead: Bool, closes: Bool,
        _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
    ) {
        var fields = fields
        let mayHaveBody = status >= 200 && status != 204 && status != 304
        if mayHaveBody { fields.set("Content-Length", String(body.count)) }
        put(.head(Self.head(status, fields, closes: closes)), context, nil)
        if mayHaveBody, !isHead, !body.isEmpty {
            put(.body(.byteBuffer(context.channel.allocator.buffer(bytes: body))), context, nil)
        }
        put(.end(nil), context, promise)
    }

    private func send(
        _ status: Int, _ fields: HTTPFields, _ body: SecretBody, isHead: Bool, closes: Bool,
        _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
    ) {
        var fields = fields
        fields.set("Content-Length", String(body.count))
        put(.head(Self.head(status, fields, closes: closes)), context, nil)
        if !isHead, body.count > 0 {
            var buffer = context.channel.allocator.buffer(capacity: body.count)
            body.write { buffer.writeInteger($0) }
            let taken = context.eventLoop.makePromise(of: Void.self)
            put(.body(.byteBuffer(buffer)), context, taken)
            taken.futureResult.assumeIsolated().whenComplete { [buffer] _ in Self.wipe(buffer) }
        }
        put(.end(nil), context, promise)
    }

    /// Nobody reads the buffer any more, but NIO may still hold it: a mutation would wipe a copy of it.
    private static func wipe(_ buffer: ByteBuffer) {
        unsafe buffer.withVeryUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            unsafe explicit_bzero(UnsafeMutableRawPointer(mutating: base), bytes.count)
        }
    }

    private static func head(_ status: Int, _ fields: HTTPFields, closes: Bool) -> HTTPResponseHead {
        var headers = NIOHTTP1.HTTPHeaders()
        for field in fields.fields { headers.add(name: field.name, value: field.value) }
        if closes { headers.replaceOrAdd(name: "Connection", value: "close") }
        return HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
    }

    /// Writes, and watches that the client takes it.
    private func put(
        _ part: HTTPServerResponsePart, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
    ) {
        pendingWrites += 1
        if pendingWrites == 1 { watchOutput(for: limits.drainTime, context) { context.close(promise: nil) } }
        let taken = promise ?? context.eventLoop.makePromise(of: Void.self)
        taken.futureResult.assumeIsolated().whenComplete { _ in self.written(context) }
        context.write(Self.wrapOutboundOut(part), promise: taken)
    }

    private func written(_ context: ChannelHandlerContext) {
        pendingWrites -= 1
        if pendingWrites > 0 {
            watchOutput(for: limits.drainTime, context) { context.close(promise: nil) }
        } else {
            outputTimer?.cancel()
            if case .afterWrites(let lingers) = closing { return finishClosing(lingers: lingers, context) }
            if isStreaming { watchOutput(for: limits.heartbeat, context) { self.beat(context) } }
        }
    }

    /// A comment line: shows the client that the server lives, and the server that the client reads.
    private func beat(_ context: ChannelHandlerContext) {
        put(.body(.byteBuffer(context.channel.allocator.buffer(string: ":\n\n"))), context, nil)
        context.flush()
    }

    private func close(lingering: Bool, _ context: ChannelHandlerContext) {
        if pendingWrites > 0 {
            closing = .afterWrites(lingers: lingering)
        } else {
            finishClosing(lingers: lingering, context)
        }
    }

    private func finishClosing(lingers: Bool, _ context: ChannelHandlerContext) {
        guard lingers else { return context.close(promise: nil) }
        closing = .lingering
        watchOutput(for: Self.lingerTime, context) { context.close(promise: nil) }
        context.close(mode: .output, promise: nil)
    }

    private func watchOutput(for time: Duration, _ context: ChannelHandlerContext, then body: @escaping () -> Void) {
        outputTimer?.cancel()
        outputTimer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time), body)
    }
}

extension HTTPRefusal {
    init(_ error: HTTPParserError) {
        switch error {
        case .headerOverflow: self = .headTooLarge
        case .invalidVersion: self = .versionNotSupported
        case .invalidMethod: self = .methodNotImplemented
        case .invalidEOFState, .closedConnection: self = .incomplete
        // Not an enum of ours: it has two dozen ways of saying that this is no HTTP.
        default: self = .malformed
        }
    }
}
