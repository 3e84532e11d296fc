// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

extension ExitCode {
    static let declined = ExitCode(10)
    static let partiallyApproved = ExitCode(11)
    static let unknownOutcome = ExitCode(12)
    static let notCompleted = ExitCode(13)
    /// `auth.admin_required`.
    static let administratorNeeded = ExitCode(14)
    /// The payment service's figures of a day are not the journal's.
    static let figuresDiffer = ExitCode(15)
    /// EX_DATAERR of sysexits.
    static let malformedInput = ExitCode(65)
    /// EX_UNAVAILABLE.
    static let unavailable = ExitCode(69)
    /// EX_NOPERM.
    static let notAllowed = ExitCode(77)

    /// Every exit code of `nfc-tap` with its meaning, in ascending order. The help shows this table, the manual is made from the help, and a test compares
    /// docs/shop/command-line.md with it.
    static let meanings: [(code: ExitCode, text: String)] = [
        (.success, "done; a payment was approved, or stored to be sent later"),
        (
            .failure,
            "a check found a difference: a replay, a kernel, the audit chain, an adapter's contract, or an error of doctor"
        ),
        (.declined, "declined or reversed"),
        (.partiallyApproved, "approved in part"),
        (.unknownOutcome, "outcome unknown; look the payment up before you charge again"),
        (.notCompleted, "not completed: cancelled, timed out, card unreadable, or refused by the daemon"),
        (.administratorNeeded, "an administrator is needed"),
        (.figuresDiffer, "the payment service's figures of the day differ from the journal's"),
        (.validationFailure, "wrong arguments"),
        (.malformedInput, "malformed input"),
        (.unavailable, "no reader, or no daemon"),
        (.notAllowed, "not allowed"),
    ]

    static let list = "Exit codes:\n" + meanings.map { "\($0.code.rawValue)  \($0.text)" }.joined(separator: "\n")
}
