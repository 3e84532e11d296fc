// SPDX-License-Identifier: Apache-2.0
import EMV
import EMVCrypto
import Foundation
import Settings
import Testing

@testable import Configuration

@Suite("The deny list in the configuration file")
struct DenyListConfigurationTests {
    /// `printf P4761739001010010 | openssl dgst -sha256 -mac hmac -macopt hexkey:2a…2a`, the key being 32 times 2A.
    private static let listed = "eab490719bfab1fa44e7b4b15b35a299407188939131c9a21c7ac20cb2425b1c"

    private struct Files {
        let folder: TestFolder

        init(entries: String, key: [UInt8] = [UInt8](repeating: 0x2A, count: 32), mode: Int = 0o600) throws {
            folder = try TestFolder()
            try Data(entries.utf8).write(to: URL(filePath: "\(folder.path)/entries"))
            try Data(key).write(to: URL(filePath: "\(folder.path)/key"))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder.path)/key")
        }

        func read(_ text: String? = nil) throws(ConfigurationError) -> ConfigurationFile {
            let lane = "[[lane]]\nname = \"till-1\"\nreader = \"pcsc:ACR122U\"\n"
            let table = text ?? "[deny-list]\nentries = \"\(folder.path)/entries\"\nfile = \"\(folder.path)/key\"\n"
            return try ConfigurationFile(file: "nfc-tapd.toml", text: lane + table)
        }

        func refusal(_ text: String? = nil) -> ConfigurationError? {
            do throws(ConfigurationError) {
                _ = try read(text)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test("Without the table nobody is denied; with it, whoever has an entry, whatever else stands in the file")
    func read() throws {
        let files = try Files(entries: "# gate 3\n\n  \(Self.listed.uppercased())  \r\n\(Self.listed)\n")
        #expect(try files.read("").terminal.denied == nil)
        let list = try #require(try files.read().terminal.denied)
        #expect(list.count == 1)
        // The card's number (5A) of the listed account, and of another.
        #expect(list.exceptionFile.contains("4761739001010010".utf8.map { $0 - 0x30 }, nil))
        #expect(!list.exceptionFile.contains("4761739001010028".utf8.map { $0 - 0x30 }, nil))
        #expect(try Files(entries: "").read().terminal.denied?.count == 0)
    }

    @Test(
        "A line that is no entry is named, so that no account passes because of a slip",
        arguments: ["12", "zz", "listed"])
    func wrongLine(text: String) throws {
        let refusal = try Files(entries: "# one\n\(text == "listed" ? Self.listed + "0" : text)\n").refusal()
        #expect(refusal?.key == "deny-list.entries")
        #expect(refusal?.problem.contains("line 2") == true, "\(String(describing: refusal))")
    }

    @Test("A key that is short, open to everybody or missing is refused, and so is a list without a place")
    func wrongKey() throws {
        #expect(
            try Files(entries: "", key: [UInt8](repeating: 1, count: 31)).refusal()?.problem.contains("too short")
                == true)
        #expect(try Files(entries: "", mode: 0o604).refusal()?.remedy == "run chmod o= on it")
        let files = try Files(entries: "")
        #expect(files.refusal("[deny-list]\nentries = \"\(files.folder.path)/entries\"\n")?.key == "deny-list.file")
        #expect(
            files.refusal("[deny-list]\nentries = \"/nowhere/at/all\"\nfile = \"/a\"\n")?.key == "deny-list.entries")
        #expect(files.refusal("[deny-list]\nfile = \"/a\"\n")?.key == "deny-list.entries")
    }
}
