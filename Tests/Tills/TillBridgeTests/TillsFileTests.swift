// SPDX-License-Identifier: Apache-2.0
import Codes
import ECR
import Foundation
import PaymentValues
import Settings
import TestSupport
import Testing

@testable import TillBridge

@Suite("The configuration of the tills")
struct TillsFileTests {
    private func read(_ text: String) throws(ConfigurationError) -> TillsFile {
        try TillsFile(file: "nfc-tap-ecr.toml", text: text)
    }

    @Test("The example of the documentation is right, and has a till of each protocol")
    func example() throws {
        let path = Checkout.file("docs/examples/nfc-tap-ecr.toml").path
        // Its passwords lie where an installed system has them.
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
            .replacing(/(?m)^password = .*$/, with: "")
        let file = try read(text)
        #expect(Set(file.tills.map(\.kind)) == Set(TillProtocol.allCases))
        #expect(file.tills.allSatisfy { !$0.isTest && $0.allowed.isEmpty })
    }

    @Test("A till with nothing but what is needed reads no refund, and lets nobody in but this machine")
    func least() throws {
        let file = try read(
            """
            [[till]]
            name = "bar"
            protocol = "zvt"
            listen = "127.0.0.1:20007"
            lane = "main"
            """)
        let till = try #require(file.tills.first)
        #expect(file.socket == "/run/nfc-tap/pos.sock" && file.directory == "/var/lib/nfc-tap-ecr")
        #expect(till.currency.letters == "EUR" && till.refundLimit == nil && till.allowed.isEmpty && !till.isTest)
        #expect(till.place == "127.0.0.1:20007" && till.reversalMinutes == 15 && till.language == .english)
    }

    @Test("Addresses are compared in one way of writing them")
    func addresses() throws {
        let file = try read(
            """
            [[till]]
            name = "bar"
            protocol = "caisse-ap"
            listen = "[fd00:0:0::1]:8888"
            allow = ["fd00:0:0:0::20", "192.168.1.20"]
            lane = "main"
            """)
        #expect(file.tills.first?.allowed == ["fd00::20", "192.168.1.20"])
        #expect(file.tills.first?.place == "[fd00::1]:8888")
    }

    static let wrong: [(change: String, key: String, problem: String)] = [
        ("name = \"a b\"", "till[0].name", "is missing or not 1 to 32 letters, digits and dashes"),
        ("name = \"../x\"", "till[0].name", "is missing or not 1 to 32 letters, digits and dashes"),
        ("protocol = \"opi\"", "till[0].protocol", "is missing or unknown"),
        ("listen = \"0.0.0.0:20007\"", "till[0].listen", "is reached from other machines"),
        ("listen = \"[::]:20007\"", "till[0].listen", "is reached from other machines"),
        ("listen = \"localhost:20007\"", "till[0].listen", "is no address with a port"),
        ("listen = \"127.0.0.1\"", "till[0].listen", "is no address with a port"),
        ("listen = \"127.0.0.1:0\"", "till[0].listen", "is no address with a port"),
        ("device = \"/dev/ttyUSB0\"", "till[0].device", "stands beside listen"),
        ("protocol = \"caisse-e-plus\"", "till[0].listen", "is of no use to caisse-e-plus"),
        ("immediate = true", "till[0].immediate", "is no setting"),
        ("reservations = 1", "till[0].reservations", "is neither true nor false"),
        ("read-amount = 2500", "till[0].read-amount", "stands without reservations"),
        ("speed = 9600", "till[0].speed", "has no use with listen"),
        ("allow = [\"till.example\"]", "till[0].allow", "has till.example, which is no address"),
        ("currency = \"XAU\"", "till[0].currency", "is no currency to pay in"),
        ("lane = \"\"", "till[0].lane", "is no text"),
        ("refund-limit = 0", "till[0].refund-limit", "is not a whole number from 1 to 999999999999"),
        ("refund-limit-day = 7000", "till[0].refund-limit-day", "stands without refund-limit"),
        ("reversal-minutes = 2000", "till[0].reversal-minutes", "is not a whole number from 0 to 1440"),
        ("terminal-id = \"123456789\"", "till[0].terminal-id", "is not 1 to 8 digits"),
        ("password = \"/nowhere/at/all\"", "till[0].password", "names a file that cannot be read"),
        ("test = \"yes\"", "till[0].test", "is neither true nor false"),
        ("language = \"xx\"", "till[0].language", "has no texts"),
        ("language = \"ja\"", "till[0].language", "has letters that the protocol lacks"),
        ("origins = [\"https://shop.example\"]", "till[0].origins", "is no setting"),
    ]

    @Test("What is wrong is named with its place, its problem and a remedy", arguments: wrong)
    func named(change: String, key: String, problem: String) {
        let name = change.prefix { $0 != " " }
        let right = [
            "name = \"bar\"", "protocol = \"zvt\"", "listen = \"127.0.0.1:20007\"", "lane = \"main\"",
        ]
        let lines = right.filter { !$0.hasPrefix("\(name) ") } + [change]
        let error = #expect(throws: ConfigurationError.self) {
            try read("[[till]]\n" + lines.joined(separator: "\n"))
        }
        #expect(error?.key == key && error?.problem == problem, "\(String(describing: error))")
        #expect(error?.remedy.isEmpty == false)
    }

    @Test("Two tills have neither a name, a lane nor a line in common", arguments: ["name", "lane", "listen"])
    func shared(what: String) {
        func till(_ number: Int) -> String {
            func own(_ key: String) -> String { key == what ? "1" : "\(number)" }
            return """
                [[till]]
                name = "t\(own("name"))"
                protocol = "caisse-ap"
                listen = "127.0.0.1:888\(own("listen"))"
                lane = "l\(own("lane"))"

                """
        }
        let error = #expect(throws: ConfigurationError.self) { try read(till(1) + till(2)) }
        #expect(error?.key == "till[1].\(what)")
    }
}
