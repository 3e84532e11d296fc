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
    /// - Parameters:
    ///   - addresses: of the same host, the one that is wanted first.
    ///   - lineSeconds: for which what was sent may stay without an acknowledgement of the other machine (TCP_USER_TIMEOUT, RFC 5482).
    ///   - rest: lets the time between two lines pass. A cancelled sleep ends the loop.
    func stayConnected(
        to addresses: [AcquirerAddress], lineSeconds: Int,
        rest: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) async {
        var (pause, turn) = (ReconnectPause(), LineTurn(count: addresses.count))
        while !Task.isCancelled, !isLost, addresses.indices.contains(turn.index) {
            let address = addresses[turn.index]
            var (hasSpoken, wasSignedOn) = (false, false)
            do {
                let channel = try await Self.connect(address, lineSeconds: lineSeconds)
                try await channel.executeThenClose { inbound, _ in
                    connected(channel.channel)
                    var reader = FrameReader(packager.frame)
                    for try await buffer in inbound {
                        hasSpoken = true
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
            let isRoundOver = turn.end(wasSignedOn: wasSignedOn)
            if addresses.count > 1 {
                logger.notice("the acquirer's next line is tried", metadata: ["line": "\(turn.index + 1)"])
            }
            let wait = isRoundOver ? pause.next(hasSpoken: hasSpoken, wasSignedOn: wasSignedOn) : LineTurn.pause
            await rest(wait)
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
        codes?.begin()
        lineTakes = { channel.isWritable }
        line = AcquirerLine.writer(channel)
        put(.connected)
    }

    func send(_ message: ISOMessage) {
        guard lineTakes() else {
            measures.count(.lineFull)
            return pace.log(logger, .error, "the acquirer does not read: what was to be sent is left, and repeated")
        }
        guard let line else { return }
        let frame = packager.frame
        let header = frame.hasTPDU ? TPDU(destination: frame.destination, source: 0) : nil
        if let codes {
            // A message that was packed is not longer than a frame.
            return codes.send(message) { bytes in if let bytes = try? frame.frame(bytes, header) { line(bytes) } }
        }
        do {
            line(try frame.frame(try packager.build(message), header))
        } catch {
            logger.critical("a message cannot be packed", metadata: ["type": "\(message.type)"])
        }
    }

    private func disconnected() {
        guard line != nil else { return }
        line = nil
        codes?.begin()
        lineTakes = { true }
        put(.disconnected)
        logger.warning("no connection to the acquirer")
    }

    private func received(_ frame: FrameReader.Frame) {
        guard case .message(let bytes, _) = frame else { return }
        do throws(MessageError) {
            let message = try packager.parse(bytes)
            guard let codes else {
                _ = put(.received(message))
                return
            }
            codes.receive(bytes, message) { await self.put($0) }
        } catch {
            put(.unreadable(error))
        }
    }
}

enum AcquirerLine {
    /// What sends over a channel, in the order in which it is asked to; closes without bytes. NIO writes at once what its own thread asks for, and so before
    /// what another thread has asked for already: an answer to the host's sign-off overtook a payment.
    static func writer(_ channel: any NIOCore.Channel) -> @Sendable ([UInt8]?) -> Void {
        { bytes in
            channel.eventLoop.execute {
                guard let bytes else { return channel.close(promise: nil) }
                channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
            }
        }
    }
}

/// Which of a host's lines is tried next: after one that was of use the first one again, else the one behind it.
struct LineTurn {
    /// Between two lines of a round.
    static let pause = Duration.milliseconds(200)

    private let count: Int
    private(set) var index = 0

    init(count: Int) { self.count = count }

    /// - Returns: whether a round has ended, so that a pause is due that may grow.
    mutating func end(wasSignedOn: Bool) -> Bool {
        index = wasSignedOn || index + 1 >= count ? 0 : index + 1
        return index == 0
    }
}

/// How long to wait before the line is made again: twice as long each time that it was of no use.
struct ReconnectPause {
    private static let least: UInt64 = 500
    private var last: UInt64 = 0

    /// - Parameters:
    ///   - hasSpoken: the host has sent something. One that refuses the sign-on is asked once a minute in the end; one that cannot be reached every eight
    ///     seconds. A proxy before it takes connections for a host that is dead, and ends them without a byte.
    ///   - wasSignedOn: it was of use.
    mutating func next(hasSpoken: Bool, wasSignedOn: Bool) -> Duration {
        last = wasSignedOn || last == 0 ? Self.least : min(last * 2, hasSpoken ? 60_000 : 8_000)
        return .milliseconds(last)
    }
}
