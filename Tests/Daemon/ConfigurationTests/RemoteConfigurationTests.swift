// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Settings
import Testing

@testable import Configuration

struct RemoteConfigurationTests {
    private static let lane = """
        [[lane]]
        name = "main"
        reader = "virtual:/run/main.sock"
        [[lane]]
        name = "kiosk"
        reader = "virtual:/run/kiosk.sock"

        """
    fileprivate static let whole = "[remote]\nlanes = [\"kiosk\"]\nlimits = { EUR = 5000 }\n"

    private static var host: ConfigurationHost {
        var host = ConfigurationHost()
        host.groupNumber = { ["nfc-tap-gateway": 61, "nfc-tap-remote": 62, "other": 63][$0] }
        return host
    }

    private func read(_ text: String) throws -> RemoteSettings? {
        try ConfigurationFile(file: "nfc-tapd.toml", text: Self.lane + text, host: Self.host).remote
    }

    @Test("N4: a backend may do what is written, and nothing where nothing is")
    func written() throws {
        let euro = try #require(Currency("EUR"))
        #expect(try read("") == nil)
        var expected = RemoteSettings(group: 62, lanes: ["kiosk"], limits: [euro: 5_000])
        #expect(try read(Self.whole) == expected)
        #expect(expected.types == [.purchase] && !expected.isUnseen && expected.dayLimits.isEmpty)
        (expected.group, expected.isUnseen, expected.dayLimits) = (63, true, [euro: 20_000])
        expected.types = [.purchase, .loyalty]
        let more = """
            group = "other"
            types = ["purchase", "loyalty"]
            limit-day = { EUR = 20000 }
            unseen = true
            """
        #expect(try read(Self.whole + more) == expected)
    }

    @Test(
        "N4: what is missing, unknown or contradicts itself is refused by its name",
        arguments: [
            ("[remote]\nlimits = { EUR = 1 }\n", "remote.lanes"), ("[remote]\nlanes = [\"main\"]\n", "remote.limits"),
            ("[remote]\nlanes = []\nlimits = { EUR = 1 }\n", "remote.lanes"),
            ("[remote]\nlanes = [\"bar\"]\nlimits = { EUR = 1 }\n", "remote.lanes"),
            (RemoteConfigurationTests.whole + "types = [\"refund\"]\n", "remote.types"),
            (RemoteConfigurationTests.whole + "types = [\"sale\"]\n", "remote.types"),
            (RemoteConfigurationTests.whole + "types = [\"charge\", \"purchase\"]\n", "remote.types"),
            (RemoteConfigurationTests.whole + "group = \"nfc-tap-gateway\"\n", "remote.group"),
            (RemoteConfigurationTests.whole + "group = \"nobody\"\n", "remote.group"),
            (RemoteConfigurationTests.whole + "limit-day = { EUR = 4999 }\n", "remote.limit-day"),
            (RemoteConfigurationTests.whole + "limit-day = { XXY = 9999 }\n", "remote.limit-day.XXY"),
            ("[remote]\nlanes = [\"main\"]\nlimits = { EUR = 0 }\n", "remote.limits.EUR"),
            (RemoteConfigurationTests.whole + "unseen = \"yes\"\n", "remote.unseen"),
            (RemoteConfigurationTests.whole + "maximum = 1\n", "remote.maximum"),
        ])
    func wrong(text: String, key: String) {
        do throws(ConfigurationError) {
            _ = try ConfigurationFile(file: "nfc-tapd.toml", text: Self.lane + text, host: Self.host)
            Issue.record("\(text) was taken")
        } catch {
            #expect(error.key == key && !error.remedy.isEmpty, "\(text)")
        }
    }

    @Test("N4: one payment has a limit in its own currency, and a card that is only looked at has none")
    func amounts() throws {
        let (euro, yen) = (try #require(Currency("EUR")), try #require(Currency("JPY")))
        let settings = RemoteSettings(group: 1, lanes: [], limits: [euro: 5_000])
        #expect(settings.refusal(of: Money(value: 5_000, currency: euro)) == nil)
        #expect(settings.refusal(of: Money(value: 0, currency: yen)) == nil)
        let much = try #require(settings.refusal(of: Money(value: 5_001, currency: euro)))
        #expect(much.code == .remoteAmountExceeded && much.limit == Money(value: 5_000, currency: euro))
        let strange = try #require(settings.refusal(of: Money(value: 1, currency: yen)))
        #expect(strange.code == .remoteCurrencyNotAllowed && strange.limit == nil)
    }
}
