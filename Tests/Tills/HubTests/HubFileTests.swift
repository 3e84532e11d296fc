// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import TestSupport
import Testing

@testable import Hub

@Suite("The configuration of the hub")
struct HubFileTests {
    private static let key = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"

    private func read(_ text: String, secret: String = key) throws -> HubFile {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hub-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "secret")
        try Data("\n\(secret)\n".utf8).write(to: file)
        return try HubFile(
            file: "nfc-tap-hub.toml", text: text.replacing(#/"\/etc\/nfc-tap\/[a-z.-]*"/#, with: "\"\(file.path)\""))
    }

    private func fault(_ text: String, secret: String = key) throws -> String? {
        do {
            _ = try read(text, secret: secret)
            return nil
        } catch let error as ConfigurationError {
            return error.key
        }
    }

    @Test("The hub's example of the documentation is right, and has each kind of output")
    func example() throws {
        let file = try read(try Checkout.text("docs/examples/nfc-tap-hub.toml"))
        var kinds: Set<String> = []
        for output in file.outputs {
            switch output.receiver {
            case .mqtt(_, let settings):
                kinds.insert("mqtt")
                #expect(output.life > 0 && settings.discovery != nil && !output.rule.takesRepeating)
            case .webhook(_, let keys):
                kinds.insert("webhook")
                #expect(output.life == 0 && !keys.isEmpty)
            case .keyboard: kinds.insert("keyboard")
            }
        }
        #expect(kinds == ["mqtt", "webhook"])
    }

    private static let mqtt =
        "[[output]]\nname = \"a\"\nkind = \"mqtt\"\nlanes = [\"door\"]\nbroker = \"127.0.0.1:1883\"\n"
    private static let hook =
        "[[output]]\nname = \"a\"\nkind = \"webhook\"\nlanes = [\"door\"]\nurl = \"http://127.0.0.1:8080/x\"\nkey = \"/etc/nfc-tap/k\"\n"

    @Test("An output with nothing but what is needed keeps a door's taps for ten seconds, and a webhook's for ever")
    func least() throws {
        let house = try #require(try read(Self.mqtt).outputs.first)
        guard case .mqtt(let broker, let settings) = house.receiver else {
            Issue.record("no MQTT")
            return
        }
        #expect("\(broker)" == "127.0.0.1:1883" && settings.client == "nfc-tap-hub-a" && house.life == 10)
        #expect(settings.tapTopic == "nfc-tap/door/tag" && settings.stateTopic == "nfc-tap/door/state")
        #expect(settings.discovery == nil && house.rule == HubRule())
        let hook = try #require(try read(Self.hook).outputs.first)
        #expect(hook.life == 0)
    }

    @Test("Whatever is wrong is named")
    func faults() throws {
        #expect(try fault("") == "output")
        #expect(try fault(Self.mqtt + "topic = \"x\"\n") == "output[0].topic")
        #expect(try fault("colour = 1\n" + Self.mqtt) == "colour")
        func wrong(_ old: String, _ new: String, in text: String = Self.mqtt) throws -> String? {
            try fault(text.replacing(old, with: new))
        }
        #expect(try wrong("127.0.0.1:1883", "192.168.1.4:1883") == "output[0].broker")
        #expect(try wrong("127.0.0.1:1883", "broker.local:1883") == "output[0].broker")
        #expect(try wrong("[\"door\"]", "[\"door\", \"gate\"]") == "output[0].lanes")
        #expect(try wrong("[\"door\"]", "[\"a/b\"]") == "output[0].lanes")
        #expect(try wrong("[\"door\"]", "[]") == "output[0].lanes")
        #expect(try wrong("\"mqtt\"", "\"amqp\"") == "output[0].kind")
        #expect(try wrong("\"a\"", "\"a b\"") == "output[0].name")
        for (line, key) in [
            ("prefix = \"a/#\"", "prefix"), ("discovery = \"+\"", "discovery"), ("ttl-seconds = -1", "ttl-seconds"),
            ("kinds = [\"card\"]", "kinds"), ("programmes = [\"a b\"]", "programmes"), ("repeating = 1", "repeating"),
            ("password = \"/etc/nfc-tap/p\"", "password"), ("client = \"a b\"", "client"),
            ("url = \"http://x\"", "url"),
        ] { #expect(try fault(Self.mqtt + line + "\n") == "output[0].\(key)", "\(line)") }
        for url in [
            "https://house.example/x", "http://house.example/x", "http://192.168.1.4/x", "ftp://127.0.0.1/x", "/x", "",
        ] {
            #expect(try wrong("http://127.0.0.1:8080/x", url, in: Self.hook) == "output[0].url", "\(url)")
        }
        #expect(try fault(Self.hook, secret: "whsec_AAAA") == "output[0].key")
        #expect(try fault(Self.hook.replacing("key = \"/etc/nfc-tap/k\"\n", with: "")) == "output[0].key")
        #expect(try fault(Self.mqtt + Self.mqtt) == "output[1].name")
        let twice = Self.mqtt.replacing("name = \"a\"", with: "name = \"b\"\nclient = \"nfc-tap-hub-a\"")
        #expect(try fault(Self.mqtt + twice) == "output[1].client")
    }

    private static let keyboard = "[[output]]\nname = \"k\"\nkind = \"keyboard\"\nlanes = [\"door\"]\n"

    @Test("A keyboard types nothing but the tap where nothing else is written, and stands alone in its file")
    func keyboard() throws {
        func settings(_ more: String) throws -> KeyboardSettings? {
            let output = try #require(try read(Self.keyboard + more).outputs.first)
            guard case .keyboard(let settings) = output.receiver else { return nil }
            #expect(output.life == 10 && !output.rule.takesRepeating)
            return settings
        }
        #expect(try settings("") == KeyboardSettings())
        let named = try #require(try settings("layout = \"de\"\nenter = true\nprefix = \"nt-\"\n"))
        #expect(named.layout == .de && named.endsWithEnter && named.prefix == "nt-")
        for (line, key) in [
            ("layout = \"fr\"", "layout"), ("prefix = \"ä\"", "prefix"), ("prefix = \"a\\n\"", "prefix"),
            ("enter = 1", "enter"), ("broker = \"127.0.0.1:1883\"", "broker"),
        ] { #expect(try fault(Self.keyboard + line + "\n") == "output[0].\(key)", "\(line)") }
        #expect(try fault(Self.keyboard + Self.mqtt) == "output[1].kind")
        #expect(try fault(Self.hook + Self.keyboard) == "output[1].kind")
    }

    /// RabbitMQ 3.10.8 and nats-server 2.9.10 of Debian 12, as findings/ shows them.
    @Test("H7: what RabbitMQ changes, or NATS hangs up at, is named with its line and what to write, and is no fault")
    func notes() throws {
        func note(_ old: String, _ new: String) throws -> ConfigurationError? {
            try read(Self.mqtt.replacing(old, with: new)).notes.first
        }
        let lane = try #require(try note("[\"door\"]", "[\"door.1\"]"))
        #expect(lane.key == "output[0].lanes" && lane.line == 4 && lane.remedy.contains("letters, digits"))
        #expect(try note("[\"door\"]", "[\"do*r\"]")?.key == "output[0].lanes")
        for (line, key) in [
            ("prefix = \"shop.example\"", "prefix"), ("prefix = \"my shop\"", "prefix"),
            ("discovery = \"home.assistant\"", "discovery"),
        ] {
            let found = try read(Self.mqtt + line + "\n").notes
            #expect(found.map(\.key) == ["output[0].\(key)"] && found.first?.line == 6, "\(line)")
        }
        for plain in [Self.mqtt, Self.mqtt + "prefix = \"shop/1\"\ndiscovery = \"homeassistant\"\n", Self.hook] {
            #expect(try read(plain).notes.isEmpty, "\(plain)")
        }
    }

    @Test(
        "H7: two lanes that Home Assistant would take for one scanner are refused: the second would overwrite the first"
    )
    func scanners() throws {
        let first = Self.mqtt.replacing("[\"door\"]", with: "[\"door.1\"]") + "discovery = \"homeassistant\"\n"
        let second = first.replacing("\"a\"", with: "\"b\"")
        func pair(_ lane: String, _ more: String = "") throws -> String? {
            try fault(first + second.replacing("door.1", with: lane) + more)
        }
        #expect(try pair("door_1") == "output[1].lanes")
        #expect(try pair("door-1") == nil)
        // The same scanner twice, for two kinds of passes.
        #expect(try pair("door.1") == nil)
        #expect(try pair("door.1", "prefix = \"other\"\n") == "output[1].lanes")
        #expect(try fault(first + second.replacing("door.1", with: "door_1").replacing("1883", with: "1884")) == nil)
    }

    @Test("A web address is reached on this machine, or through a proxy's socket")
    func places() {
        let plain = WebhookPlace(url: "http://127.0.0.1/a?b", proxy: nil)
        #expect(plain?.authority == "127.0.0.1" && plain?.target == "/a?b")
        let proxied = WebhookPlace(url: "https://house.example?b", proxy: "/run/p.sock")
        #expect(
            proxied?.line == .proxy("/run/p.sock") && proxied?.authority == "house.example" && proxied?.target == "/?b")
        #expect(WebhookPlace(url: "https://user@house.example/", proxy: "/run/p.sock") == nil)
        #expect(WebhookPlace(url: "https://house.example/\r\nX: y", proxy: "/run/p.sock") == nil)
    }
}
