// SPDX-License-Identifier: Apache-2.0
/// Why the server answers a request itself, without asking the handler. The connection is closed after it.
public enum HTTPRefusal: String, CaseIterable, Error, Sendable {
    /// No HTTP: request line, header field or `Content-Length` broken, or a target that is not in origin form.
    case malformed
    /// Path or query badly percent-encoded, not UTF-8, or with a control character.
    case invalidTarget
    /// A version other than HTTP/1.1.
    case versionNotSupported
    /// A method that HTTP does not know, which is also how a client looks that speaks another protocol.
    case methodNotImplemented
    /// The sender shut down its side, or the connection, before the request was complete.
    case incomplete
    /// A further request before the answer to the one before it.
    case pipelined
    /// `Transfer-Encoding` on a request: send `Content-Length`.
    case transferEncodingRefused
    /// An `Expect` other than `100-continue`.
    case expectationFailed
    case headTooLarge
    case headTimedOut
    case bodyTooLarge
    case bodyTimedOut
    /// This user has `HTTPLimits.connectionsPerUser` connections.
    case tooManyConnectionsOfUser
    /// The server has `HTTPLimits.connections` connections.
    case tooManyConnections
    /// The server has `HTTPLimits.streams` streams of events, or this user has `streamsPerUser`.
    case tooManyStreams
    /// A peer without any permission.
    case notAllowed
    /// The server is being stopped.
    case shuttingDown

    public var status: Int {
        switch self {
        case .malformed, .invalidTarget, .incomplete, .pipelined: 400
        case .headTimedOut, .bodyTimedOut: 408
        case .transferEncodingRefused: 411
        case .bodyTooLarge: 413
        case .expectationFailed: 417
        case .notAllowed: 403
        case .tooManyConnectionsOfUser, .tooManyStreams: 429
        case .headTooLarge: 431
        case .methodNotImplemented: 501
        case .tooManyConnections, .shuttingDown: 503
        case .versionNotSupported: 505
        }
    }

    /// One noun phrase.
    public var message: String {
        switch self {
        case .malformed: "Malformed HTTP request"
        case .invalidTarget: "Path or query without valid percent-encoding"
        case .versionNotSupported: "Unsupported HTTP version"
        case .methodNotImplemented: "Unknown HTTP method"
        case .incomplete: "Incomplete request"
        case .pipelined: "Pipelined request"
        case .transferEncodingRefused: "Unsupported Transfer-Encoding header"
        case .expectationFailed: "Unsupported Expect header"
        case .headTooLarge: "Request head larger than allowed"
        case .headTimedOut: "Request head not complete in time"
        case .bodyTooLarge: "Request body larger than allowed"
        case .bodyTimedOut: "Request body not complete in time"
        case .tooManyConnectionsOfUser: "Too many connections by this user"
        case .tooManyConnections: "Too many connections"
        case .tooManyStreams: "Too many event streams"
        case .notAllowed: "Peer without permission"
        case .shuttingDown: "Server shutting down"
        }
    }

    /// Whether the same request may succeed when sent again.
    public var isRetryable: Bool {
        switch self {
        case .headTimedOut, .bodyTimedOut, .tooManyConnectionsOfUser, .tooManyConnections, .tooManyStreams,
            .shuttingDown:
            true
        case .malformed, .invalidTarget, .versionNotSupported, .methodNotImplemented, .incomplete, .pipelined,
            .transferEncodingRefused, .expectationFailed, .headTooLarge, .bodyTooLarge, .notAllowed:
            false
        }
    }

    /// A JSON body in the form of the local APIs, for servers without an error catalogue of their own.
    public var json: [UInt8] {
        Array(
            """
            {"error":{"code":"http.\(rawValue)","message":"\(message)","retryable":\(isRetryable),"who":"integrator"}}
            """.utf8)
    }
}
