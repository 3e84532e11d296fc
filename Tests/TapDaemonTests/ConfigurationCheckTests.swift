import Foundation
import Settings
import Testing

@testable import TapDaemon

@Suite("Checking a configuration file")
struct ConfigurationCheckTests {
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

    private func check(_ text: String) throws -> ConfigurationCheck {
        let folder = try TestFolder()
        try Data(text.utf8).write(to: URL(filePath: folder.path + "/f.toml"))
        return ConfigurationCheck(file: folder.path + "/f.toml", credentials: nil)
    }

    @Test("A wrong setting is named with its line, what is wrong and what to do, for people and programs")
    func wrong() throws {
        let found = try check("[psp]\n\nanswer-timeout = \"30\"\n[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n")
        let error = try #require(found.error)
        #expect(error.key == "psp.answer-timeout" && error.line == 3)
        #expect(found.summary.contains("/f.toml:3: psp.answer-timeout: ") && found.summary.contains(error.remedy))
        let json = try JSONSerialization.jsonObject(with: Data(found.json.utf8)) as? [String: Any]
        #expect(json?["valid"] as? Bool == false)
        let problem = (json?["problems"] as? [[String: Any]])?.first
        #expect(problem?["key"] as? String == "psp.answer-timeout" && problem?["line"] as? Int == 3)
        #expect(problem?["remedy"] as? String == error.remedy)
    }

    @Test("What is no TOML is told with its line")
    func noTOML() throws {
        #expect(try check("mode = \"test\"\n= 1\n").error?.line == 2)
    }

    @Test("A right file says what it sets up")
    func right() throws {
        let found = try check("[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n")
        #expect(found.error == nil && found.summary.hasSuffix("right, test mode, 1 lane"))
        #expect(found.json.contains(#""valid":true"#) && found.json.contains(#""lanes":1"#))
    }

    @Test("Groups of lanes name lanes that exist, each once")
    func groups() throws {
        let lanes = "[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n[[lane]]\nname = \"b\"\nreader = \"pcsc:\"\n"
        #expect(try check(lanes + "[lane-groups]\nbar = [\"a\", \"b\"]\n").error == nil)
        for wrong in ["[\"a\", \"far\"]", "[]", "[\"a\", \"a\"]", "\"a\"", "[1]"] {
            #expect(try check(lanes + "[lane-groups]\nbar = \(wrong)\n").error?.key == "lane-groups.bar")
        }
        #expect(try check(lanes + "[terminal]\nmax-tap-retries = 0\n").error?.key == "terminal.max-tap-retries")
    }
}
