// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("nfc-tap card-command", .timeLimit(.minutes(10)))
struct CardCommandTests {
    private static let lane = "[[lane]]\nname = \"till\"\nreader = \"virtual:FOLDER/reader.sock\"\n"

    @Test("An administrator gets a card's answers, others do not, and the card's data is in no file of the daemon")
    func commands() throws {
        let shop = try Shop(configuration: "[diagnostics]\ncard-commands = true\n" + Self.lane)
        try shop.awaitReader()
        try shop.card("present smoke")
        let answered = try shop.tap(["card-command", "E001000008A1B2C3D4E5F60718", "E0036A82"])
        #expect(answered.status == 0, "\(answered.errors)")
        #expect(
            answered.output == "> E001000008A1B2C3D4E5F60718\n< A1B2C3D4E5F607189000\n> E0036A82\n< 6A82\n")
        let left = try shop.tap(["card-command", "--lane", "till", "E0036A82", "E0050000", "E0036A83"])
        #expect(left.status == 13 && left.output == "> E0036A82\n< 6A82\n", "\(left.output)")
        #expect(left.errors.contains("after 1 of 3 commands (read.card_unreadable)"), "\(left.errors)")
        #expect(try shop.tap(["card-command", "--deadline", "1", "E0036A82"]).errors.contains("read.timed_out"))
        #expect(try shop.tap(["card-command", "E0036A8"]).status == 65)
        #expect(try shop.tap(["card-command", "--deadline", "61", "E0036A82"]).status == 64)
        if geteuid() == 0 {
            for (path, mode) in [(shop.folder.path, 0o711), (shop.posSocket, 0o666)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            }
            #expect(try shop.tap(as: 65_534, ["card-command", "--lane", "till", "E0036A82"]) == 77)
        }
        let chain = try shop.tap(["audit", "export", "--file", shop.folder.path + "/state/journal.sqlite"])
        #expect(chain.output.contains("2 to be sent: E0010000 E0036A82"), "\(chain.output)\(chain.errors)")
        for case let url as URL in try #require(
            FileManager.default.enumerator(at: shop.folder, includingPropertiesForKeys: nil))
        {
            // What the command itself was told, and what it printed, is its caller's.
            guard !url.lastPathComponent.hasPrefix("nfc-tap-"), let data = try? Data(contentsOf: url) else { continue }
            for trace in [Data("A1B2C3D4".utf8), Data("a1b2c3d4".utf8), Data([0xA1, 0xB2, 0xC3, 0xD4])] {
                #expect(data.range(of: trace) == nil, "\(url.path)")
            }
        }
    }

    @Test("Where nothing is written the command says what to write, and no daemon starts in live mode with it")
    func off() throws {
        let shop = try Shop(configuration: Self.lane)
        let refused = try shop.tap(["card-command", "E0036A82"])
        #expect(refused.status == 13 && refused.errors.contains("card_commands.not_allowed"), "\(refused.errors)")
        #expect(refused.errors.contains("card-commands = true under [diagnostics]"), "\(refused.errors)")
        let file = shop.folder.appending(path: "live.toml")
        let live = "mode = \"live\"\n[diagnostics]\ncard-commands = true\n[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n"
        try Data(live.utf8).write(to: file)
        let daemon = try Program.daemon.run(["--config", file.path], in: shop.folder)
        #expect(daemon.status != 0, "\(daemon.errors)")
        let check = try shop.tap(["config", "check", file.path])
        #expect(check.status == 65 && "\(check.output)\(check.errors)".contains("diagnostics.card-commands"))
    }
}
