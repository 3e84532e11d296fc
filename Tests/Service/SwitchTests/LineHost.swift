// SPDX-License-Identifier: Apache-2.0
import ISO8583
import NIOCore
import NIOPosix
import Testing

@testable import Switch

/// An acquirer's host at a port of this machine, for one line at a time.
enum LineHost {
    typealias Serving =
        @Sendable (
            NIOAsyncChannelInboundStream<ByteBuffer>, NIOAsyncChannelOutboundWriter<ByteBuffer>
        ) async throws -> Void

    /// Serves each line until `serving` returns, as long as `body` runs.
    static func run(_ serving: @escaping Serving, _ body: (AcquirerAddress) async throws -> Void) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(
            host: "127.0.0.1", port: 0
        ) { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        let port = try #require(server.channel.localAddress?.port)
        let address = try #require(AcquirerAddress("127.0.0.1:\(port)"))
        let lines = Task {
            try await server.executeThenClose { lines in
                // A line that breaks ends no other one.
                for try await line in lines { try? await line.executeThenClose(serving) }
            }
        }
        defer { lines.cancel() }
        try await body(address)
    }

    /// Answers what comes with this code, in the messages of `1987-bcd`.
    ///
    /// - Parameters:
    ///   - most: after so many answers it ends the line.
    ///   - rest: before the answer to a reversal.
    static func answering(
        _ code: String, atMost most: Int = .max, reversalsAfter rest: Duration = .zero
    ) -> Serving {
        { inbound, outbound in
            let packager = try Packager(.bcd1987)
            var (reader, count) = (FrameReader(packager.frame), 0)
            for try await buffer in inbound {
                reader.append(buffer.readableBytesView)
                while case .message(let bytes, _)? = try reader.next() {
                    let asked = try packager.parse(bytes)
                    if asked.type.kind == 4 { try await Task.sleep(for: rest) }
                    var answer = asked.keeping([3, 4, 7, 11, 12, 13, 32, 37, 41, 42, 49, 70])
                    answer.type = try #require(asked.type.answer)
                    answer.set(39, code)
                    try await outbound.write(ByteBuffer(bytes: packager.frame.frame(packager.build(answer))))
                    count += 1
                }
                if count >= most { return }
            }
        }
    }
}
