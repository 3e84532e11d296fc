// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Sits before the parser and reports raw bytes, which the parser keeps to itself until a head is complete.
final class ArrivalMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    enum Event {
        case arrived(Int), parsed
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireUserInboundEventTriggered(Event.arrived(Self.unwrapInboundIn(data).readableBytes))
        context.fireChannelRead(data)
        context.fireUserInboundEventTriggered(Event.parsed)
    }
}
