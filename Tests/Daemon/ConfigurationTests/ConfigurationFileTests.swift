import Envelope
import Foundation
// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues
import ReaderModels
import Settings
import StoreAndForward
import TestSupport
import Testing

@testable import Configuration

@Suite("The configuration file")
struct ConfigurationTests {
    private let lane = "[[lane]]\nname = \"till-1\"\nreader = \"pcsc:ACR122U\"\n"

    private func refusal(_ text: String) -> ConfigurationError? {
        do throws(ConfigurationError) {
            _ = try ConfigurationFile(file: "nfc-tapd.toml", text: text)
            return nil
        } catch {
            return error
        }
    }

    @Test("A whole file is read as it is meant")
    func whole() throws {
        let file = try ConfigurationFile(
            file: "nfc-tapd.toml",
            text: """
                mode = "test"
                [pos]
                socket = "/run/nfc-tap/pos.sock"
                group = "nfc-tap"
                [psp]
                socket = "/run/nfc-tap/psp.sock"
                connect-timeout = 3
                answer-timeout = 20
                [journal]
                directory = "/var/lib/nfc-tap"
                [terminal]
                id = "12345678"
                merchant = "SHOP-1"
                country = 40
                [groups]
                admin = "0"
                [[lane]]
                name = "till-1"
                reader = "pcsc:ACS ACR122U"
                [[lane]]
                name = "till-2"
                reader = "libnfc:pn532_uart:/dev/ttyUSB0"
                feedback = "off"
                """)
        #expect(file.pos.socket == "/run/nfc-tap/pos.sock" && file.pos.group == "nfc-tap")
        #expect(file.adapter.socket == "/run/nfc-tap/psp.sock" && file.journal.directory == "/var/lib/nfc-tap")
        #expect(file.adapter.times.connect == .seconds(3) && file.adapter.times.answer == .seconds(20))
        #expect(file.terminal.id == "12345678" && file.terminal.country == 40 && file.pos.roles[.admin] == 0)
        #expect(
            file.lanes == [
                .init(name: "till-1", reader: .pcsc("ACS ACR122U")),
                .init(name: "till-2", reader: .libnfc("pn532_uart:/dev/ttyUSB0"), feedback: .off),
            ])
    }

    static let wrongSettings: [(text: String, key: String)] = [
        ("", "lane"), ("= 1", "nfc-tapd.toml"), ("mode = \"real\"\n", "mode"), ("mode = \"live\"\n", "profile.key"),
        ("mode = 1\n", "mode"),
        ("colour = \"red\"\n", "colour"), ("[pos]\nsocket = \"pos.sock\"\n", "pos.socket"),
        ("[pos]\nsokcet = \"/a\"\n", "pos.sokcet"), ("pos = 1\n", "pos"),
        ("[psp]\nanswer-timeout = 0\n", "psp.answer-timeout"),
        ("[psp]\nanswer-timeout = \"30\"\n", "psp.answer-timeout"),
        ("[psp]\nanswer-timeout = 2.5\n", "psp.answer-timeout"),
        ("[psp]\nrecipient-key = \"/nowhere\"\n", "psp.recipient-key"), ("[terminal]\nid = \"1\"\n", "terminal.id"),
        ("[terminal]\ncountry = 1000\n", "terminal.country"), ("[terminal]\nfile = \"/nowhere\"\n", "terminal.file"),
        ("[groups]\ncashier = \"no-such-group\"\n", "groups.cashier"),
        ("[profile]\nkey = \"/nowhere\"\n", "profile.key"), ("[profile]\nfile = \"/nowhere\"\n", "profile.file"),
        ("[profile]\nurl = \"https://psp\"\n", "profile.url"),
        ("[live]\nacknowledgement = true\n", "live.acknowledgement"),
        ("mode = \"live\"\n[profile]\nfile = \"/a\"\n", "profile.file"),
        ("[diagnostics]\ncard-commands = \"yes\"\n", "diagnostics.card-commands"),
    ]

    @Test("Every wrong setting is refused by its name, with a remedy", arguments: wrongSettings)
    func wrongSetting(text: String, key: String) {
        let error = refusal(text + (text.isEmpty ? "" : lane))
        #expect(error?.key == key)
        #expect(error?.remedy.isEmpty == false && error?.problem.isEmpty == false)
    }

    @Test("K2: a country is one of ISO 3166-1", arguments: [49, 33, 1, 900])
    func country(number: Int) {
        // The dialling codes of Germany and France were taken; ISO 3166-1 has no such numbers.
        let error = refusal("[terminal]\ncountry = \(number)\n" + lane)
        #expect(error?.key == "terminal.country" && error?.remedy.contains("276") == true)
        #expect(refusal("[terminal]\ncountry = 250\n" + lane) == nil)
    }

    @Test("K5: a group is its name or its number, with quotes and without, wherever one is named")
    func groups() throws {
        for number in ["0", "\"0\""] {
            let file = try ConfigurationFile(
                file: "nfc-tapd.toml",
                text: """
                    [pos]
                    group = \(number)
                    [groups]
                    monitor = \(number)
                    [credentials]
                    group = \(number)
                    [gateway]
                    group = \(number)

                    """ + lane)
            #expect(file.gateway?.group == 0 && file.pos.roles[.monitor] == 0 && file.pos.chargers == 0)
            #expect(file.pos.group == "0")
        }
        for wrong in ["-1", "4294967295", "4294967296", "\"no-such-group\"", "1.5", "true"] {
            let error = refusal("[gateway]\ngroup = \(wrong)\n" + lane)
            #expect(error?.key == "gateway.group" && error?.remedy.isEmpty == false, "\(wrong)")
        }
    }

    static let wrongLanes: [(text: String, key: String)] = [
        ("[[lane]]\nreader = \"pcsc:\"\n", "lane[0].name"), ("[[lane]]\nname = \"a\"\n", "lane[0].reader"),
        ("[[lane]]\nname = \"a\"\nreader = \"usb:1\"\n", "lane[0].reader"),
        ("[[lane]]\nname = \"a\"\nreader = \"virtual:relative\"\n", "lane[0].reader"),
        ("[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n", "lane[1].name"),
        ("[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\nspeed = 9\n", "lane[0].speed"), ("lane = \"a\"\n", "lane"),
    ]

    @Test("Every wrong lane is refused by its place", arguments: wrongLanes)
    func wrongLane(text: String, key: String) { #expect(refusal(text)?.key == key) }

    @Test("Who may speak for tills, and what those may do, is read as it is meant; nobody may where nothing says who")
    func gateway() throws {
        var host = ConfigurationHost()
        host.groupNumber = { $0 == "nfc-tap-gateway" ? 61 : $0 == "web" ? 62 : nil }
        func read(_ text: String) throws(ConfigurationError) -> ConfigurationFile {
            try ConfigurationFile(file: "nfc-tapd.toml", text: lane + text, host: host)
        }
        var usual = GatewaySettings(group: 61)
        #expect(try read("").gateway == usual)
        #expect(usual.roles == [.cashier, .loyalty, .monitor] && usual.lanes == nil)
        #expect(usual.types == [.purchase, .verification, .loyalty])
        #expect(try read("").pos.places.relayed == 64)
        let text = """
            [gateway]
            group = "1234"
            roles = ["cashier"]
            lanes = ["till-1"]
            types = ["purchase", "refund"]
            connections = 128
            reversal-minutes = 5
            """
        #expect(usual.reversalMinutes == 15)
        (usual.group, usual.reversalMinutes) = (1_234, 5)
        (usual.roles, usual.lanes, usual.types) = ([.cashier], ["till-1"], [.purchase, .refund])
        let file = try read(text)
        #expect(file.gateway == usual && file.pos.places.relayed == 128)
        #expect(try read("[gateway]\ngroup = \"web\"").gateway?.group == 62)
        host.groupNumber = { _ in nil }
        #expect(try ConfigurationFile(file: "nfc-tapd.toml", text: lane, host: host).gateway == nil)
        for (setting, key) in [
            ("roles = [\"admin\"]", "gateway.roles"), ("roles = [\"root\"]", "gateway.roles"),
            ("lanes = [\"till-2\"]", "gateway.lanes"), ("types = [\"sale\"]", "gateway.types"),
            ("group = \"nobody-has-it\"", "gateway.group"), ("connections = 7", "gateway.connections"),
            ("reversal-minutes = -1", "gateway.reversal-minutes"),
            ("till = \"bar-1\"", "gateway.till"),
        ] {
            #expect(refusal(lane + "[gateway]\n" + setting)?.key == key, "\(setting)")
        }
    }

    @Test("The example in the documents is right")
    func example() throws {
        let file = try ConfigurationFile(path: Checkout.file("docs/examples/nfc-tapd.toml").path)
        #expect(file.lanes.map(\.name) == ["till-1", "till-2"])
    }

    @Test("A key file that is none is refused with the setting's name")
    func key() throws {
        let folder = try TestFolder()
        try folder.write("key.jwk", "{}")
        #expect(refusal("[psp]\nrecipient-key = \"\(folder.path)/key.jwk\"\n" + lane)?.key == "psp.recipient-key")
    }

    @Test("B2 the sandbox's keys are test keys under any name: as recipient, for profiles and for receipts")
    func renamedTestKeys() throws {
        let folder = try TestFolder()
        func write(_ name: String, _ jwk: String) throws -> String {
            try folder.write(name, jwk.replacing(/"kid":"[^"]*"/, with: #""kid":"live-2026""#))
        }
        let own = try write("own.jwk", SigningKey().verificationKey.jwk)
        let profile = try write("profile.jwk", VerificationKey.sandboxTest.jwk)
        let recipient = try write("recipient.jwk", RecipientKey.sandboxTest.jwk)
        let receipts = try write("receipts.jwk", SandboxReceipts.publicJWK)
        func live(_ key: String, _ more: String = "") -> String {
            "mode = \"live\"\n[profile]\nkey = \"\(key)\"\n\(more)\(lane)"
        }
        #expect(refusal(live(own)) == nil)
        #expect(refusal(live(profile))?.key == "profile.key")
        #expect(refusal(live(own, "[psp]\nrecipient-key = \"\(recipient)\"\n"))?.key == "psp.recipient-key")
        let former = "[[former-service]]\nservice-name = \"old\"\nreceipt-key = \"\(receipts)\"\n"
        #expect(refusal(live(own, former))?.key == "former-service[0].receipt-key")
    }

    @Test("B3 an X25519 key that agrees on zero with everybody is refused, as a preparation would")
    func smallOrder() throws {
        let folder = try TestFolder()
        let zero = String(repeating: "A", count: 43)
        let path = try folder.write("zero.jwk", #"{"kty":"OKP","crv":"X25519","kid":"a","x":"\#(zero)"}"#)
        #expect(refusal("[psp]\nrecipient-key = \"\(path)\"\n" + lane)?.key == "psp.recipient-key")
    }

    @Test(
        "Nobody sends commands to a card where nothing is written, and administrators in test mode where it is allowed")
    func cardCommands() throws {
        #expect(try !ConfigurationFile(file: "", text: lane).diagnostics.cardCommands)
        let text = "[diagnostics]\ncard-commands = true\n" + lane
        #expect(try ConfigurationFile(file: "", text: text).diagnostics.cardCommands)
    }

    @Test("Live mode takes the payment service's own keys only, and real readers only")
    func live() throws {
        let folder = try TestFolder()
        let key = SigningKey().verificationKey
        try folder.write("psp.jwk", key.jwk)
        try folder.write("test.jwk", VerificationKey.sandboxTest.jwk)
        try folder.write("test-recipient.jwk", RecipientKey.sandboxTest.jwk)
        let lane = "[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n"
        func text(_ name: String, _ more: String = "", lane: String) -> String {
            "mode = \"live\"\n[profile]\nkey = \"\(folder.path)/\(name).jwk\"\n\(more)\(lane)"
        }
        let good = text("psp", "[live]\nacknowledgement = \"We may.\"\n", lane: lane)
        let file = try ConfigurationFile(file: "nfc-tapd.toml", text: good)
        #expect(file.mode == .live && file.profile?.key == key && file.profile?.acknowledgement == "We may.")
        #expect(refusal(text("test", lane: lane))?.key == "profile.key")
        let pinned = "[psp]\nrecipient-key = \"\(folder.path)/test-recipient.jwk\"\n"
        #expect(refusal(text("psp", pinned, lane: lane))?.key == "psp.recipient-key")
        let virtual = lane.replacing("pcsc:", with: "virtual:/tmp/x")
        #expect(refusal(text("psp", lane: virtual))?.key == "lane[0].reader")
        let commands = "[diagnostics]\ncard-commands = true\n"
        #expect(refusal(text("psp", commands, lane: lane))?.key == "diagnostics.card-commands")
        #expect(try ConfigurationFile(file: "", text: text("psp", "[diagnostics]\n", lane: lane)).mode == .live)
    }
}
