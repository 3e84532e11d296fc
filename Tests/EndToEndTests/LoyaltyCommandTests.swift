// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import TestSupport
import Testing

/// `nfc-tap loyalty --reader` on the programmes of a shop's own configuration.
struct LoyaltyCommandTests {
    private func run(_ configuration: String, wallet: String = "apple-pass") throws -> Finished {
        let folder = FileManager.default.temporaryDirectory.appending(path: "c\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = folder.appending(path: "club.key")
        try Data(WalletTestKeys.clubPrivateKey).write(to: key)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
        let file = folder.appending(path: "nfc-tapd.toml")
        try Data(configuration.replacingOccurrences(of: "KEY", with: key.path).utf8).write(to: file)
        return try Program.tap.run(
            ["loyalty", "--reader", "virtual:\(wallet)", "--config", file.path, "--json", "--quiet"], in: folder)
    }

    private let programme = """
        [[loyalty.programme]]
        id = "own"
        display-name = "Our Own"
        [loyalty.programme.apple]
        pass-type = "\(WalletTestKeys.clubPassType)"
        """

    @Test func `the pass is opened with the shop's own key`() throws {
        let read = try run(programme + "\n[[loyalty.programme.apple.key]]\nfile = \"KEY\"\n")
        #expect(read.status == 0, "\(read.errors)")
        #expect(read.output.contains("Our Own") && read.output.contains("MEMBER-0001"), "\(read.output)")
    }

    @Test func `without a key it stays sealed`() throws {
        let read = try run(programme)
        #expect(read.output.contains("cryptogram") && !read.output.contains("MEMBER-0001"), "\(read.output)")
    }

    @Test func `a pass that is too old is said to be so`() throws {
        let limit = "[loyalty]\nmaximum-clock-difference = 60\n"
        let read = try run(limit + programme + "\n[[loyalty.programme.apple.key]]\nfile = \"KEY\"\n")
        #expect(read.output.contains("tooOld") || read.output.contains("clockOff"), "\(read.output)")
    }

    @Test func `what is wrong with the file is named`() throws {
        let read = try run("[[loyalty.programme]]\nid = \"own\"\n")
        #expect(read.status == 64 && read.errors.contains("loyalty.programme[0]"), "\(read.errors)")
        #expect(try run("mode = \"test\"\n").errors.contains("has no [loyalty]"))
    }
}
