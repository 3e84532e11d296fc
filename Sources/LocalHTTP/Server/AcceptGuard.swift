// SPDX-License-Identifier: Apache-2.0
import Logging
import NIOCore

/// Ends errors of the listening socket here. Behind it they would end the loop that accepts connections: one moment
/// without file descriptors would be the end of the service.
final class AcceptGuard: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.warning("connection not accepted", metadata: ["error": "\(error)"])
    }
}
