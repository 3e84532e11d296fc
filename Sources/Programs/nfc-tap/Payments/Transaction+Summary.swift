// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Wire

extension Transaction {
    /// Outcome first, then the card with its last digits before the brand, then the amount and what the PSP says.
    var summary: String {
        if type == .loyalty { return passSummary }
        var lines = ["\(headline)  \(card?.description ?? "no card")  \(result?.amountApproved ?? amount)"]
        if let code = result?.approvalCode { lines.append("  approval code  \(code)") }
        if let code = result?.responseCode { lines.append("  response code  \(code)") }
        if let reason = result?.reason { lines.append("  reason         \(reason.rawValue)") }
        if let unsupported = error?.unsupportedKernel { lines.append("  not supported  \(unsupported)") }
        if let error {
            lines.append("  error          \(error.message) (\(error.code))\n  remedy         \(error.resolution)")
        }
        for case let name? in (alternatives ?? []).map(\.request.to) {
            lines.append("  other terminal nfc-tap handover \(name) --retry-of \(id)")
        }
        if let repeats = result?.repeats {
            lines.append("  the same as    \(repeats), minutes ago: same card, same amount")
        }
        if let confirmation, state == .approved {
            lines.append(
                confirmation.confirmedAt.map { "  confirmed      \($0)" }
                    ?? "  to confirm     before \(confirmation.due), or it is taken back: nfc-tap confirm \(id)")
        }
        if let settlement {
            lines.append(
                "  settled        as \(settlement.outcome.rawValue) by uid \(settlement.uid), \(settlement.at): "
                    + settlement.note)
            if let time = settlement.contradictedAt {
                lines.append("                 the payment service said the contrary, \(time)")
            }
        }
        if let loyalty { lines += loyalty.lines }
        let next = (result?.next ?? error?.next ?? []).map(\.rawValue)
        if !next.isEmpty { lines.append("  possible next  \(next.joined(separator: ", "))") }
        lines.append("  transaction    \(id)")
        if mode == .test { lines.append("  TEST MODE: no money moves") }
        return lines.joined(separator: "\n")
    }

    private var headline: String {
        switch result?.outcome {
        case .approved: "APPROVED"
        case .partiallyApproved: "PARTIALLY APPROVED"
        case .declined: "DECLINED"
        case .stored: "STORED, to be sent later"
        case .unknown: "UNKNOWN"
        case nil: state == .completed ? "PASS READ, NOTHING CHARGED" : state.rawValue.uppercased()
        }
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
    func conclude(asJSON json: Bool) throws {
        if json {
            try StandardOutput.print(json: self)
        } else {
            StandardOutput.print(summary)
        }
        guard exitCode == .success else { throw exitCode }
    }
}
