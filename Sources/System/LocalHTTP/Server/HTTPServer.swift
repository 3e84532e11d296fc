// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Answers one request. Runs in the connection's task; requests of one connection follow each other, those of
/// different connections run at the same time. It is not cancelled when its client goes: see `HTTPConnection`.
public typealias HTTPHandler = @Sendable (HTTPRequest) async -> HTTPResponse

/// An HTTP/1.1 server on a Unix socket or a TCP address: local, bounded, strict.
///
/// What a client may not do is answered by the server itself, with the status of `HTTPRefusal` and a body made by
/// `refusalBody`, and the connection is closed. Everything a connection holds is freed with it.
public final class HTTPServer: Sendable {
    private let socket: ListeningSocket
    private let limits: HTTPLimits
    private let logger: Logger
    private let refusalBody: @Sendable (HTTPRefusal) -> [UInt8]
    private let handler: HTTPHandler
    private let thread: SocketThread?
    private let table: ConnectionTable
    /// `shutDown` was called.
    private let stopping = Termination()
    private let grace = Mutex<Duration>(.zero)

    /// - Parameters:
    ///   - standing: who gets in where not everybody does.
    ///   - thread: where connections are accepted and the handler runs, if it never blocks; else on the threads of all tasks.
    ///
    /// The socket listens from the moment it was made: a service may call itself ready before `run`.
    public init(
        socket: ListeningSocket, limits: HTTPLimits = HTTPLimits(), logger: Logger,
        refusalBody: @escaping @Sendable (HTTPRefusal) -> [UInt8] = \.json, connections: ConnectionCount? = nil,
        standing: @escaping @Sendable (PeerCredentials) -> PeerStanding = { _ in .administering },
        thread: SocketThread? = nil, handler: @escaping HTTPHandler
    ) {
        self.socket = socket
        self.thread = thread
        self.limits = limits
        self.logger = logger
        self.refusalBody = refusalBody
        self.handler = handler
        table = ConnectionTable(limits: limits, count: connections, standing: standing)
    }

