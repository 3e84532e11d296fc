// SPDX-License-Identifier: Apache-2.0
import Testing

/// Outcomes and errors become the catalogue's words in one place. What arises below tells what it is in a type of its own.
struct TranslationTests {
    /// The parts of the daemon that answer clients in the catalogue's words by their nature.
    private static let speakers = [
        "API/", "Callers/", "Translation/", "Admission/", "Standing/", "Transactions/", "Lanes/",
        "Configuration/LoyaltyOffer.swift",
    ]

    private static func namesCode(_ line: some StringProtocol) -> Bool {
        String(line).contains(/\bError(Body|Detail)\(\.\w/) || String(line).contains(/\breturn ErrorCode\.\w/)
    }

    private static func translates(_ text: String) -> Bool {
        text.contains(/(?m)^extension Error(Code|Body|Detail)\b[^}]*?\binit\(/)
    }

    @Test func `a code is named in the API and in Translation, not in queue, profiles, adapter or records`() throws {
        let files = try SourceTree.swiftFiles(under: "Sources/Daemon/TapDaemon").filter { file in
            !Self.speakers.contains { file.path.contains("/TapDaemon/\($0)") }
        }
        #expect(files.count > 30)
        for file in files {
            for line in file.lines where Self.namesCode(line) {
                Issue.record("\(file.path): \(line): tell it in a type of its own, and translate it in Translation")
            }
        }
        #expect(Self.namesCode("throw ErrorBody(.queueEmpty)") && Self.namesCode("ErrorDetail(.liveTestKey, field: x)"))
        #expect(!Self.namesCode("throw ErrorBody(of: error)"))
    }

    @Test func `errors are turned into codes in Translation alone`() throws {
        let files = try SourceTree.swiftFiles(under: "Sources/Daemon/TapDaemon")
        let found = files.filter { Self.translates($0.lines.joined(separator: "\n")) }.map(\.path)
        #expect(found.count >= 2)
        for path in found { #expect(path.contains("/TapDaemon/Translation/"), "\(path)") }
    }
}
