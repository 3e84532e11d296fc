// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
public import PaymentValues

/// Why a call did not do what it was asked for. Compare the code: two errors with the same one are equal.
public struct TapClientError: Error, Equatable, Sendable {
    /// What happened, as a stable text. The daemon's codes (`reader.busy`) come as they are; those that arise on the
    /// way begin with `client.`. New ones may be added: have a branch for codes you do not know.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// One of the daemon's own.
        public init(_ code: ErrorCode) { rawValue = code.rawValue }

        /// No daemon at the socket. Nothing has been started.
        public static let daemonNotRunning = Code(rawValue: "client.daemon_not_running")
        /// This user may not open the socket.
        public static let accessDenied = Code(rawValue: "client.access_denied")
        /// The call could not be sent. Nothing has been started.
        public static let notSent = Code(rawValue: "client.not_sent")
        /// The call was sent, and what became of it is unknown: ask for the transaction, or repeat the call with the
        /// same idempotency key.
        public static let noAnswer = Code(rawValue: "client.no_answer")
        /// What answered is no nfc-tap daemon, or one of another version.
        public static let unexpectedAnswer = Code(rawValue: "client.unexpected_answer")
        /// The calling task was cancelled. Whether the call was carried out is unknown.
        public static let cancelled = Code(rawValue: "client.cancelled")
    }

    public let code: Code
    /// A noun phrase for people.
    public let message: String
    /// What to do about it.
    public let hint: String
    /// The daemon's error in full, where it came from the daemon.
    public let detail: ErrorDetail?

    init(_ code: Code, _ message: String, hint: String, detail: ErrorDetail? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.detail = detail
    }

    /// Whether the same call may succeed later, without changing anything. A `noAnswer` may be repeated with the same
    /// idempotency key only.
    public var isRetryable: Bool {
        if let detail { return detail.retryable }
        return [.daemonNotRunning, .notSent, .noAnswer].contains(code)
    }

    public static func == (left: TapClientError, right: TapClientError) -> Bool { left.code == right.code }
}

extension TapClientError: CustomStringConvertible {
    public var description: String { "\(message) (\(code.rawValue)): \(hint)" }
}

extension TapClientError {
    init(_ detail: ErrorDetail) {
        self.init(Code(rawValue: detail.code), detail.message, hint: detail.resolution, detail: detail)
    }

    static var callCancelled: TapClientError {
        TapClientError(.cancelled, "Call cancelled", hint: "Look the transaction up before starting another")
    }

    /// An answer that is neither the expected one nor an error of the daemon.
    static func unexpected(_ what: String) -> TapClientError {
        TapClientError(
            .unexpectedAnswer, "Unexpected answer: \(what)",
            hint: "Install client and daemon of the same version")
    }

    /// - Parameter path: of the socket that was tried.
    init(_ error: HTTPClientError, at path: String) {
        switch error {
        case .notConnected(.noServer), .notConnected(.refused), .notConnected(.timedOut):
            self.init(
                .daemonNotRunning, "nfc-tapd is not running: \(error) (\(path))",
                hint: "Start it with: systemctl start nfc-tapd.socket nfc-tapd.service")
        case .notConnected(.accessDenied):
            self.init(
                .accessDenied, "Access to nfc-tapd denied (\(path))",
                hint: "Add the user to the group nfc-tap and log in again")
        case .notConnected(.cancelled), .noAnswer(.cancelled):
            self = .callCancelled
        case .notConnected(.pathNotUsable), .notConnected(.closed), .notConnected(.unsendable),
            .notConnected(.system):
            self.init(.notSent, "Call not sent: \(error) (\(path))", hint: "Check the socket's path and the arguments")
        case .noAnswer(.timedOut), .noAnswer(.closed), .badAnswer(.truncated):
            self.init(
                .noAnswer, "No answer from nfc-tapd: \(error)",
                hint: "Look the transaction up, or repeat the call with the same idempotency key")
        case .badAnswer(.refused(let answer)):
            self.init(refusal: answer)
        case .badAnswer(.malformed), .badAnswer(.tooLarge), .badAnswer(.notAnEventStream):
            self = .unexpected("\(error)")
        }
    }

    /// From an answer with an error status.
    init(refusal answer: HTTPClientAnswer) {
        do throws(WireError) {
            self.init(try WireJSON.decode(ErrorBody.self, from: answer.body).error)
        } catch {
            self = .unexpected("status \(answer.status)")
        }
    }
}
