// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Settings

@Suite("Reading a TOML file setting by setting")
struct ConfigurationTableTests {
    static let lines: [(setting: String, line: Int?)] = [
        ("mode", 1), ("psp.answer-timeout", 4), ("psp.socket", 3), ("lane[0].name", 6), ("lane[1].reader", 10),
        ("lane[2].name", nil), ("lane[1].speed", 8), ("loyalty.programme[0].apple.pass-type", 14),
        ("loyalty.programme[1].id", 16), ("nothing", nil), ("f.toml", nil),
    ]

    @Test("Each setting is found in its line, a missing one in that of its table", arguments: lines)
    func position(setting: String, line: Int?) {
        let text = """
            mode = "test"
            # comment = 1
            [psp]
            answer-timeout = 9
            [[lane]]
            name = "a"
            reader = "pcsc:"
            [[lane]]
              name = "b"
              reader="usb:1"
            [[loyalty.programme]]
            id = "club"
            [loyalty.programme.apple]
            pass-type = "pass.x"
            [[loyalty.programme]]
            id = "gift"
            """
        #expect(ConfigurationPosition.line(of: setting, in: text) == line)
    }

    @Test("Everything that is wrong is reported on its line, and once a setting")
    func faults() throws {
        let text = """
            [psp]
            answer-timeout = "9"
            adress = "/run/psp.sock"
            """
        var top = try ConfigurationTable(file: "f.toml", text: text, host: ConfigurationHost())
        var table = top.subtable("psp")
        #expect(table.number("answer-timeout", in: 1...120) == nil && table.number("answer-timeout", in: 1...60) == nil)
        #expect(table.absolutePath("address") == nil)
        table.finish()
        top.finish()
        #expect(top.faults.map(\.key) == ["psp.answer-timeout", "psp.adress"])
        #expect(top.faults.map(\.line) == [2, 3])
        #expect(top.faults.last?.remedy == "use one of address, answer-timeout")
    }

    @Test("A file that is no TOML, or is not there, says so")
    func unreadable() {
        let broken = #expect(throws: ConfigurationError.self) {
            try ConfigurationTable(file: "f.toml", text: "a = 1\nb = = 2\n", host: ConfigurationHost())
        }
        #expect(broken?.key == "f.toml" && broken?.line == 2)
        let missing = #expect(throws: ConfigurationError.self) { try ConfigurationHost().text(of: "/nowhere/f.toml") }
        #expect(missing?.key == "/nowhere/f.toml" && missing?.isUnreadable == true)
    }
}