    /// Serves until `shutDown` has done its work or the task is cancelled, which closes every connection at once.
    /// - Throws: `notListening` where it has been called before, and when the socket fails while serving.
    public func run() async throws(ListenError) {
        guard let descriptor = socket.take() else { throw .notListening }
        defer { socket.removeFile() }
        let door: AcceptThread
        let (arrivals, arrived) = AsyncStream<Arrival>.makeStream()
        do throws(SystemError) {
            door = try AcceptThread(descriptor, logger: logger)
            try door.open(admitting: { self.admit($0, arrived) }, failed: { arrived.finish() })
        } catch {
            throw .system(call: .listen, at: socket.place, errno: error.code)
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: self.thread) { await self.accept(arrivals) }
            group.addTask { await self.watchGrace(door, arrived) }
            // Whichever is first: everything is served, or the time is over.
            await group.next()
            group.cancelAll()
        }
        await shut(door)
        // Nobody has ended it: the socket is gone, and a service that goes on without it would be deaf.
        guard stopping.hasHappened || Task.isCancelled else { throw .notListening }
    }

    /// Stops accepting, closes idle connections, ends event streams, lets running requests finish, and closes what is
    /// left after `grace`; then `run` returns. Does not wait.
    public func shutDown(grace: Duration) {
        self.grace.withLock { $0 = grace }
        stopping.happen()
    }

    // MARK: - Listening

    /// Closes the socket, and returns when it is closed.
    private func shut(_ door: AcceptThread) async {
        let closed = WakeUp()
        door.whenClosed { closed.call() }
        door.shut()
        await closed.wait()
    }

    /// Lets a new connection in, or closes it. Runs on the door's thread.
    private func admit(_ descriptor: Int32, _ arrived: AsyncStream<Arrival>.Continuation) {
        guard let peer = socket.peer(descriptor), table.isInPace(peer.userID) else {
            _ = close(descriptor)
            return
        }
        let arrival = Arrival()
        ClientBootstrap(group: EventLoops.shared)
            // A browser that has closed its side is gone: a till's presence must not last until the next heartbeat.
            .channelOption(.allowRemoteHalfClosure, value: socket.admits == nil)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { arrival.set(try self.accepted(channel, of: peer)) }
            }
            .withConnectedSocket(descriptor)
            .whenSuccess { _ in arrived.yield(arrival) }
    }

    /// Sets a new connection up.
    ///
    /// - Throws: where it is not to be served; then it is closed.
    private func accepted(_ channel: any Channel, of peer: PeerCredentials) throws -> AcceptedConnection {
        let operations = channel.pipeline.syncOperations
        let connection = HTTPConnection(peer: peer)
        let refusal: HTTPRefusal?
        let verdict = table.admit(connection, dismiss: { channel.close(promise: nil) }) {
            channel.pipeline.fireUserInboundEventTriggered(ServerConnectionHandler.Stop())
        }
        switch verdict {
        case .admitted: refusal = nil
        case .refused(let reason): refusal = reason
        case .dropped: throw ChannelError.ioOnClosedChannel
        }
        do {
            try operations.addHandlers(handlers(connection, refusal))
            let wrapped = try NIOAsyncChannel<ReceivedRequest, ServerWrite>(wrappingChannelSynchronously: channel)
            let accepted = AcceptedConnection(connection: connection, channel: wrapped)
            // One that arrives while the server stops is served by nobody. It must outlive its channel all the same:
            // NIO traps where a channel's writer is let go unfinished.
            channel.closeFuture.whenComplete { _ in withExtendedLifetime(accepted) {} }
            return accepted
        } catch {
            connection.closing.happen()
            throw error
        }
    }

    private func handlers(_ connection: HTTPConnection, _ refusal: HTTPRefusal?) -> [any ChannelHandler] {
        var parsing = NIOHTTPDecoderLimitConfiguration()
        parsing.maxHeaderFieldSize = limits.headBytes
        parsing.maxHeaderListSize = limits.headBytes
        parsing.maxHeaderFieldCount = limits.headFields
        return [
            ArrivalMeter(), ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: parsing)),
            HTTPResponseEncoder(),
            ServerConnectionHandler(
                connection: connection, refusal: refusal, limits: limits, logger: logger, refusalBody: refusalBody),
        ]
    }

    // MARK: - Serving

    private func accept(_ arrivals: AsyncStream<Arrival>) async {
        await withDiscardingTaskGroup { group in
            for await arrival in arrivals {
                guard let accepted = arrival.take() else { continue }
                group.addTask { await self.serve(accepted) }
            }
        }
    }

    private func serve(_ accepted: AcceptedConnection) async {
        let connection = accepted.connection
        // An error means that the client has gone, which `connection` tells whoever wants to know.
        try? await accepted.channel.executeThenClose { requests, outbound in
            for try await received in requests {
                let request = HTTPRequest(
                    method: received.isHead ? .get : received.method, path: received.target.path,
                    query: received.target.query, fields: received.fields, body: received.body, connection: connection)
                self.table.asks(connection, true)
                defer { self.table.asks(connection, false) }
                let response = await self.handler(request)
                do {
                    try await self.write(response, isHead: received.isHead, to: outbound, connection)
                } catch {
                    response.whenWritten?(false)
                    throw error
                }
            }
        }
    }

    private func write(
        _ response: HTTPResponse, isHead: Bool, to outbound: NIOAsyncChannelOutboundWriter<ServerWrite>,
        _ connection: HTTPConnection
    ) async throws {
        switch response.body {
        case .bytes(let bytes):
            try await outbound.write(
                .answer(
                    status: response.status, fields: response.fields, body: bytes, isHead: isHead,
                    whenWritten: response.whenWritten))
        case .secret(let body):
            try await outbound.write(
                .secretAnswer(status: response.status, fields: response.fields, body: body, isHead: isHead))
        case .events(let queue):
            defer { queue.close() }
            var fields = response.fields
            fields.set("Content-Type", "text/event-stream")
            fields.set("Cache-Control", "no-store")
            // nginx holds events back until a buffer is full, unless it is told not to.
            fields.set("X-Accel-Buffering", "no")
            if isHead {
                return try await outbound.write(.answer(status: 200, fields: fields, body: [], isHead: true))
            }
            if let refusal = table.beginStream(connection) {
                let fields: HTTPFields = ["Content-Type": "application/json", "Retry-After": "1"]
                return try await outbound.write(
                    .answer(status: refusal.status, fields: fields, body: refusalBody(refusal), isHead: false))
            }
            try await stream(queue, fields, to: outbound, connection)
        case .verbatim(let bytes):
            // Without a head before it the encoder passes a body part on as it is.
            try await outbound.write(.streamBytes(bytes))
            try await outbound.write(.streamEnd)
        }
    }

    private func stream(
        _ queue: EventQueue, _ fields: HTTPFields, to outbound: NIOAsyncChannelOutboundWriter<ServerWrite>,
        _ connection: HTTPConnection
    ) async throws {
        let closed = connection.onClose { queue.close() }
        let stopped = connection.stopping.observe { queue.finish() }
        defer {
            closed.cancel()
            connection.stopping.forget(stopped)
        }
        try await outbound.write(.streamHead(fields))
        while let bytes = await queue.next() { try await outbound.write(.streamBytes(bytes)) }
        try await outbound.write(.streamEnd)
    }

    /// Returns when the grace of a shutdown is over, or the task cancelled.
    private func watchGrace(_ door: AcceptThread, _ arrived: AsyncStream<Arrival>.Continuation) async {
        await stopping.wait()
        await shut(door)
        arrived.finish()
        table.stop()
        try? await Task.sleep(for: grace.withLock { $0 })
    }
}
