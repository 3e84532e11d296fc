// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CLinux
import Glibc
import Linux
import PaymentValues
import ReaderCore

/// Why a command failed, and what the person can do about it.
struct Failure: Error {
    /// One lower-case phrase without a final period.
    let phrase: String
    /// A command to run, or where to look; `nil` if there is neither.
    let hint: String?
    let exitCode: ExitCode
    /// Of the catalogue in docs/integrating/errors.md, or of the client library; `nil` if it has no entry.
    let code: String?
    /// Of phrase and hint.
    var language = Language.english

    init(_ phrase: String, hint: String? = nil, exitCode: ExitCode, code: String? = nil) {
        // A name or text of somebody else's may be in it.
        self.phrase = phrase.shown
        self.hint = hint?.shown
        self.exitCode = exitCode
        self.code = code
    }

    /// What a cashier is told, in a language that has both texts.
    init(
        in language: Language, _ phrase: StatusPhrase, _ values: [TextKey.Placeholder: String] = [:],
        hint: StatusPhrase, _ remedy: [TextKey.Placeholder: String], exitCode: ExitCode, code: String? = nil
    ) {
        self.init(language.text(phrase, values), hint: language.text(hint, remedy), exitCode: exitCode, code: code)
        self.language = language
    }

    init(_ error: ReaderError) {
        switch error {
        case .cardLost, .timedOut, .cancelled:
            self.init(error.description, hint: "present the card again", exitCode: .notCompleted)
        case .detached, .faulty:
            self.init(error.description, hint: "check the cable, then run nfc-tap readers", exitCode: .unavailable)
        case .inUse:
            self.init(
                error.description, hint: "stop the other program; a running nfc-tapd also holds its readers",
                exitCode: .unavailable)
        case .serviceUnavailable(.pcscdNotRunning):
            self.init(
                error.description,
                hint:
                    "run nfc-tap doctor, which says why; without pcscd: apt-get install pcscd && systemctl start pcscd.socket",
                exitCode: .unavailable)
        case .serviceUnavailable(.otherVersion):
            self.init(
                error.description,
                hint: "install libpcsclite1 in pcscd's version; a program that ran through the upgrade: restart it",
                exitCode: .unavailable)
        case .serviceUnavailable(.accessDenied):
            // Where even root is refused, polkit cannot be asked, or pcscd has no place left: the doctor knows which.
            let hint =
                geteuid() == 0
                ? "run nfc-tap doctor"
                : "run nfc-tap doctor: pcscd's polkit rules refuse this user, or other programs have all its connections"
            self.init(error.description, hint: hint, exitCode: .notAllowed)
        case .serviceUnavailable(.workerMissing):
            self.init(
                error.description, hint: "set NFC_TAP_LIBNFC_WORKER to the program's path", exitCode: .unavailable)
        case .serviceUnavailable(.unsuitableReader):
            self.init(error.description, hint: "run nfc-tap doctor to find a suitable reader", exitCode: .unavailable)
        case .serviceUnavailable(.unknownReader):
            self.init(error.description, hint: "run nfc-tap readers to list the names", exitCode: .unavailable)
        }
    }

    /// Words for people, or one line of JSON for a program that asked for it.
    func report(asJSON: Bool) {
        if asJSON { return FailureMessage(self).report() }
        StandardError.write("nfc-tap: \(language.text(.error)): \(phrase)\n")
        if let hint { StandardError.write("nfc-tap: \(language.text(.hint)): \(hint)\n") }
    }
}
