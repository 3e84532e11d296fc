// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Settings
import Testing

@testable import Configuration

@Suite("The shop and its support in the configuration file")
struct MerchantConfigurationTests {
    private static let lane = "[[lane]]\nname = \"till-1\"\nreader = \"pcsc:ACR122U\"\n"

    private func file(_ text: String) throws(ConfigurationError) -> ConfigurationFile {
        try ConfigurationFile(file: "nfc-tapd.toml", text: text + Self.lane)
    }

    @Test("Requirements 43 and 44: the shop's name, and the name of the business that it collects for, are configured")
    func whole() throws {
        let file = try file(
            """
            [merchant]
            display-name = "Example Tickets"
            statement-descriptor = "EXAMPLE TICKETS BERLIN"
            address = "Main Street 1, 10115 Berlin"
            on-behalf-of = "Example Theatre"
            [support]
            url = "https://example.com/support"
            text = "+49 30 5550000"

            """)
        let merchant = try #require(file.merchant)
        #expect(merchant.payee == "Example Theatre (via Example Tickets)")
        #expect(merchant.address == ["Main Street 1", "10115 Berlin"])
        #expect(merchant.statementDescriptor == "EXAMPLE TICKETS BERLIN")
        #expect(file.support == SupportContact(url: "https://example.com/support", text: "+49 30 5550000"))
    }

    @Test("Without a name the shop has none, and support is not known")
    func none() throws {
        let file = try file("")
        #expect(file.merchant == nil && file.support == SupportContact())
    }

    @Test(
        "A wrong setting is named",
        arguments: [
            ("[merchant]\naddress = \"Main Street 1\"\n", "merchant.display-name"),
            ("[merchant]\ndisplay-name = \"\(String(repeating: "a", count: 41))\"\n", "merchant.display-name"),
            (
                "[merchant]\ndisplay-name = \"a\"\nstatement-descriptor = \"\(String(repeating: "A", count: 23))\"\n",
                "merchant.statement-descriptor"
            ),
            ("[merchant]\ndisplay-name = \"a\\nb\"\n", "merchant.display-name"),
            ("[merchant]\nname = \"a\"\n", "merchant.name"),
            ("[support]\nurl = \"http://example.com\"\n", "support.url"),
        ])
    func wrong(text: String, key: String) {
        do throws(ConfigurationError) {
            _ = try file(text)
            Issue.record("taken")
        } catch {
            #expect(error.key == key)
        }
    }
}
