// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import Linux
import LocalHTTP
import Synchronization
import Wire

/// What a gateway has refused stands in the audit chain, counted: strangers never get as far as the daemon.
extension PointOfSaleAPI {
    func takeRefusals(_ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        try request.only(.post, parameters: [])
        let group = settings.snapshot.access.gateway?.group
        guard !caller.isTill, let group, request.peer.isMember(ofGroup: group) else {
            throw ErrorBody(.authRoleMissing)
        }
        let report = try request.message(RefusalReport.self)
        guard refusalPace.take(at: MachineClock.awake) else { throw ErrorBody(.rateExceeded) }
        let parts = report.refusals.map { "\($0.code.rawValue) \($0.count)" + ($0.till.map { " till \($0)" } ?? "") }
        let detail = "by \(caller.principal): \(parts.joined(separator: ", "))"
        await trail.note(AuditEntry(.refusal, detail: detail))
        return HTTPResponse(status: 204)
    }
}

/// Ten reports may come at once, and one a minute after that: whoever floods the gateway does not fill the disk.
final class RefusalPace: Sendable {
    private static let burst: UInt64 = 10
    private static let pause: UInt64 = 60 * 1_000_000_000

    /// When as many as at first may come at once, in nanoseconds.
    private let until = Mutex<UInt64>(0)

    /// - Parameter now: of a clock that nobody sets.
    func take(at now: UInt64) -> Bool {
        until.withLock { until in
            let next = max(until, now) &+ Self.pause
            guard next &- now <= Self.burst * Self.pause else { return false }
            until = next
            return true
        }
    }
}
