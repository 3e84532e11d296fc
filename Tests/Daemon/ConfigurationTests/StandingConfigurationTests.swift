// SPDX-License-Identifier: Apache-2.0
import Foundation
import PaymentValues
import Settings
import TestSupport
import Testing

@testable import Configuration

@Suite("A lane that stands alone, in the configuration")
struct StandingConfigurationTests {
    private func file(_ standing: String, mode: String = "test") throws(ConfigurationError) -> ConfigurationFile {
        try ConfigurationFile(file: "nfc-tapd.toml", text: Self.text(standing, mode: mode))
    }

    private static func text(_ standing: String, mode: String) -> String {
        """
        mode = "\(mode)"
        [[lane]]
        name = "pump"
        reader = "pcsc:ACR122U"
        [lane.standing]
        \(standing)
        """
    }

    private func refusal(_ standing: String, mode: String = "test") -> ConfigurationError? {
        do throws(ConfigurationError) {
            _ = try file(standing, mode: mode)
            return nil
        } catch {
            return error
        }
    }

    private let whole = "mode = \"hold\"\namount = 2500\ncurrency = \"EUR\"\ntest = true\n"

    @Test("It is read as it is meant, and a machine may ask for no more than amount where nothing is written")
    func read() throws {
        let settings = try #require(try file(whole).lanes.first?.standing)
        let euro = try #require(Currency("EUR"))
        #expect(settings == StandingSettings(mode: .hold, amount: Money(value: 2_500, currency: euro)))
        #expect(settings.maximum == 2_500 && settings.claim == 60 && settings.release == 480)
        #expect(settings.warning == 10)
        let more = try file(
            whole + "maximum = 5000\nclaim-seconds = 30\nrelease-minutes = 10\ndebounce-seconds = 0\n"
                + "open-sessions = 4\ntaps-per-hour = 10\n")
        let named = try #require(more.lanes.first?.standing)
        #expect((named.maximum, named.claim, named.release) == (5_000, 30, 10))
        let asking = try file(whole.replacing("hold", with: "ask")).lanes.first?.standing
        #expect(asking?.mode == .ask && asking?.claim == 55)
        #expect((named.debounce, named.openSessions, named.tapsPerHour) == (0, 4, 10))
    }

    @Test("A lane that reads passes has no settings of money, and in live mode passes to ask for")
    func reading() throws {
        let settings = try #require(
            try file("mode = \"read\"\ndebounce-seconds = 1\ntaps-per-hour = 3600\n").lanes.first?.standing)
        #expect(settings.mode == .read && settings.amount == .none)
        #expect((settings.debounce, settings.tapsPerHour) == (1, 3_600))
        let folder = try TestFolder()
        func missing(_ mode: String) throws -> ConfigurationError? {
            let path = folder.path + "/nfc-tapd.toml"
            try Data(Self.text("mode = \"\(mode)\"", mode: "live").utf8).write(to: URL(filePath: path))
            let read = ConfigurationFile.read(path: path, host: ConfigurationHost(), at: 1_800_000_000)
            return read.faults.first { $0.key == "loyalty.programme" }
        }
        let error = try #require(try missing("read"))
        #expect("\(error)".contains("pump"))
        #expect(try missing("hold") == nil)
    }

    @Test(
        "What is wrong is named with its remedy",
        arguments: [
            (
                "mode = \"ask\"\namount = 1\ncurrency = \"EUR\"\ntest = true\nclaim-seconds = 56", "claim-seconds", "55"
            ),
            ("mode = \"read\"\namount = 1", "amount", "remove it"),
            ("mode = \"read\"\ntest = true", "test", "remove it"),
            ("mode = \"read\"\nopen-sessions = 2", "open-sessions", "remove it"),
            ("mode = \"red\"\namount = 1\ncurrency = \"EUR\"\ntest = true", "mode", "hold"),
            ("amount = 1\ncurrency = \"EUR\"\ntest = true", "mode", "hold"),
            ("mode = \"sale\"\namount = 1\ncurrency = \"EUR\"", "test", "real goods for test money"),
            ("mode = \"sale\"\namount = 1\ncurrency = \"XXQ\"\ntest = true", "currency", "EUR"),
            ("mode = \"sale\"\ncurrency = \"EUR\"\ntest = true", "amount", "minor units"),
            ("mode = \"sale\"\namount = 5\nmaximum = 4\ncurrency = \"EUR\"\ntest = true", "maximum", "at least 5"),
            (
                "mode = \"sale\"\namount = 5\ncurrency = \"EUR\"\ntest = true\nrelease-minutes = 5\nwarning-minutes = 5",
                "warning-minutes", "at most 4"
            ),
            (
                "mode = \"sale\"\namount = 5\ncurrency = \"EUR\"\ntest = true\ntap-out = true", "tap-out",
                "is no setting"
            ),
            (
                "mode = \"sale\"\namount = 5\ncurrency = \"EUR\"\ntest = true\nclaim-second = 1", "claim-second",
                "is no setting"
            ),
        ])
    func wrong(_ standing: String, _ key: String, _ remedy: String) throws {
        let error = try #require(refusal(standing))
        #expect(error.key.hasSuffix("standing.\(key)") && "\(error)".contains(remedy), "\(error)")
    }

    @Test("A till's gateway gives nobody the role of a machine")
    func gateway() throws {
        let text = "[[lane]]\nname = \"a\"\nreader = \"pcsc:A\"\n[gateway]\ngroup = \"0\"\nroles = [\"machine\"]\n"
        var found: ConfigurationError?
        do throws(ConfigurationError) {
            _ = try ConfigurationFile(file: "f", text: text)
        } catch {
            found = error
        }
        #expect(found?.key == "gateway.roles")
    }
}
