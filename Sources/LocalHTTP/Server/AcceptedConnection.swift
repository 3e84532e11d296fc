import NIOCore

/// A connection on its way from the listening socket to its task.
struct AcceptedConnection: Sendable {
    let connection: HTTPConnection
    let channel: NIOAsyncChannel<ReceivedRequest, ServerWrite>
}
