// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Linux
import POSAPI
import PaymentValues
import TapClient

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
    /// - Parameter language: of the words; what the arguments were wrong about is told in English.
    init(_ error: TapClientError, in language: Language = .spoken) {
        let code: ExitCode
        switch error.code {
        case .daemonNotRunning, .notSent, .unexpectedAnswer: code = .unavailable
        case .noAnswer: code = .unknownOutcome
        case .accessDenied, .init(.authRoleMissing), .init(.sessionNotOwner): code = .notAllowed
        case .init(.authAdminRequired): code = .administratorNeeded
        case .cancelled: code = .notCompleted
        case _: code = error.detail?.who == .integrator ? .malformedInput : .notCompleted
        }
        if let detail = error.detail, let phrase = CommandWords.phrase(for: detail, in: CommandLine.arguments) {
            self.init(
                "\(phrase) (\(error.code.rawValue))", hint: "see the command's --help", exitCode: code,
                code: error.code.rawValue)
            return
        }
        // In English the client says the same, with what the system said.
        if language != .english, let told = error.code.told(in: language) {
            self.init(
                "\(told.what) (\(error.code.rawValue))", hint: told.remedy, exitCode: code, code: error.code.rawValue)
            self.language = language
            return
        }
        let known = ErrorCode(rawValue: error.code.rawValue)
        let texts = known?.texts(in: language) ?? (message: error.message, resolution: error.hint)
        // Where the code says what is wrong, the field is a word of the API and helps nobody here.
        let isOfRequest = error.code.rawValue.hasPrefix("request.")
        let field = isOfRequest ? error.detail?.field.map { " at \($0)" } ?? "" : ""
        self.init(
            "\(texts.message)\(field) (\(error.code.rawValue))", hint: CommandWords.replaced(in: texts.resolution),
            exitCode: code, code: error.code.rawValue)
        if language.isComplete || known?.isToldAtTill == true { self.language = language }
    }

    /// For a transaction that has begun and whose outcome is unknown: a stopped daemon does not prove that nothing
    /// happened.
    init(_ error: TapClientError, losing transaction: Transaction, in language: Language = .spoken) {
        self.init(error, in: language)
        guard error.code != .cancelled, transaction.type != .loyalty else { return }
        self.init(
            "\(phrase); \(language.text(.outcomeUnknown, [.code: "\(transaction.id)"]))",
            hint: language.text(.lookUpFirst, [.command: "nfc-tap receipt \(transaction.id)"]),
            exitCode: .unknownOutcome,
            code: code)
        self.language = language
    }
}

extension TapClientError.Code {
    /// Of those without the daemon that a cashier may meet: what happened, and what to do.
    fileprivate func told(in language: Language) -> (what: String, remedy: String)? {
        switch self {
        case .daemonNotRunning:
            let start = "systemctl start nfc-tapd.socket nfc-tapd.service"
            return (language.text(.away), language.text(.startIt, [.command: start]))
        case .accessDenied: return (language.text(.denied), language.text(.joinGroup, [.name: "nfc-tap"]))
        case .noAnswer: return (language.text(.unanswered), language.text(.repeatKey))
        case .cancelled: return (language.text(.stopped), language.text(.lookUp))
        case _: return nil
        }
    }
}
