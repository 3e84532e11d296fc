// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import PaymentValues
import Settings
import TestSupport
import Testing

@testable import RemoteOrders

@Suite("The configuration of nfc-tap-remote, and what goes over its line")
struct RemoteFileTests {
    private static let keys =
        #"{"keys":[{"kty":"EC","crv":"P-256","kid":"pos-2026-11","x":"VAViQUgjrPJVBt5CO7kY1o8dtHmt7xohIV8ZR2EHZ-U","y":"ZpyyywMeioXCcJEhFDspgpdjUrysX4HKMWUGaOmCGNQ"}]}"#

    private func read(_ text: String, keys: String = keys) throws -> RemoteFile {
        let folder = FileManager.default.temporaryDirectory.appending(path: "remote-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (list, token) = (folder.appending(path: "keys"), folder.appending(path: "token"))
        try Data(keys.utf8).write(to: list)
        try Data("\nsecret\n".utf8).write(to: token)
        return try RemoteFile(
            file: "nfc-tap-remote.toml",
            text: text.replacing("/etc/nfc-tap/remote-keys.jwks", with: list.path)
                .replacing("/etc/nfc-tap/remote-token", with: token.path))
    }

    private func fault(_ text: String, keys: String = keys) throws -> String? {
        do {
            _ = try read(text, keys: keys)
            return nil
        } catch let error as ConfigurationError {
            return error.key
        }
    }

    private static let backend = "[[backend]]\nname = \"shop\"\nsocket = \"/run/p.sock\"\nauthority = \"pos.example\"\n"
    private static let sender =
        "[[sender]]\nname = \"https://pos.example\"\nkeys = \"/etc/nfc-tap/remote-keys.jwks\"\nlanes = [\"kiosk\"]\nlimits = { EUR = 5000 }\n"

    @Test("The example of the documentation is right, and a sender is a till of its own")
    func example() throws {
        let file = try read(try Checkout.text("docs/examples/nfc-tap-remote.toml"))
        let backend = try #require(file.backends.first)
        #expect(backend.token == "secret" && backend.path == "/nfc-tap/" && backend.wait == 25)
        let sender = try #require(backend.senders.first)
        #expect(sender.till == "remote-shop" && sender.limits == ["EUR": 5_000] && sender.types == ["purchase"])
        #expect(sender.telling == .outcome && sender.keys.map(\.keyID) == ["pos-2026-11"])
    }

    @Test("Whatever is wrong with the file is named")
    func faults() throws {
        let good = Self.backend + Self.sender
        #expect(try fault(good) == nil)
        #expect(try fault(Self.sender) == "backend")
        #expect(try fault(Self.backend) == "sender")
        for (old, new, key) in [
            ("\"shop\"", "\"Shop\"", "backend[0].name"), ("\"/run/p.sock\"", "\"p.sock\"", "backend[0].socket"),
            ("\"pos.example\"", "\"pos example\"", "backend[0].authority"),
            ("[\"kiosk\"]", "[]", "sender[0].lanes"), ("{ EUR = 5000 }", "{}", "sender[0].limits"),
            ("{ EUR = 5000 }", "{ EUR = 0 }", "sender[0].limits.EUR"),
            ("{ EUR = 5000 }", "{ XXQ = 5 }", "sender[0].limits.XXQ"),
            ("lanes =", "types = [\"charge\"]\nlanes =", "sender[0].types"),
            ("lanes =", "tell = \"all\"\nlanes =", "sender[0].tell"),
            ("lanes =", "limit-day = { CHF = 5 }\nlanes =", "sender[0].limit-day"),
            ("lanes =", "colour = 1\nlanes =", "sender[0].colour"),
            ("lanes =", "backend = \"other\"\nlanes =", "sender[0].backend"),
        ] { #expect(try fault(good.replacing(old, with: new)) == key, "\(new)") }
        // The same id of two senders would be one payment at the daemon.
        let second = Self.sender.replacing("pos.example", with: "kiosk.example")
        #expect(try fault(good + second) == "sender[1].till")
        #expect(try fault(good + second.replacing("lanes =", with: "till = \"kiosks\"\nlanes =")) == nil)
        #expect(
            try fault(good + Self.sender.replacing("lanes =", with: "till = \"kiosks\"\nlanes =")) == "sender[1].name")
        for keys in ["", "{}", "{\"keys\":[]}", Self.keys.replacing("\"kid\":\"pos-2026-11\",", with: "")] {
            #expect(try fault(good, keys: keys) == "sender[0].keys")
        }
    }

    @Test("A backend's clock agrees as long as its date may lie between the poll and its answer")
    func dates() {
        #expect(HTTPDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
        for text in ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC", ""]
        {
            #expect(HTTPDate.seconds(text) == nil)
        }
        let sent = Timestamp(milliseconds: 784_111_777_000)
        let arrived = sent.advanced(bySeconds: 25)
        for (date, agrees) in [
            ("Sun, 06 Nov 1994 08:49:07 GMT", true), ("Sun, 06 Nov 1994 08:49:06 GMT", false),
            ("Sun, 06 Nov 1994 08:50:32 GMT", true), ("Sun, 06 Nov 1994 08:50:33 GMT", false), ("today", true),
        ] { #expect(BackendLine.agrees(date, sent, arrived) == agrees, "\(date)") }
        #expect(BackendLine.agrees(nil, sent, arrived))
    }

    @Test("B11: only a backend that says so, or says nothing else, means a copied disk by 409")
    func conflicts() {
        for body in ["", "{}", #"{"err":"another_boot"}"#, "<html>"] {
            #expect(BackendLine.conflict(Array(body.utf8)) == .twin)
        }
        #expect(
            BackendLine.conflict(Array(#"{"err":"queue \u0007locked","description":"later"}"#.utf8))
                == .trouble("status 409: queuelocked"))
    }

    @Test("B20: no orders are no orders, also as PHP writes them")
    func emptyAnswers() {
        for body in [#"{"sets":{}}"#, #"{"sets":[]}"#, #"{"sets":null}"#, "{}"] {
            #expect(BackendLine.sets(Array(body.utf8)) == [:], "\(body)")
        }
        #expect(BackendLine.sets(Array(#"{"sets":{"A-1":"eyJ"}}"#.utf8)) == ["A-1": "eyJ"])
        for body in [#"{"sets":["eyJ"]}"#, #"{"sets":"eyJ"}"#, #"{"sets":{"A-1":7}}"#, "[]", "<html>"] {
            #expect(BackendLine.sets(Array(body.utf8)) == nil, "\(body)")
        }
    }

    @Test("A result says its order, its number and what it is about, and nothing twice")
    func results() throws {
        let key = OrderKey(sender: "https://pos.example", id: "A\"1")
        var saying = OrderSaying(key: key, seq: 2, of: "B", snapshot: Snapshot(id: "t", state: .approved), outcome: nil)
        func sent() throws -> [String: Any] {
            let bytes = OrderResult.body(saying, installation: "here", now: Timestamp(milliseconds: 0))
            return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        }
        #expect(try sent()["jti"] as? String == "A\"1" && sent()["seq"] as? Int == 2 && sent()["of"] as? String == "B")
        #expect(saying.idempotencyKey == "A\"1/2")
        saying.snapshot = nil
        saying.outcome = .refused("reader.busy", isRetryable: true)
        let error = try #require(try sent()["error"] as? [String: Any])
        #expect(error["code"] as? String == "reader.busy" && error["retryable"] as? Bool == true)
        saying.outcome = .neverBegan
        #expect(try sent()["outcome"] as? String == "cancelled" && sent()["neverBegan"] as? Bool == true)
    }

    @Test("Each refusal of an order stands in the page for backends")
    func page() throws {
        let page = try Checkout.text("docs/integrating/remote.md")
        for refusal in OrderRefusal.allCases {
            #expect(page.contains("`\(refusal.rawValue)`"), "\(refusal.rawValue)")
            #expect(!refusal.words.isEmpty)
        }
    }

    @Test("What the status says is told for Prometheus, too, and what is not known has no value")
    func metrics() throws {
        var shop = BackendStatus()
        (shop.name, shop.lastAnswer, shop.untold) = ("shop", Timestamp(milliseconds: 1_500), 2)
        (shop.untoldSince, shop.refused) = (7, ["order.lane": 3])
        var silent = BackendStatus()
        silent.name = "other"
        let text = try #require(Remote.metrics(ofStatus: try WireJSON.encode([shop, silent])))
        let values = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            values == [
                #"nfc_tap_remote_backend_up{backend="shop"} 1"#, #"nfc_tap_remote_backend_up{backend="other"} 0"#,
                #"nfc_tap_remote_answer_timestamp_seconds{backend="shop"} 1.5"#,
                #"nfc_tap_remote_untold{backend="shop"} 2"#, #"nfc_tap_remote_untold{backend="other"} 0"#,
                #"nfc_tap_remote_untold_timestamp_seconds{backend="shop"} 7"#,
                #"nfc_tap_remote_orders_refused_total{backend="shop",code="order.lane"} 3"#,
            ])
        #expect(Remote.metrics(ofStatus: []) == nil)
    }

}
