// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import LocalHTTP
import Logging
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
        #expect(start(keyFile: file.path()) == .keyFile(errno: ENOENT))
        try Data("{}".utf8).write(to: file)
        #expect(start(keyFile: file.path()) == .key(.missingMember("kty")))
        try Data(repeating: 0x20, count: 70_000).write(to: file)
        #expect(start(keyFile: file.path()) == .keyFileTooLarge)
        try Data(TestRecipient.privateJWK.description.utf8).write(to: file)
        #expect(start(keyFile: file.path()) == nil)
        #expect(start(keyFile: nil) == nil)
        #expect(start(keyFile: nil, at: file.path()) == .listen(.notASocket))
        #expect(SandboxStartError.keyFile(errno: 2).description == "key file cannot be read: error 2")
    }
}
