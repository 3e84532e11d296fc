// SPDX-License-Identifier: Apache-2.0
import Linux
import NIOCore
import NIOHTTP1
import NIOPosix

/// Opens a channel to a Unix socket, or to a port of this machine, and says in the client's terms why it could not.
struct ClientConnector {
    let path: String
    let loopback: TCPAddress?
    let time: Duration
    let maximumHeadBytes = 16 * 1024

    func connect(
        _ handler: @escaping @Sendable () -> any ChannelHandler
    ) async throws(HTTPClientError) -> any Channel {
        guard loopback.map(\.isLoopback) ?? (UnixAddress(path: path) != nil) else {
            throw .notConnected(.pathNotUsable)
        }
        let deadline = ContinuousClock.now + time
        while true {
            do throws(HTTPClientError) {
                return try await attempt(handler, until: deadline)
            } catch .notConnected(.system(errno: EAGAIN)) {
                // The server's backlog is full, for which Unix sockets have no waiting room.
                guard ContinuousClock.now < deadline else { throw .notConnected(.timedOut) }
                guard (try? await Task.sleep(for: .milliseconds(10))) != nil else { throw .notConnected(.cancelled) }
            }
        }
    }

    private func attempt(
        _ handler: @escaping @Sendable () -> any ChannelHandler, until deadline: ContinuousClock.Instant
    ) async throws(HTTPClientError) -> any Channel {
        let bootstrap = ClientBootstrap(group: EventLoops.shared)
            .connectTimeout(TimeAmount(max(.milliseconds(1), deadline - .now)))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.addHandlers(to: channel, handler()) }
            }
        if Task.isCancelled { throw .notConnected(.cancelled) }
        do {
            guard let loopback else { return try await bootstrap.connect(unixDomainSocketPath: path).get() }
            let address = try SocketAddress(ipAddress: loopback.host, port: Int(loopback.port))
            return try await bootstrap.connect(to: address).get()
        } catch {
            throw .notConnected(Self.failure(error))
        }
    }

    private func addHandlers(to channel: any Channel, _ handler: any ChannelHandler) throws {
        var parsing = NIOHTTPDecoderLimitConfiguration()
        parsing.maxHeaderFieldSize = maximumHeadBytes
        parsing.maxHeaderListSize = maximumHeadBytes
        try channel.pipeline.syncOperations.addHandlers([
            ArrivalMeter(), HTTPRequestEncoder(),
            ByteToMessageHandler(HTTPResponseDecoder(limitConfiguration: parsing)), handler,
        ])
    }

    private static func failure(_ error: any Error) -> HTTPClientError.ConnectFailure {
        switch error {
        case let error as IOError:
            switch error.errnoCode {
            case ENOENT, ENOTDIR: .noServer
            case ECONNREFUSED: .refused
            case EACCES, EPERM: .accessDenied
            default: .system(errno: error.errnoCode)
            }
        case ChannelError.connectTimeout: .timedOut
        default: .closed
        }
    }
}
