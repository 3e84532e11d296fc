// SPDX-License-Identifier: Apache-2.0
import Linux

/// How a request failed, by what is known of it at the other end.
public enum HTTPClientError: Error, Equatable, Sendable {
    /// No byte of the request has left this process: it has certainly not been carried out.
    case notConnected(ConnectFailure)
    /// The request, or a part of it, was sent and no answer came: whether it was carried out is unknown.
    case noAnswer(Silence)
    /// What came back is not a usable answer: whether the request was carried out is unknown.
    case badAnswer(Fault)

    public enum ConnectFailure: Equatable, Sendable {
        /// Not a path that fits into a socket address.
        case pathNotUsable
        /// No socket file: the server has not been started.
        case noServer
        /// A socket file at which no server listens.
        case refused
        /// This user may not open the socket.
        case accessDenied
        case timedOut
        /// The kept connection had been closed by the server.
        case closed
        case cancelled
        /// The method, target or a field cannot be sent as HTTP.
        case unsendable
        case system(errno: Int32)
    }

    public enum Silence: Equatable, Sendable {
        case timedOut
        /// Closed before the first byte of the answer.
        case closed
        case cancelled
    }

    public enum Fault: Equatable, Sendable {
        /// Not HTTP.
        case malformed
        /// Closed or silent in the middle of the answer.
        case truncated
        /// Head or body larger than the client accepts.
        case tooLarge
        /// Instead of events, this answer.
        case refused(HTTPClientAnswer)
        /// Status 200, but no `text/event-stream`.
        case notAnEventStream
    }

    /// Whether the request has certainly not been carried out.
    public var isSafeToRepeat: Bool {
        if case .notConnected = self { return true }
        return false
    }
}

extension HTTPClientError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notConnected(.pathNotUsable): "socket path not usable"
        case .notConnected(.noServer): "no socket at the path"
        case .notConnected(.refused): "no server listens at the socket"
        case .notConnected(.accessDenied): "access to the socket denied"
        case .notConnected(.timedOut): "connection not accepted in time"
        case .notConnected(.closed): "connection closed by the server before the request"
        case .notConnected(.cancelled): "cancelled before the request"
        case .notConnected(.unsendable): "request cannot be expressed in HTTP"
        case .notConnected(.system(let errno)): "no connection: \(SystemError(code: errno))"
        case .noAnswer(.timedOut): "no answer in time"
        case .noAnswer(.closed): "connection closed without an answer"
        case .noAnswer(.cancelled): "cancelled while waiting for the answer"
        case .badAnswer(.malformed): "answer is not HTTP"
        case .badAnswer(.truncated): "answer incomplete"
        case .badAnswer(.tooLarge): "answer larger than accepted"
        case .badAnswer(.refused(let answer)): "answer with status \(answer.status) instead of events"
        case .badAnswer(.notAnEventStream): "answer is not a stream of events"
        }
    }
}
