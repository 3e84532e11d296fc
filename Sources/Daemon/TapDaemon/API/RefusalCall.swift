// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import Linux
import LocalHTTP
import POSAPI
import PaymentValues
import Synchronization

/// What a gateway has refused stands in the audit chain, counted: strangers never get as far as the daemon.
extension PointOfSaleAPI {
    func takeRefusals(_ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        guard let group = settings.snapshot.access.gateway?.group, request.peer.isMember(ofGroup: group) else {
            throw ErrorBody(.authRoleMissing)
        }
        let report = try request.message(RefusalReport.self)
        guard refusalPaces.reports.take(at: MachineClock.awake) != nil else { throw ErrorBody(.rateExceeded) }
        let parts = report.refusals.map { "\($0.code.rawValue) \($0.count)" + ($0.till.map { " till \($0)" } ?? "") }
        let detail = "by \(caller.principal): \(parts.joined(separator: ", "))"
        await trail.note(AuditEntry(.refusal, detail: detail))
        return HTTPResponse(status: 204)
    }

    /// The daemon writes this one down itself: the time is there for a gateway that was taken over, which would not report it.
    func noteLateReversal(of id: TransactionID, _ caller: Caller) async {
        guard let unwritten = refusalPaces.lateReversals.take(at: MachineClock.awake) else { return }
        let more = unwritten == 0 ? "" : ", and \(unwritten) before it"
        let detail = "by \(caller.principal): \(ErrorCode.reversalTooLate.rawValue)\(more)"
        await trail.note(AuditEntry(.refusal, subject: id.text, detail: detail))
    }
}

/// Each has a pace of its own, so that a flood of one hides none of the other.
struct RefusalPaces: Sendable {
    let reports = RefusalPace()
    let lateReversals = RefusalPace()
}

/// Ten may be written down at once, and one a minute after that: whoever floods the gateway does not fill the disk.
final class RefusalPace: Sendable {
    private static let burst: UInt64 = 10
    private static let pause: UInt64 = 60 * 1_000_000_000

    private struct Pace {
        /// When as many as at first may come at once, in nanoseconds.
        var until: UInt64 = 0
        var unwritten = 0
    }

    private let pace = Mutex(Pace())

    /// - Parameter now: of a clock that nobody sets.
    /// - Returns: how many came since the last that was taken; `nil` where this one comes too soon as well.
    func take(at now: UInt64) -> Int? {
        pace.withLock { pace in
            let next = max(pace.until, now) &+ Self.pause
            guard next &- now <= Self.burst * Self.pause else {
                pace.unwritten &+= 1
                return nil
            }
            defer { pace.unwritten = 0 }
            pace.until = next
            return pace.unwritten
        }
    }
}
