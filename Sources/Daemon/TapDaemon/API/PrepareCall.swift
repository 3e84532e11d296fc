// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues

extension PointOfSaleAPI {
    /// Makes a lane ready, or joins whoever does. It goes on when the caller leaves.
    func prepare(_ lane: String, _ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        let seconds = try request.preferredWait()
        guard request.body.isEmpty else { throw ErrorBody(.requestUnknownField) }
        _ = try await status(of: lane, for: caller)
        try caller.require(lane: lane)
        guard let preparation = await preparer.join(lane) else {
            return .message(200, PrepareAnswer(outcome: .stillPrepared, lane: try await status(of: lane, for: caller)))
        }
        if seconds > 0 {
            await withTaskGroup { group in
                group.addTask { await preparation.finished.wait(atMost: .seconds(seconds)) }
                group.addTask { await request.connection.closed() }
                await group.next()
                group.cancelAll()
            }
        }
        if let failure = preparation.failure { throw ErrorBody(failure) }
        let status = try await status(of: lane, for: caller)
        guard preparation.finished.hasFired else {
            return .message(202, PrepareAnswer(outcome: .configuring, percent: preparation.percent, lane: status))
        }
        return .message(200, PrepareAnswer(outcome: .prepared, lane: status))
    }

    func status(of lane: String, for caller: Caller) async throws(ErrorBody) -> LaneStatus {
        guard let status = await laneStatuses(for: caller).first(where: { $0.name == lane }) else {
            throw ErrorBody(.laneUnknown)
        }
        return status
    }
}
