// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import TestSupport
import Testing

@testable import Configuration

/// docs/examples/nfc-tapd.toml explains every setting: the package installs it, and nfc-tapd.conf(5) is made from it.
@Suite("The example configuration")
struct ExampleConfigurationTests {
    /// Each table with what it cannot do without. Those of private keys read files before they look for more settings.
    static let tables: [(heading: String, text: String)] = [
        ("", ""), ("[pos]", ""), ("[psp]", ""), ("[profile]", ""), ("[live]", ""), ("[journal]", ""),
        ("[day]", ""), ("[terminal]", ""), ("[merchant]", ""), ("[deny-list]", "entries = \"/\"\n"),
        ("[support]", ""), ("[groups]", ""), ("[gateway]", ""), ("[credentials]", ""), ("[refunds]", ""),
        ("[diagnostics]", ""),
        ("[loyalty]", ""),
        ("[offline]", ""),
        ("[[offline.currency]]", "code = \"EUR\"\namount = 1\ntotal = 1\n"),
        ("[[former-service]]", "service-name = \"a\"\n"),
        ("[[loyalty.programme]]", "id = \"a\"\n"),
        ("[loyalty.programme.apple]", "pass-type = \"pass.a\"\n"),
        ("[loyalty.programme.google]", "collector = 1\n"),
        ("[loyalty.programme.tag]", ""), ("[loyalty.programme.uid]", ""),
        ("[lane.standing]", "mode = \"sale\"\namount = 1\ncurrency = \"EUR\"\ntest = true\n"),
        ("[remote]", "group = \"0\"\nlanes = [\"a\"]\nlimits = { EUR = 1 }\n"),
        ("[[lane]]", "name = \"b\"\nreader = \"pcsc:\"\n"),
    ]
    private static let lane = "[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n"

    private static func example() throws -> [String] {
        let text = try Checkout.text("docs/examples/nfc-tapd.toml")
        // What is commented out is explained all the same.
        return text.split(separator: "\n").map { $0.hasPrefix("# ") ? String($0.dropFirst(2)) : String($0) }
    }

    /// The settings that the daemon names when it meets one it does not know.
    private static func settings(of heading: String, _ text: String) throws -> [String] {
        // A programme's tables need the programme before them.
        let parent = heading.hasPrefix("[loyalty.programme.") ? "[[loyalty.programme]]\nid = \"a\"\n" : ""
        let table = "\(parent)\(heading)\n\(text)no-such-setting = 1\n"
        let whole = heading.isEmpty ? table + lane : lane + table
        do throws(ConfigurationError) {
            _ = try ConfigurationFile(file: "nfc-tapd.toml", text: whole)
            Issue.record("a setting that does not exist was taken in \(heading)")
        } catch {
            #expect(error.key.hasSuffix("no-such-setting"), "\(heading): \(error.key) \(error.problem)")
            let list = error.remedy.split(separator: "use one of ").last ?? ""
            return list.split(separator: ", ").map(String.init)
        }
        return []
    }

    @Test("The example explains every setting that the daemon knows", arguments: tables)
    func complete(heading: String, text: String) throws {
        let lines = try Self.example()
        let from = heading.isEmpty ? 0 : try #require(lines.firstIndex(of: heading), "no \(heading)") + 1
        let end = lines[from...].firstIndex { $0.hasPrefix("[") } ?? lines.endIndex
        let known = try Self.settings(of: heading, text)
        #expect(!known.isEmpty)
        let inner = heading.drop { $0 == "[" }.prefix { $0 != "]" }
        for key in known {
            let name = inner.isEmpty ? key : "\(inner).\(key)"
            let isSet = lines[from..<end].contains { $0.hasPrefix("\(key) = ") }
            let isNamed = lines[from..<end].contains { $0.contains("# or ") && $0.contains(key) }
            let isTable = lines.contains("[\(name)]") || lines.contains("[[\(name)]]")
            #expect(isSet || isTable || isNamed, "\(name) is not explained")
        }
    }

    @Test("No table of the example is left out of this test")
    func allTables() throws {
        let headings = Set(try Self.example().filter { $0.hasPrefix("[") && $0.hasSuffix("]") })
        let tested = Set(Self.tables.map(\.heading))
        // The settings of lane groups are names that the shop makes up, and so are PIN devices, each of which names a key; those
        // of amounts are currencies.
        let unsettled: Set = ["[lane-groups]", "[pin-devices]", "[pin-devices.pad-1]", "[refunds.cashier-maximum]"]
        #expect(headings.subtracting(tested).subtracting(unsettled).filter { !$0.hasSuffix(".key]]") } == [])
    }
}
