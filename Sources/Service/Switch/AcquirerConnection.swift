// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import LocalHTTP
import Logging
import NIOCore
import NIOPosix

/// The acquirer's address.
public struct AcquirerAddress: Equatable, Sendable {
    public let host: String
    public let port: Int

    /// `host:port`, a name or a number; `[::1]:8583`. `nil` for everything else.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !host.isEmpty else { return nil }
        self.host = host
        self.port = port
    }
}

/// Keeps a connection to the acquirer open, cuts it into messages, and lets the link know.
extension Acquirer {
    /// Until it is cancelled.
    ///
    /// - Parameter lineSeconds: for which what was sent may stay without an acknowledgement of the other machine (TCP_USER_TIMEOUT, RFC 5482).
    func stayConnected(to address: AcquirerAddress, lineSeconds: Int) async {
        var pause = ReconnectPause()
        while !Task.isCancelled, !isLost {
            var (isThere, wasSignedOn) = (false, false)
            do {
                let channel = try await Self.connect(address, lineSeconds: lineSeconds)
                isThere = true
                try await channel.executeThenClose { inbound, _ in
                    connected(channel.channel)
                    var reader = FrameReader(packager.frame)
                    for try await buffer in inbound {
                        reader.append(buffer.readableBytesView)
                        Self.wipe(buffer)
                        do throws(FrameError) {
                            while let frame = try reader.next() { received(frame) }
                        } catch {
                            // Bytes where a length has to stand: a host with another frame, or another program.
                            measures.count(.frame)
                            pace.log(
                                logger, .error,
                                "the acquirer's bytes are no frame: hold the packager's frame against its manual",
                                ["length": "\(Hex.string(reader.refusedHead ?? []))", "reason": "\(error)"])
                            throw error
                        }
                        wasSignedOn = wasSignedOn || isSignedOn
                    }
                }
            } catch {
                // What went wrong is told by the connection's end; it is made again.
            }
            disconnected()
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: pause.next(isThere: isThere, wasSignedOn: wasSignedOn))
        }
    }

    typealias Channel = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    static func connect(_ address: AcquirerAddress, lineSeconds: Int) async throws -> Channel {
        try await ClientBootstrap(group: SocketThread.shared.loop)
            .connectTimeout(.seconds(5))
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: Self.waterMark)
            .channelOption(.tcpOption(Self.userTimeout), value: lineSeconds * 1_000)
            .connect(host: address.host, port: address.port) { channel in
                channel.eventLoop.makeCompletedFuture { try Channel(wrappingChannelSynchronously: channel) }
            }
    }

    /// TCP_USER_TIMEOUT of linux/tcp.h, in milliseconds.
    static let userTimeout = NIOBSDSocket.Option(rawValue: 18)

    /// A channel reads into the same few buffers again and again, and a host's answer repeats the card's number.
    private static func wipe(_ buffer: ByteBuffer) {
        // Whoever has the buffer is the only one to use it: NIO writes into no buffer that others hold. The pointer ends with the call.
        unsafe buffer.withVeryUnsafeBytes { bytes in
            _ = unsafe UnsafeMutableRawBufferPointer(mutating: bytes).initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    /// Bytes that wait for a host that does not read.
    static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 64 * 1_024, high: 256 * 1_024)

    private func connected(_ channel: any NIOCore.Channel) {
        lineTakes = { channel.isWritable }
        line = { bytes in
            guard let bytes else { return channel.close(promise: nil) }
            channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        }
        put(.connected)
    }

    private func disconnected() {
        guard line != nil else { return }
        line = nil
        lineTakes = { true }
        put(.disconnected)
        logger.warning("no connection to the acquirer")
    }

    private func received(_ frame: FrameReader.Frame) {
        guard case .message(let bytes, _) = frame else { return }
        do throws(MessageError) {
            put(.received(try packager.parse(bytes)))
        } catch {
            put(.unreadable(error))
        }
    }
}

/// How long to wait before the line is made again: twice as long each time that it was of no use.
struct ReconnectPause {
    private static let least: UInt64 = 500
    private var last: UInt64 = 0

    /// - Parameters:
    ///   - isThere: the host took the connection. One that refuses the sign-on, or does not answer it, is asked once a minute in the end; one that
    ///     cannot be reached every eight seconds.
    ///   - wasSignedOn: it was of use.
    mutating func next(isThere: Bool, wasSignedOn: Bool) -> Duration {
        last = wasSignedOn || last == 0 ? Self.least : min(last * 2, isThere ? 60_000 : 8_000)
        return .milliseconds(last)
    }
}
