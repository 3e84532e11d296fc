import Envelope
import Foundation
import Profile
import ReaderModels
import Settings
import TestSupport
import Testing
import Wire

@testable import TapDaemon

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
        #expect(file.posSocket == "/run/nfc-tap/pos.sock" && file.posGroup == "nfc-tap")
        #expect(file.adapterSocket == "/run/nfc-tap/psp.sock" && file.stateDirectory == "/var/lib/nfc-tap")
        #expect(file.times.connect == .seconds(3) && file.times.answer == .seconds(20))
        #expect(file.terminal.id == "12345678" && file.terminal.country == 40 && file.groups[.admin] == 0)
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
    ]

    @Test("Every wrong setting is refused by its name, with a remedy", arguments: wrongSettings)
    func wrongSetting(text: String, key: String) {
        let error = refusal(text + (text.isEmpty ? "" : lane))
        #expect(error?.key == key)
        #expect(error?.remedy.isEmpty == false && error?.problem.isEmpty == false)
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

    @Test("The example in the documents is right")
    func example() throws {
        let file = try ConfigurationFile(path: Checkout.file("docs/examples/nfc-tapd.toml").path)
        #expect(file.lanes.map(\.name) == ["till-1", "till-2"])
    }

    @Test("A key file that is none is refused with the setting's name")
    func key() throws {
        let folder = try TestFolder()
        try Data("{}".utf8).write(to: URL(filePath: folder.path + "/key.jwk"))
        #expect(refusal("[psp]\nrecipient-key = \"\(folder.path)/key.jwk\"\n" + lane)?.key == "psp.recipient-key")
    }

    @Test("Live mode takes the payment service's own keys only, and real readers only")
    func live() throws {
        let folder = try TestFolder()
        let key = SigningKey().verificationKey
        try Data(key.jwk.utf8).write(to: URL(filePath: folder.path + "/psp.jwk"))
        try Data(VerificationKey.sandboxTest.jwk.utf8).write(to: URL(filePath: folder.path + "/test.jwk"))
        try Data(RecipientKey.sandboxTest.jwk.utf8).write(to: URL(filePath: folder.path + "/test-recipient.jwk"))
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
        var given = file
        given.lanes = [.init(name: "main", reader: .virtual(folder.path + "/reader.sock"))]
        #expect(throws: ConfigurationError.self) {
            try DaemonConfiguration(given, stateDirectory: folder.path, adapterSocket: folder.path + "/psp.sock")
        }
    }

    @Test("A profile in a file is read with its faults named; without [profile] none is asked for")
    func profileFile() throws {
        let folder = try TestFolder()
        let lane = "[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n"
        #expect(try ConfigurationFile(file: "nfc-tapd.toml", text: lane).profile == nil)
        let json = try PaymentService().json()
        try Data(json.utf8).write(to: URL(filePath: folder.path + "/p.json"))
        let text = "[profile]\nfile = \"\(folder.path)/p.json\"\n" + lane
        #expect(try ConfigurationFile(file: "nfc-tapd.toml", text: text).profile?.file?.merchant.id == "M-4711")
        let wrong = json.replacing("\"country\": 276", with: "\"country\": 0")
        try Data(wrong.utf8).write(to: URL(filePath: folder.path + "/p.json"))
        #expect(refusal(text)?.key == "profile.file")
        #expect(refusal(text)?.problem.contains("merchant.country") == true)
    }
}
