// SPDX-License-Identifier: Apache-2.0
import Foundation
import Help
import LocalHTTP
import POSAPI
import PaymentValues
import TestSupport
import Testing

@testable import TapDaemon

@Suite("Whom an answer is for", .timeLimit(.minutes(5)))
struct AudienceTests {
    private func get(_ shop: Shop, _ target: String, _ language: String) async throws -> Answer {
        let request = HTTPClientRequest(.get, target, fields: ["Accept-Language": language])
        return try await shop.send(request)
    }

    @Test("Requirement 29: an error comes in the client's language, with whom to ask and what they will ask for")
    func errors() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let german = try await get(shop, "/v1/lanes/nowhere", "de-DE,en;q=0.3").error()
            #expect(german.message == ErrorCode.laneUnknown.texts(in: .german).message)
            let english = try await get(shop, "/v1/lanes/nowhere", "fr").error()
            #expect(english.message == ErrorCode.laneUnknown.texts(in: .english).message)
            let installation = try shop.journal("SELECT support FROM installation")
            for error in [german, english] {
                #expect(error.support?.installation == installation && error.support?.url == "https://example.com/help")
            }
            let missing = TransactionID()
            let unknown = try await get(shop, "/v1/transactions/\(missing)", "de").error()
            #expect(unknown.support != nil)
        }
    }

    @Test("An error that is part of a transaction is translated too, and the journal keeps none of the language")
    func transactions() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let id = try await shop.post(purchase(1_250, more: #","deadline":1"#), wait: 10).transaction().id
            let failed = try await shop.reach([.failed], id)
            let german = try await get(shop, "/v1/transactions/\(id)", "de").transaction()
            #expect(german.error?.message == ErrorCode.readTimedOut.texts(in: .german).message)
            #expect(german.error?.support?.transaction == id)
            #expect(failed.error?.support == nil)
            #expect(
                try shop.journal("SELECT error FROM payment").contains(
                    ErrorCode.readTimedOut.texts(in: .english).message))
        }
    }

    @Test("Requirement 7: help topics are found over the socket in the client's language")
    func help() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let list = try await get(shop, "/v1/help", "de")
            #expect(list.status == 200 && list.fields.only("Content-Language") == "de")
            #expect(try WireJSON.decode(HelpTopicList.self, from: list.body) == HelpTopicList(in: .german))
            for topic in HelpTopic.allCases {
                let page = try await get(shop, "/v1/help/\(topic.rawValue)", "en")
                #expect(try WireJSON.decode(HelpPage.self, from: page.body).topic == topic)
            }
            let unknown = try await get(shop, "/v1/help/cooking", "en")
            #expect(unknown.status == 404)
            #expect(try unknown.error().code == ErrorCode.helpTopicUnknown.rawValue)
        }
    }

    @Test("The daemon serves the description of its API, byte for byte as in the documents")
    func contract() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let answer = try await shop.get("/v1/openapi.yaml")
            #expect(answer.status == 200 && answer.fields.only("Content-Type") == "application/yaml")
            #expect(answer.body == Array(try Data(contentsOf: Checkout.file("docs/openapi.yaml"))))
        }
    }
}
