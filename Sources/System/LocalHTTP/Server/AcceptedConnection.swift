// SPDX-License-Identifier: Apache-2.0
import NIOCore
import Synchronization

/// A connection on its way from the listening socket to its task.
struct AcceptedConnection: Sendable {
    let connection: HTTPConnection
    let channel: NIOAsyncChannel<ReceivedRequest, ServerWrite>
}

/// Where a connection waits for its channel to be registered, and then for its task. Closes it where it is let go before.
final class Arrival: Sendable {
    private let connection = Mutex<AcceptedConnection?>(nil)

    func set(_ accepted: AcceptedConnection) { connection.withLock { $0 = accepted } }

    func take() -> AcceptedConnection? {
        connection.withLock { connection in
            defer { connection = nil }
            return connection
        }
    }

    deinit { take()?.channel.channel.close(promise: nil) }
}
