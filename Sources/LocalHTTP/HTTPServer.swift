public import Logging

/// Answers one request. Runs in the connection's task; requests of one connection follow each other, those of
/// different connections run at the same time. It is not cancelled when its client goes: see `HTTPConnection`.
public typealias HTTPHandler = @Sendable (HTTPRequest) async -> HTTPResponse

/// An HTTP/1.1 server on a Unix socket: local, bounded, strict.
///
/// What a client may not do is answered by the server itself, with the status of `HTTPRefusal` and a body made by
/// `refusalBody`, and the connection is closed. Everything a connection holds is freed with it.
public final class HTTPServer: Sendable {
    /// The socket listens from the moment it was made: a service may call itself ready before `run`.
    public init(
        socket: ListeningSocket, limits: HTTPLimits = HTTPLimits(), logger: Logger,
        refusalBody: @escaping @Sendable (HTTPRefusal) -> [UInt8] = \.json,
        handler: @escaping HTTPHandler
    ) {
    }

    /// Serves until `shutDown` has done its work or the task is cancelled, which closes every connection at once.
    /// Call it once.
    public func run() async throws(ListenError) {
    }

    /// Stops accepting, closes idle connections, ends event streams, lets running requests finish, and closes what is
    /// left after `grace`; then `run` returns. Does not wait.
    public func shutDown(grace: Duration) {
    }
}
