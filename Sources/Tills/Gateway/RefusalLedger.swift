// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues

/// Refusals that the daemon has not been told yet, counted, so that a flood of them is few lines in its audit chain.
struct RefusalLedger: Sendable {
    private struct Kind: Hashable {
        var code: ErrorCode
        var till: TillName?
    }

    private var counts: [Kind: Int] = [:]
    private static let kinds = 16

    var isEmpty: Bool { counts.isEmpty }

    /// - Parameter till: one that exists: no word of a stranger's is kept.
    mutating func note(_ code: ErrorCode, till: String?, count: Int = 1) {
        var kind = Kind(code: code, till: till.flatMap(TillName.init))
        if counts[kind] == nil, counts.count >= Self.kinds { kind.till = nil }
        guard counts[kind] != nil || counts.count < Self.kinds * 2 else { return }
        let (sum, overflow) = counts[kind, default: 0].addingReportingOverflow(count)
        counts[kind] = overflow ? .max : sum
    }

    /// Everything so far, for one report.
    mutating func take() -> RefusalReport {
        defer { counts = [:] }
        return RefusalReport(
            refusals: counts.map { RefusalReport.Entry(code: $0.key.code, till: $0.key.till, count: $0.value) }
                .sorted { ($0.code.rawValue, $0.till?.text ?? "") < ($1.code.rawValue, $1.till?.text ?? "") })
    }

    /// It was not told.
    mutating func putBack(_ report: RefusalReport) {
        for entry in report.refusals { note(entry.code, till: entry.till?.text, count: entry.count) }
    }

    /// Whether a refusal is one of those that somebody should hear of: somebody was where they may not be.
    static func isOfNote(_ code: ErrorCode) -> Bool {
        switch code {
        case .hostRefused, .originRefused, .tokenUnknown, .authRoleMissing, .authAdminRequired, .laneNotYours,
            .pairingUnknown, .pairingUsed, .sessionNotOwner:
            true
        default: false
        }
    }
}
