// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Linux
import TapClient
import Wire

/// Which daemon a command talks to.
struct DaemonChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Socket of nfc-tapd; default: NFC_TAP_SOCKET, then /run/nfc-tap/pos.sock, then the socket of a daemon started by this user.",
            valueName: "path"))
    var socket: String?

    var client: TapClient { TapClient(path: socket ?? DaemonChoice.found) }

    private static var found: String {
        if let path = Environment.value("NFC_TAP_SOCKET") { return path }
        guard let folder = Environment.value("XDG_RUNTIME_DIR"), !FileSystem.exists(TapClient.defaultPath) else {
            return TapClient.defaultPath
        }
        let own = folder + "/nfc-tap/pos.sock"
        return FileSystem.exists(own) ? own : TapClient.defaultPath
    }
}

extension Failure {
    init(_ error: TapClientError) {
        let code: ExitCode
        switch error.code {
        case .daemonNotRunning, .notSent, .unexpectedAnswer: code = .unavailable
        case .noAnswer: code = .unknownOutcome
        case .accessDenied, .init(.authRoleMissing), .init(.sessionNotOwner): code = .notAllowed
        case .init(.authAdminRequired): code = .administratorNeeded
        case .cancelled: code = .notCompleted
        case _: code = error.detail?.who == .integrator ? .malformedInput : .notCompleted
        }
        self.init(
            "\(error.message) (\(error.code.rawValue))", hint: error.hint, exitCode: code, code: error.code.rawValue)
    }

    /// For a transaction that has begun and whose outcome is unknown: a stopped daemon does not prove that nothing
    /// happened.
    init(_ error: TapClientError, losing transaction: Transaction) {
        self.init(error)
        guard error.code != .cancelled, transaction.type != .loyalty else { return }
        self.init(
            "\(phrase); the outcome of \(transaction.id) is unknown",
            hint: "look the payment up before you repeat it: nfc-tap receipt \(transaction.id)",
            exitCode: .unknownOutcome,
            code: code)
    }
}
