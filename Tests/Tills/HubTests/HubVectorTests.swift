// SPDX-License-Identifier: Apache-2.0
import Foundation
import PaymentValues
import TestSupport
import Testing

@testable import Hub

/// What leaves, byte by byte: recorded of mosquitto 2.0.11 with paho-mqtt 2.2.0, of standardwebhooks 1.1.0 and of Home Assistant 2024.3.3.
@Suite("H1: what the hub sends, bit for bit")
struct HubVectorTests {
    private struct Row: Decodable {
        var kind: String
        var name: String
        var lane: String?
        var prefix: String?
        var taps: String?
        var topic: String?
        var payload: String?
        var id: String?
        var tag: String?
        var secret: String?
        var timestamp: Int64?
        var signature: String?
        var body: String?
        var status: Int?
        var then: String?
        var layout: String?
        var text: String?
        var events: [[UInt16]]?
        var bytes: String?
        var answer: String?
        var value: Int?
        var leaves: Bool?
    }

    private static func rows(_ kind: String) throws -> [Row] {
        let rows = try VectorFile.rows("hub/outputs.jsonl", as: Row.self).filter { $0.kind == kind }
        try #require(!rows.isEmpty, "no \(kind)")
        return rows
    }

    private static func hex(_ text: String?) -> [UInt8] {
        let digits = Array((text ?? "").utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    @Test("H1: discovery and taps are as Home Assistant takes them")
    func homeAssistant() throws {
        for row in try Self.rows("discovery") {
            let discovery = Discovery(prefix: try #require(row.prefix), lane: try #require(row.lane))
            #expect(discovery.topic == row.topic)
            #expect(discovery.payload(taps: try #require(row.taps)) == row.payload)
        }
        for row in try Self.rows("tap") {
            let tap = HubTap(
                id: try #require(row.id), lane: "main", programme: "member", kind: .uid, member: try #require(row.tag),
                isAuthentic: false, time: .now)
            #expect(tap.message == row.payload)
        }
    }

    @Test("H2: signatures are those of Standard Webhooks, and two keys make two")
    func signatures() throws {
        for row in try Self.rows("signature") {
            let secret = try #require(row.secret)
            let key = try #require(WebhookKey(secret))
            let (id, time, body) = (
                try #require(row.id), try #require(row.timestamp), Array(try #require(row.body).utf8)
            )
            #expect(key.signature(id: id, timestamp: time, body: body) == row.signature)
            let other = try #require(WebhookKey("whsec_" + Base64.text([UInt8](repeating: 7, count: 32))))
            let both = WebhookKey.signatures([key, other], id: id, timestamp: time, body: body).split(separator: " ")
            #expect(both.count == 2 && both[0] == (row.signature ?? "") && both[1].hasPrefix("v1,"))
        }
        for wrong in [
            "", "whsec_", "whsec_AAAA", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRY",
        ] {
            #expect(WebhookKey(wrong) == nil)
        }
    }

    @Test("H2: each answer of a receiver has one meaning")
    func answers() throws {
        for row in try Self.rows("answer") {
            let word =
                switch WebhookAnswer.meaning(row.status) {
                case .done: "done"
                case .retry: "retry"
                case .refused: "dead"
                case .stop: "stop"
                case .lost: "lost"
                }
            #expect(word == row.then, "\(row.name)")
        }
        #expect(WebhookAnswer.meaning(503, retryAfter: "120") == .retry(after: 120))
        #expect(WebhookAnswer.meaning(429, retryAfter: "Fri, 27 Nov 2026 22:00:00 GMT") == .retry(after: nil))
        #expect(WebhookAnswer.meaning(nil) == .retry(after: nil))
    }

    @Test("H3: keys are typed by their places, and a text with a character that has none is not typed at all")
    func keys() throws {
        for row in try Self.rows("keys") {
            let name = try #require(row.layout)
            let layout = try #require(KeyboardLayout(rawValue: name))
            let events = layout.events(for: try #require(row.text))
            #expect(events?.map { [$0.code, $0.isDown ? 1 : 0] } == row.events, "\(row.name)")
        }
        for layout in KeyboardLayout.allCases {
            let all = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-\n"
            let events = try #require(layout.events(for: all))
            #expect(Set(events.map(\.code)).isSubset(of: Set(KeyboardLayout.codes)))
            // Nothing stays pressed.
            #expect(events.count { $0.isDown } == events.count { !$0.isDown })
            var settings = KeyboardSettings()
            (settings.layout, settings.prefix, settings.endsWithEnter) = (layout, "nt-", true)
            #expect(settings.events(for: "04A1") == layout.events(for: "nt-04A1\n"))
            // Enter is the shop's, never the tag's.
            #expect(settings.events(for: "04\nA1") == nil && settings.events(for: "a.b") == nil)
        }
    }

    @Test("H1: packets are those that a broker has taken")
    func packets() throws {
        let rows = try Self.rows("packet")
        let connect = MQTTPacket.connect(
            client: "nfc-tap-hub", will: .init(topic: "nfc-tap/main/state", payload: "offline"), user: "hub",
            password: "secret", keepAlive: 30)
        let (topic, payload) = ("nfc-tap/main/tag", "{\"id\":\"1\",\"tag\":\"04A1\"}")
        let first = MQTTPacket.publish(topic: topic, payload: payload, id: 2, isRetained: false, isRepeated: false)
        let again = MQTTPacket.publish(topic: topic, payload: payload, id: 2, isRetained: false, isRepeated: true)
        #expect(rows.map { Self.hex($0.bytes) } == [connect, first, again, MQTTPacket.disconnect])
        let answers: [[MQTTPacket.Incoming]] = try rows.map { row in
            var bytes = Self.hex(row.answer)
            var found: [MQTTPacket.Incoming] = []
            while let next = try MQTTPacket.next(&bytes) { found.append(next) }
            return found
        }
        #expect(answers == [[.connected(code: 0)], [.acknowledged(2)], [.acknowledged(2)], []])
        for row in try Self.rows("length") {
            #expect(MQTTPacket.length(try #require(row.value)) == Self.hex(row.bytes), "\(row.name)")
        }
    }

    @Test("H4: digits that may be a card's number do not leave")
    func digits() throws {
        for row in try Self.rows("digits") {
            #expect(HubRule.holdsCardNumber(try #require(row.text)) != row.leaves, "\(row.name)")
        }
        // Numbers that schemes publish for tests, as people type them.
        for text in [
            "5555555555554444", "card 3782-822463-10005 please", "12 4111 1111 1111 1111", "41111111111111112512",
            "https://x.example/?c=4111111111111111&y", "٤١١١١١١١١١١١١١١١", "4111.1111.1111.1111",
            "4111  1111  1111  1111",
        ] {
            #expect(HubRule.holdsCardNumber(text), "\(text)")
        }
        for text in [
            "0042-7731", "MEMBER-0001", "04A1B2C3D4E580", "4111", "", "2026-11-28 12:00:00", "tel:+49 30 1234567",
        ] {
            #expect(!HubRule.holdsCardNumber(text), "\(text)")
        }
    }
}
