// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import Transactions

/// Lanes that stand alone and their sessions: for machines, and to be seen by cashiers.
extension PointOfSaleAPI {
    func setStanding(_ lane: String, _ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> StandingLane {
        let demand = try request.message(StandingRequest.self)
        guard let settings = standing.settings(of: lane) else { throw ErrorBody(.standingNotConfigured) }
        if demand.amount != nil, settings.mode == .read { throw ErrorBody(.requestFieldNotApplicable, field: "amount") }
        if let amount = demand.amount, amount > settings.maximum { throw ErrorBody(.amountTooLarge, field: "amount") }
        try await standing.set(lane, demand, by: caller.principal)
        return try await standing.standing(lane)
    }

    /// Does what a machine asks for in the body.
    func carryOut<Demand: Decodable>(
        _ call: Route.Call, _ wish: (Demand) -> SessionRequest
    ) async throws(ErrorBody) -> HTTPResponse {
        try await carryOut(wish(try call.request.message(Demand.self)), call)
    }

    func carryOut(_ wish: SessionRequest, _ call: Route.Call) async throws(ErrorBody) -> HTTPResponse {
        let after = try await standing.carryOut(wish, try call.transaction, by: call.caller.principal)
        return .message(after.state == .settling ? 202 : 200, after)
    }

    /// Whether it is a read of passes that no client has begun, and the caller's business is passes or that lane.
    func isForMachines(_ transaction: Transaction, _ caller: Caller) async throws(ErrorBody) -> Bool {
        guard caller.kind == .program, !caller.roles.isDisjoint(with: [.machine, .loyalty]),
            transaction.type == .loyalty, standing.settings(of: transaction.lane)?.mode == .read
        else { return false }
        return try await isOwner(standing.owner, of: transaction.id)
    }

    func sessions(_ request: HTTPRequest) async throws(ErrorBody) -> SessionList {
        var filter = SessionFilter()
        filter.lane = request.parameter("lane")
        filter.reference = request.parameter("reference")
        switch request.parameter("open") {
        case nil, "false": break
        case "true": filter.isOpen = true
        default: throw ErrorBody(.requestInvalidParameter, field: "open")
        }
        return SessionList(sessions: try await standing.sessions(filter).map { standing.told($0) })
    }
}

extension Route {
    static let machines: [Route] = [
        Route(.get, "v1/lanes/{lane}/standing", for: .oneOf([.machine, .cashier, .monitor]), only: [.program]) {
            (api, call) throws(ErrorBody) in
            .message(200, try await api.standing.standing(call.name))
        },
        Route(.put, "v1/lanes/{lane}/standing", for: .machine, only: [.program]) { (api, call) throws(ErrorBody) in
            .message(200, try await api.setStanding(call.name, call.request, call.caller))
        },
        Route(.get, "v1/sessions", ["open", "lane", "reference"], for: .machineOrCashier, only: [.program]) {
            (api, call) throws(ErrorBody) in
            .message(200, try await api.sessions(call.request))
        },
        Route(.get, "v1/sessions/{id}", for: .machineOrCashier, only: [.program]) { (api, call) throws(ErrorBody) in
            .message(200, try await api.standing.session(try call.transaction))
        },
        Route(.post, "v1/sessions/{id}/claim", for: .machine, only: [.program]) { (api, call) throws(ErrorBody) in
            try await api.carryOut(call) { (demand: ClaimRequest) in .claim(reference: demand.reference) }
        },
        Route(.post, "v1/sessions/{id}/commit", for: .machine, only: [.program]) { (api, call) throws(ErrorBody) in
            try await api.carryOut(call) { (demand: CommitRequest) in
                .commit(amount: demand.amount, upTo: demand.upTo)
            }
        },
        Route(.post, "v1/sessions/{id}/release", for: .machine, only: [.program]) { (api, call) throws(ErrorBody) in
            try await api.carryOut(.release, call)
        },
        Route(.post, "v1/sessions/{id}/keep", for: .machine, only: [.program]) { (api, call) throws(ErrorBody) in
            try await api.carryOut(call) { (demand: KeepRequest) in .keep(seconds: demand.seconds) }
        },
        Route(.post, "v1/sessions/{id}/increase", for: .machine, only: [.program]) { (api, call) throws(ErrorBody) in
            try await api.carryOut(call) { (demand: IncreaseRequest) in .increase(total: demand.total) }
        },
    ]
}

extension Route.Right {
    fileprivate static let machine = Self.oneOf([.machine])
    fileprivate static let machineOrCashier = Self.oneOf([.machine, .cashier])
}
