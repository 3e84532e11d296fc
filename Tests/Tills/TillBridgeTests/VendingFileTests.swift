// SPDX-License-Identifier: Apache-2.0
import Codes
import ECR
import MDB
import Settings
import Testing

@testable import TillBridge

/// What the table of a vending machine says.
struct VendingFileTests {
    private static let table = """
        [[till]]
        name = "drinks"
        protocol = "mdb"
        device = "/dev/ttyAMA0"
        lane = "main"
        """

    static func till(_ more: String = "") throws(ConfigurationError) -> TillsFile.Till? {
        try TillsFile(file: "nfc-tap-ecr.toml", text: table + "\n" + more).tills.first
    }

    @Test("What nothing is written for has the values of a machine in euros; yen have no hundredths")
    func least() throws {
        let till = try #require(try Self.till())
        let vending = try #require(till.vending)
        #expect(till.kind == .mdb && till.place == "/dev/ttyAMA0 at 9600 baud" && !vending.isEscaped)
        #expect(vending.settings.address == 0x10 && vending.settings.level == 3)
        #expect(vending.settings.responseSeconds == 30 && vending.settings.vendSeconds == 60)
        #expect(vending.settings.prices.amount(of: 150) == 150)
        let other = try #require(
            try Self.till(
                """
                currency = "JPY"
                address = 2
                level = 3
                scale = 10
                response-seconds = 90
                vend-seconds = 120
                escaped = true
                speed = 115200
                """)?.vending)
        #expect(other.isEscaped && other.settings.address == 0x60 && other.settings.prices.amount(of: 15) == 150)
        #expect(other.settings.responseSeconds == 90 && other.settings.vendSeconds == 120)
        #expect(try Self.till("decimals = 1")?.vending?.settings.prices.amount(of: 15) == 150)
    }

    private static let wrong: [(change: String, key: String, problem: String)] = [
        ("listen = \"127.0.0.1:20007\"", "till[0].listen", "is of no use to mdb"),
        ("address = 3", "till[0].address", "is not a whole number from 1 to 2"),
        ("level = 2", "till[0].level", "has no purchase without a card first"),
        ("level = 4", "till[0].level", "is not a whole number from 1 to 3"),
        ("scale = 0", "till[0].scale", "is not a whole number from 1 to 255"),
        ("decimals = 10", "till[0].decimals", "is not a whole number from 0 to 9"),
        ("response-seconds = 5", "till[0].response-seconds", "is not a whole number from 10 to 240"),
        ("vend-seconds = 301", "till[0].vend-seconds", "is not a whole number from 5 to 300"),
        ("escaped = 1", "till[0].escaped", "is neither true nor false"),
        ("speed = 115200", "till[0].speed", "is not that of MDB"),
        ("refund-limit = 100", "till[0].refund-limit", "has no use with mdb"),
        ("funds = 500", "till[0].funds", "is no setting"),
        ("reservations = true", "till[0].reservations", "is no setting"),
    ]

    @Test("What is wrong is named with its place, its problem and a remedy", arguments: wrong)
    func named(change: String, key: String, problem: String) {
        let error = #expect(throws: ConfigurationError.self) { try Self.till(change) }
        #expect(error?.key == key && error?.problem == problem, "\(String(describing: error))")
        #expect(error?.remedy.isEmpty == false)
    }

    @Test("A vending machine needs a device, and a till of another protocol has no words of one")
    func others() {
        let none = Self.table.replacing("device = \"/dev/ttyAMA0\"\n", with: "")
        let missing = #expect(throws: ConfigurationError.self) { try TillsFile(file: "f.toml", text: none) }
        #expect(missing?.key == "till[0].device" && missing?.problem == "is missing")
        for word in ["escaped = true", "vend-seconds = 60", "level = 3"] {
            let text = Self.table.replacing("mdb", with: "zvt") + "\n" + word
            let error = #expect(throws: ConfigurationError.self) { try TillsFile(file: "f.toml", text: text) }
            #expect(error?.problem == "is no setting", "\(word)")
        }
    }
}
