// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import Loyalty
import PaymentValues
import Settings
import Testing

@testable import Configuration

@Suite("Loyalty programmes in the configuration file")
struct LoyaltyConfigurationTests {
    private let lane = "[[lane]]\nname = \"till-1\"\nreader = \"pcsc:ACR122U\"\n"

    private func read(_ text: String, credentials: String? = nil) throws(ConfigurationError) -> ConfigurationFile {
        var host = ConfigurationHost()
        host.credentials = credentials
        return try ConfigurationFile(file: "nfc-tapd.toml", text: text + lane, host: host)
    }

    private func refusal(_ text: String, credentials: String? = nil) -> ConfigurationError? {
        do throws(ConfigurationError) {
            _ = try read(text, credentials: credentials)
            return nil
        } catch {
            return error
        }
    }

    private func writeKey(_ folder: TestFolder, _ name: String, mode: Int = 0o600) throws -> String {
        let path = "\(folder.path)/\(name)"
        try Data(WalletTestKeys.clubPrivateKey).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test("A whole programme is read as it is meant, keys from file and credential")
    func whole() throws {
        let folder = try TestFolder()
        let path = try writeKey(folder, "club.key")
        _ = try writeKey(folder, "collector-2", mode: 0o440)
        let file = try read(
            """
            [[loyalty.programme]]
            id = "club"
            display-name = "Example Club"
            priority = 3
            reread-delay = 30
            [loyalty.programme.apple]
            pass-type = "pass.com.example.club"
            sign-up = "https://example.com/join"
            [[loyalty.programme.apple.key]]
            file = "\(path)"
            [loyalty.programme.google]
            collector = 20260101
            [[loyalty.programme.google.key]]
            version = 2
            credential = "collector-2"
            [loyalty.programme.tag]
            uri = "https://example.com/m/"
            [loyalty.programme.uid]
            format = "decimal"
            minimum-digits = 10

            """, credentials: folder.path)
        let programme = try #require(file.loyalty?.programmes.first)
        #expect(programme.id == "club" && programme.displayName == "Example Club" && programme.priority == 3)
        #expect(programme.rereadDelayMilliseconds == 30_000)
        #expect(programme.apple?.wish == .passOrSignUp(url: "https://example.com/join"))
        #expect(programme.apple?.keys.count == 1)
        #expect(programme.google?.keys.map(\.version) == [2])
        #expect(programme.tag == .uri(prefix: "https://example.com/m/"))
        #expect(programme.uid?.format == .decimal && programme.uid?.minimumDigits == 10)
    }

    @Test("How far a pass's time may be off is read, and needs no programme")
    func clockDifference() throws {
        #expect(try read("").loyalty == nil)
        let settings = try read("[loyalty]\nmaximum-clock-difference = 300\n").loyalty
        #expect(settings?.maximumClockDifference == 300 && settings?.programmes.isEmpty == true)
    }

    private static let head = "[[loyalty.programme]]\nid = \"club\"\n"
    private static let apple = head + "[loyalty.programme.apple]\npass-type = \"pass.a\"\n"

    static let refusals: [(String, String)] = [
        ("[[loyalty.programme]]\n", "loyalty.programme[0].id"),
        (head, "loyalty.programme[0].display-name"),
        (
            head + "display-name = \"A name that is much too long\"\n[loyalty.programme.uid]\n",
            "loyalty.programme[0].display-name"
        ),
        (head + "[loyalty.programme.apple]\n", "loyalty.programme[0].apple.pass-type"),
        (apple + "sign-up = \"http://a\"\n", "loyalty.programme[0].apple.sign-up"),
        (apple + "[[loyalty.programme.apple.key]]\n", "loyalty.programme[0].apple.key[0].file"),
        (apple + "[[loyalty.programme.apple.key]]\nfile = \"/none-such\"\n", "loyalty.programme[0].apple.key[0].file"),
        (
            apple + "[[loyalty.programme.apple.key]]\ncredential = \"a\"\n",
            "loyalty.programme[0].apple.key[0].credential"
        ),
        (head + "[loyalty.programme.google]\ncollector = 5\n", "loyalty.programme[0].google.key"),
        (head + "[loyalty.programme.google]\n", "loyalty.programme[0].google.collector"),
        (head + "[loyalty.programme.tag]\n", "loyalty.programme[0].tag.uri"),
        (head + "[loyalty.programme.uid]\nformat = \"octal\"\n", "loyalty.programme[0].uid.format"),
        ("[loyalty]\nmaximum-clock-difference = 0\n", "loyalty.maximum-clock-difference"),
        ("[loyalty]\nmaximum-clock-difference = \"5\"\n", "loyalty.maximum-clock-difference"),
        (head + "colour = \"red\"\n[loyalty.programme.uid]\n", "loyalty.programme[0].colour"),
        (head + "[loyalty.programme.uid]\n" + head + "[loyalty.programme.uid]\n", "loyalty.programme[1].id"),
    ]

    @Test("What cannot be meant is named", arguments: refusals)
    func refused(text: String, key: String) { #expect(refusal(text)?.key == key) }

    @Test("A key that everybody can read is refused, and so is what is no key")
    func keys() throws {
        let folder = try TestFolder()
        let open = try writeKey(folder, "open.key", mode: 0o644)
        #expect(
            refusal(Self.apple + "[[loyalty.programme.apple.key]]\nfile = \"\(open)\"\n")?.problem
                == "names a key that everybody can read")
        let none = "\(folder.path)/none.key"
        try Data("no key".utf8).write(to: URL(filePath: none))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: none)
        let error = refusal(Self.apple + "[[loyalty.programme.apple.key]]\nfile = \"\(none)\"\n")
        #expect(error?.problem.contains("no key") == false && error?.problem.hasPrefix("is wrong") == true)
    }
}
