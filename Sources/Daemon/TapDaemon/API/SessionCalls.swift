// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import Transactions

/// Lanes that stand alone and their sessions: for machines, and to be seen by cashiers.
extension PointOfSaleAPI {
    func answerAboutStanding(
        _ lane: String, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        try request.only(.get, .put, parameters: [])
        guard request.method == .put else {
            guard !caller.roles.isDisjoint(with: [.machine, .cashier, .monitor]), !caller.isTill else {
                throw ErrorBody(.authRoleMissing)
            }
            return .message(200, try await standing.standing(lane))
        }
        try caller.roles.require(.machine)
        let demand = try request.message(StandingRequest.self)
        guard let settings = standing.settings(of: lane) else { throw ErrorBody(.standingNotConfigured) }
        if let amount = demand.amount, amount > settings.maximum { throw ErrorBody(.amountTooLarge, field: "amount") }
        try await standing.set(lane, demand, by: caller.principal)
        return .message(200, try await standing.standing(lane))
    }

    func answerAboutSessions(
        _ path: ArraySlice<String>, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        guard !caller.isTill else { throw ErrorBody(.authRoleMissing) }
        guard let text = path.first else {
            try request.only(.get, parameters: ["open", "lane", "reference"])
            try caller.roles.require(.machine, or: .cashier)
            return .message(200, try await list(request))
        }
        guard let id = TransactionID(text) else { throw ErrorBody(.transactionUnknown) }
        guard let call = path.dropFirst().first else {
            try request.only(.get, parameters: [])
            try caller.roles.require(.machine, or: .cashier)
            return .message(200, try await standing.session(id))
        }
        guard path.count == 2, ["claim", "commit", "release", "keep", "increase"].contains(call) else {
            throw ErrorBody(.requestUnknownPath)
        }
        try request.only(.post, parameters: [])
        try caller.roles.require(.machine)
        let after = try await standing.carryOut(try wish(call, request), id, by: caller.principal)
        return .message(after.state == .settling ? 202 : 200, after)
    }

    private func wish(_ call: String, _ request: HTTPRequest) throws(ErrorBody) -> SessionRequest {
        switch call {
        case "claim": return .claim(reference: try request.message(ClaimRequest.self).reference)
        case "commit":
            let demand = try request.message(CommitRequest.self)
            return .commit(amount: demand.amount, upTo: demand.upTo)
        case "keep": return .keep(seconds: try request.message(KeepRequest.self).seconds)
        case "increase": return .increase(total: try request.message(IncreaseRequest.self).total)
        default: return .release
        }
    }

    private func list(_ request: HTTPRequest) async throws(ErrorBody) -> SessionList {
        var filter = SessionFilter()
        filter.lane = request.parameter("lane")
        filter.reference = request.parameter("reference")
        switch request.parameter("open") {
        case nil, "false": break
        case "true": filter.isOpen = true
        default: throw ErrorBody(.requestInvalidParameter, field: "open")
        }
        return SessionList(sessions: try await standing.sessions(filter).map { Session($0) })
    }
}
