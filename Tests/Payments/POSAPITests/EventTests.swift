// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@testable import POSAPI

struct EventTests {
    /// `encode(to:)` is written by hand: whoever adds a member must not forget it there.
    @Test func `every member of an event is sent, and comes back as it was`() throws {
        let id = try #require(TransactionID("0190a6e2-8d4c-7b3a-9f10-2c6b5e4d3a21"))
        let texts = [
            "id": "7", "name": #""link.opened""#, "at": #""2026-01-15T12:00:00.000Z""#, "lane": #""-""#,
            "transaction": "\"\(id.text)\"", "till": #""till-1""#, "operation": "\"\(id.text)\"", "kind": #""capture""#,
            "credential": "\"\(id.text)\"", "amount": #"{"value":1250,"currency":"EUR"}"#,
            "link": #"{"url":"https://pay.example/1","expiresAt":"2026-01-15T12:30:00.000Z"}"#,
            "retryOf": "\"\(id.text)\"", "day": "3", "percent": "40", "reason": #""start""#, "step": #""reader""#,
            "by": #""client""#,
            "error": String(decoding: try WireJSON.encode(ErrorDetail(.readerBusy)), as: UTF8.self),
            "card": #"{"scheme":"Visa","last4":"0010","masked":"************0010"}"#,
            "result": #"{"mode":"test","outcome":"approved"}"#, "message": #""seePhone""#,
            "customerText": #""Please pay""#, "mode": #""test""#, "tap": "7", "refused": #""debounce""#,
            "reference": #""TOK001""#,
        ]
        for name in texts.keys {
            let required = ["id", "name", "at"].filter { $0 != name }
            let members = (required + [name]).map { "\"\($0)\":\(texts[$0] ?? "")" }.joined(separator: ",")
            let event = try WireJSON.decode(Event.self, from: Array("{\(members)}".utf8))
            let sent = String(decoding: try WireJSON.encode(event), as: UTF8.self)
            #expect(sent.contains("\"\(name)\":"), "\(sent)")
            #expect(try WireJSON.decode(Event.self, from: Array(sent.utf8)) == event, "\(name)")
        }
        let others = ["loyalty", "customerAction", "pin", "terms"]
        let known = Mirror(reflecting: Event(.linkOpened)).children.compactMap(\.label)
        #expect(Set(known) == Set(texts.keys).union(others))
    }
}
