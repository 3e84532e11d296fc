// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import Linux
import LocalHTTP
import Logging
import TestSupport
import Testing

@testable import PSPSandbox

struct StartTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "nfc-tap-\(UUID().uuidString.prefix(8))")

    private func start(keyFile: String?, at socket: String? = nil) -> SandboxStartError? {
        do throws(SandboxStartError) {
            _ = try SandboxServer(
                path: socket ?? folder.appending(path: "psp.sock").path(), keyFile: keyFile, timing: SandboxTiming(),
                profile: nil, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            return nil
        } catch {
            return error
        }
    }

    @Test func `a key file is used, or refused for what is wrong with it`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "key.jwk")
        #expect(start(keyFile: file.path()) == .keyFile(file.path(), SystemError(code: ENOENT)))
        try Data("{}".utf8).write(to: file)
        #expect(start(keyFile: file.path()) == .key(file.path(), .missingMember("kty")))
        try Data(repeating: 0x20, count: 70_000).write(to: file)
        #expect(start(keyFile: file.path()) == .keyFile(file.path(), SystemError(code: EFBIG)))
        try Data(TestRecipient.privateJWK.description.utf8).write(to: file)
        #expect(start(keyFile: file.path()) == nil)
        #expect(start(keyFile: nil) == nil)
        #expect(start(keyFile: nil, at: file.path()) == .listen(.notASocket(file.path())))
    }

    @Test("D10: a sandbox that cannot start names the file, the cause in words, and what to do")
    func words() {
        for code in [ENOENT, EACCES, EISDIR, EFBIG, EIO, EPROTO] {
            let phrase = SandboxStartError.keyFile("/etc/key.jwk", SystemError(code: code)).description
            #expect(
                phrase.hasPrefix("key file /etc/key.jwk cannot be read: ") && phrase.contains(": check ")
                    || code != EACCES)
            #expect(phrase.firstMatch(of: /error \d/) == nil, "\(phrase)")
        }
        // SQLite's codes for a file that cannot be opened, is none of its own, is busy, is full, and one of no words.
        for code: Int32 in [14, 26, 5, 13, 99] {
            let phrase = SandboxStartError.store("/var/books.db", StoreError(code: code)).description
            #expect(phrase.hasPrefix("store /var/books.db cannot be opened: "), "\(phrase)")
            #expect(phrase.split(separator: ": ").count == 3, "\(phrase)")
        }
    }

    @Test("A6: the sandbox's unit has descriptors for all that it lets in")
    func unit() throws {
        let most = try #require(try Checkout.number("LimitNOFILE", ofUnit: "nfc-tap-psp-sandbox.service"))
        // 512 connections of which half are refused, 32 streams, the PIN device's door and the process's own.
        #expect(SandboxServer.descriptors == 802 && most >= 802)
    }
}
