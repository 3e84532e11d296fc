// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PaymentValues
import TestSupport
import Testing

@testable import rig_tills

/// docs/service/payment-service.md: the certificate's name says whose till it is, whatever the request says.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct TillFieldTests {
    private func status(_ rig: SwitchRig, _ name: String?, value: Int64 = 900) async throws -> Int {
        let till = TestTill(rig.sockets[0])
        let request = try await till.sale(value)
        var fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": request.id.text]
        fields.set("User-Agent", "nfc-tapd/9.8.7")
        if let name { fields.set("X-Till", name) }
        return try await till.client.send(
            HTTPClientRequest(.post, "/v1/authorizations", fields: fields, body: try WireJSON.encode(request)),
            answerWithin: .seconds(20)
        ).status
    }

    @Test func `a till pays for its own merchant alone, until it is blocked`() async throws {
        try await SwitchRig.run(replicas: 1, sources: ["--till-field", "X-Till"]) { rig in
            try rig.server.sql(
                """
                insert into merchant (id, acceptor) values ('other', 'M-2');
                insert into till (name, merchant) values ('till-1', 'adapter-check'), ('till-2', 'other')
                """)
            #expect(try await status(rig, "till-1") == 200)
            #expect(try await status(rig, "till-2") == 403)
            #expect(try await status(rig, "till-3") == 403)
            #expect(try await status(rig, nil) == 403)
            try await eventually("a note of the till") {
                try rig.server.sql("select version from till where seen is not null and name = 'till-1'")
                    == "nfc-tapd/9.8.7\n"
            }
            try rig.server.sql("update till set blocked = true where name = 'till-1'")
            try await eventually("a refusal of the blocked till") {
                try await Task.sleep(for: .milliseconds(300))
                return try await status(rig, "till-1") == 403
            }
        }
    }

    @Test func `a till that floods is told to wait, and its neighbour is not`() async throws {
        let sources = ["--till-field", "X-Till", "--till-requests", "2"]
        try await SwitchRig.run(replicas: 1, sources: sources) { rig in
            try rig.server.sql(
                "insert into till (name, merchant) values ('till-1', 'adapter-check'), ('till-2', 'adapter-check')")
            let client = HTTPClient(path: rig.sockets[0])
            func ask(_ name: String) async throws -> Int {
                try await client.send(
                    HTTPClientRequest(.get, "/v1/authorizations/\(TransactionID())", fields: ["X-Till": name]),
                    answerWithin: .seconds(20)
                ).status
            }
            var told: [Int] = []
            for _ in 0..<200 { told.append(try await ask("till-1")) }
            #expect(told.prefix(6).allSatisfy { $0 == 404 })
            #expect(told.contains(429) && Set(told) == [404, 429])
            #expect(try await ask("till-2") == 404)
            try await eventually("a request that is served again") { try await ask("till-1") == 404 }
            let metrics = try await TestTill(rig.sockets[0]).text(rig.desks[0], "/metrics")
            #expect(!metrics.contains("outcome=\"throttled\"} 0\n"))
        }
    }
}
