// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// A connection on its way from the listening socket to its task.
struct AcceptedConnection: Sendable {
    let connection: HTTPConnection
    let channel: NIOAsyncChannel<ReceivedRequest, ServerWrite>
}
