// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues

extension Transaction {
    /// Outcome first, then the card with its last digits before the brand, then the amount and what the PSP says.
    func summary(in language: Language = .spoken) -> String {
        if type == .loyalty { return passSummary(in: language) }
        let card = card.map { language.inOrder("\($0)") } ?? language.text(.noCard)
        var lines = ["\(headline(in: language))  \(card)  \(language.text(result?.amountApproved ?? amount))"]
        if let code = result?.approvalCode { lines.append(language.line(.approvalCode, code)) }
        if let code = result?.responseCode { lines.append(language.line(.responseCode, code)) }
        if let reason = result?.reason { lines.append(language.line(.reason, reason.text(in: language))) }
        if let unsupported = error?.unsupportedKernel { lines.append(language.line(.notSupported, "\(unsupported)")) }
        if let error { lines += error.lines(in: language) }
        if let end = result?.readKeptUntil, end > .now { lines.append("  " + language.text(.readKept)) }
        for case let name? in (alternatives ?? []).map(\.request.to) {
            lines.append(language.line(.otherTerminal, "nfc-tap handover \(name) --retry-of \(id)"))
        }
        if let repeats = result?.repeats {
            lines.append(language.line(.sameAs, language.text(.sameAsText, [.code: "\(repeats)"])))
        }
        if let confirmation, state == .approved {
            let asked = [TextKey.Placeholder.date: "\(confirmation.due)", .command: "nfc-tap confirm \(id)"]
            lines.append(
                confirmation.confirmedAt.map { language.line(.confirmed, "\($0)") }
                    ?? language.line(.toConfirm, language.text(.toConfirmText, asked)))
        }
        if let settlement { lines += settlement.lines(in: language) }
        if let loyalty { lines += loyalty.lines(in: language) }
        let next = (result?.next ?? error?.next ?? []).map { language.text(.next($0)) }
        if !next.isEmpty { lines.append(language.line(.next, next.joined(separator: ", "))) }
        lines.append(language.line(.transaction, "\(id)"))
        if mode == .test { lines.append("  " + language.text(.noMoneyMoves)) }
        return lines.joined(separator: "\n")
    }

    func headline(in language: Language) -> String {
        if type == .loyalty { return headlineOfPasses(in: language) }
        if state == .reversed || state == .reversing, history.contains(where: { $0.state == .approved }) {
            return language.text(.reversed)
        }
        switch result?.outcome {
        case .approved, .partiallyApproved:
            let word = language.text(result?.outcome == .approved ? .approved : .partiallyApproved)
            switch held {
            case .sum where result?.outcome == .approved: return language.text(.held)
            case .sum: return "\(word): \(language.text(.held))"
            case .nothingLeft: return language.text(.receipt(.statusReleased))
            case .not: return word
            }
        case .declined: return language.text(.declined)
        case .stored: return language.text(.stored)
        case .unknown: return language.text(.unknown)
        case nil: return state == .completed ? language.text(.passReadOnly) : language.text(.state(state))
        }
    }

    /// What an approval holds of its sum, of which nothing was captured.
    enum Held {
        case not, sum, nothingLeft
    }

    /// An approval holds alone what a capture has yet to take: no shop has that money.
    var held: Held {
        guard state == .approved, details?.isOnlyHeld == true || account?.capture == .manual else { return .not }
        guard let account else { return .sum }
        guard account.captured == 0, account.pendingCapture == 0 else { return .not }
        return account.state == .open ? .sum : .nothingLeft
    }

    var exitCode: ExitCode {
        switch state {
        case .approved: result?.outcome == .partiallyApproved ? .partiallyApproved : .success
        case .stored, .delivered: .success
        // Of a payment that ended with a pass, nothing was charged.
        case .completed: type == .loyalty ? .success : .notCompleted
        case .declined, .reversed, .reversing: .declined
        case .unknown: .unknownOutcome
        case .created, .preparing, .armed, .reading, .sealed, .sent: .unknownOutcome
        case .cancelled, .failed: .notCompleted
        }
    }
}

extension Transaction {
    /// Prints what came of it, and ends the program with its exit code.
    ///
    /// - Throws: the exit code, other than 0.
    func conclude(asJSON json: Bool, in language: Language = .spoken) throws {
        if json {
            try StandardOutput.print(json: self)
        } else {
            StandardOutput.print(summary(in: language))
        }
        guard exitCode == .success else { throw exitCode }
    }
}

extension ErrorDetail {
    /// What happened and what to do about it, in the reader's language if this version knows the code.
    func lines(in language: Language) -> [String] {
        let texts = ErrorCode(rawValue: code)?.texts(in: language) ?? (message: message, resolution: resolution)
        return [
            language.line(.error, "\(texts.message) (\(code))"),
            language.line(.remedy, CommandWords.replaced(in: texts.resolution)),
        ]
    }
}

extension Settlement {
    fileprivate func lines(in language: Language) -> [String] {
        let word = language.text(outcome == .charged ? .charged : .notCharged)
        let told = [TextKey.Placeholder.code: "\(word), uid \(uid)", .date: "\(at)", .note: note]
        var lines = [language.line(.settled, language.text(.settledText, told))]
        if let time = contradictedAt {
            let indent = String(repeating: " ", count: 17)
            lines.append(indent + language.text(.contradictedText, [.date: "\(time)"]))
        }
        return lines
    }
}

extension ErrorDetail {
    /// The same without a word about payments.
    func neutralLines(in language: Language) -> [String] {
        let error = neutral(in: language)
        return [
            language.line(.error, "\(error.message) (\(error.code))"),
            language.line(.remedy, CommandWords.replaced(in: error.resolution)),
        ]
    }
}
