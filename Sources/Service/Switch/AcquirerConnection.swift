// SPDX-License-Identifier: Apache-2.0
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
    func stayConnected(to address: AcquirerAddress) async {
        while !Task.isCancelled, !isLost {
            do {
                let channel = try await Self.connect(address)
                try await channel.executeThenClose { inbound, _ in
                    connected(channel.channel)
                    var reader = FrameReader(packager.frame)
                    for try await buffer in inbound {
                        reader.append(buffer.readableBytesView)
                        Self.wipe(buffer)
                        while let frame = try reader.next() { received(frame) }
                    }
                }
            } catch {
                // What went wrong is told by the connection's end; it is made again.
            }
            disconnected()
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: .milliseconds(500))
        }
    }

    private typealias Channel = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private static func connect(_ address: AcquirerAddress) async throws -> Channel {
        try await ClientBootstrap(group: SocketThread.shared.loop)
            .connectTimeout(.seconds(5))
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: address.host, port: address.port) { channel in
                channel.eventLoop.makeCompletedFuture { try Channel(wrappingChannelSynchronously: channel) }
            }
    }

    /// A channel reads into the same few buffers again and again, and a host's answer repeats the card's number.
    private static func wipe(_ buffer: ByteBuffer) {
        // Whoever has the buffer is the only one to use it: NIO writes into no buffer that others hold. The pointer ends with the call.
        unsafe buffer.withVeryUnsafeBytes { bytes in
            _ = unsafe UnsafeMutableRawBufferPointer(mutating: bytes).initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    private func connected(_ channel: any NIOCore.Channel) {
        line = { bytes in
            guard let bytes else { return channel.close(promise: nil) }
            channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        }
        put(.connected)
    }

    private func disconnected() {
        guard line != nil else { return }
        line = nil
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
