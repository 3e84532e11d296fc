// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import LocalHTTP
import POSAPI
import PaymentValues
import TestSupport

@testable import TapDaemon

/// A till that the test speaks for, as a gateway would.
struct GatewayTill {
    let shop: Shop
    let name: String
    /// `nil` for a request that says nothing of roles.
    var roles: String? = "cashier"

    var principal: Principal { Principal(uid: geteuid(), till: TillName(name)) }

    func request(
        _ method: HTTPMethod, _ target: String, _ body: String = "", key: String? = nil, wait: Int? = nil
    ) -> HTTPClientRequest {
        var fields: HTTPFields = ["NFC-Tap-On-Behalf-Of": name]
        if let roles { fields.set("NFC-Tap-Roles", roles) }
        if !body.isEmpty { fields.set("Content-Type", "application/json") }
        if let key { fields.set("Idempotency-Key", key) }
        if let wait { fields.set("Prefer", "wait=\(wait)") }
        return HTTPClientRequest(method, target, fields: fields, body: Array(body.utf8))
    }

    func get(_ target: String) async throws -> Answer { try await shop.send(request(.get, target)) }

    func delete(_ target: String) async throws -> Answer { try await shop.send(request(.delete, target)) }

    func post(_ target: String, _ body: String, key: String? = nil, wait: Int? = nil) async throws -> Answer {
        try await shop.send(request(.post, target, body, key: key, wait: wait))
    }

    /// A sale that goes on without its connection.
    func sell(
        _ value: Int64, order: String? = nil, key: String, more: String = "", wait: Int? = nil
    ) async throws -> Answer {
        try await post(
            "/v1/transactions", purchase(value, order: order, more: #","detached":true"# + more), key: key, wait: wait)
    }

    func list() async throws -> [TransactionID] {
        let answer = try await get("/v1/transactions?limit=100")
        return try WireJSON.decode(TransactionList.self, from: answer.body).transactions.map(\.id)
    }

    /// What is kept of the events, as this till gets them.
    func events(until name: EventName) async throws -> [Event] {
        var request = request(.get, "/v1/events")
        request.fields.set("Last-Event-ID", "0")
        var found: [Event] = []
        for try await event in try await shop.client.events(request, answerWithin: hangLimit) {
            found.append(try WireJSON.decode(Event.self, from: Array(event.data.utf8)))
            if found.last?.name == name { break }
        }
        return found
    }
}

extension Shop.Wish {
    /// Whoever has the test's own group may speak for tills, within these bounds.
    static func gateway(_ change: (inout GatewaySettings) -> Void = { _ in }) -> Shop.Wish {
        var wish = Shop.Wish()
        var settings = GatewaySettings(group: getegid())
        change(&settings)
        wish.access.gateway = settings
        return wish
    }
}
