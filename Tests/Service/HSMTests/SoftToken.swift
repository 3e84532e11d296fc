// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import HSM
import Synchronization
import TestSupport
import Testing

/// A SoftHSM2 with tokens of its own in a folder that nobody else has. SoftHSM knows one configuration for each process, and looks for
/// tokens when it begins: the tests share the folder, and each takes one of the tokens that were made before.
struct SoftToken: Sendable {
    static let module = "/usr/lib/softhsm/libsofthsm2.so"
    /// OpenSC's module that writes down each call and hands it on.
    static let spy = "/usr/lib/x86_64-linux-gnu/pkcs11/pkcs11-spy.so"
    static let pin = "1234"

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    private static let folder: Result<URL, any Error> = Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nfc-tap-token-\(getpid())")
        let tokens = folder.appending(path: "tokens")
        try FileManager.default.createDirectory(at: tokens, withIntermediateDirectories: true)
        let configuration = folder.appending(path: "softhsm2.conf")
        try Data("directories.tokendir = \(tokens.path)\nobjectstore.backend = file\nlog.level = ERROR\n".utf8)
            .write(to: configuration)
        unsafe setenv("SOFTHSM2_CONF", configuration.path, 1)
        unsafe setenv("PKCS11SPY", module, 1)
        unsafe setenv("PKCS11SPY_OUTPUT", folder.appending(path: "calls").path, 1)
        for number in 0..<most {
            try run([
                "softhsm2-util", "--init-token", "--free", "--label", name(number), "--pin", pin, "--so-pin",
                "12345678",
            ])
        }
        return folder
    }
    private static let most = 40
    private static let taken = Mutex(0)

    /// As long as all others: pkcs11-tool takes the first token whose label begins with what it is told.
    private static func name(_ number: Int) -> String { "token-\(100 + number)" }

    let label: String

    /// A token that nobody has used yet.
    init() throws {
        _ = try Self.folder.get()
        let number = Self.taken.withLock { taken in
            taken += 1
            return taken - 1
        }
        guard number < Self.most else { throw Failed(description: "more tests than tokens") }
        label = Self.name(number)
    }

    static var tokens: URL { get throws { try folder.get().appending(path: "tokens") } }
    static func file(_ name: String) throws -> URL { try folder.get().appending(path: name) }

    /// Calls that came through the spy, by their names.
    static func calls() throws -> [String] {
        let text = try String(contentsOf: file("calls"), encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            guard let name = line.split(separator: " ").last, name.hasPrefix("C_") else { return nil }
            return String(name)
        }
    }

    func settings(_ change: (inout TokenSettings) -> Void = { _ in }) -> TokenSettings {
        var settings = TokenSettings(module: Self.module, token: label, pin: SecretBytes(Array(Self.pin.utf8)))
        settings.limit = .seconds(60)
        change(&settings)
        return settings
    }

    /// pkcs11-tool on this token.
    @discardableResult
    func tool(_ arguments: [String]) throws -> Data {
        try Self.run(
            ["pkcs11-tool", "--module", Self.module, "--token-label", label, "--login", "--pin", Self.pin] + arguments)
    }

    func makeKey(_ label: String, type: String = "EC:prime256v1", id: String = "01", usage: String = "--usage-derive")
        throws
    {
        try tool(["--keypairgen", "--key-type", type, "--label", label, "--id", id, usage, "--sensitive"])
    }

    @discardableResult
    static func run(_ words: [String], input: Data = Data()) throws -> Data {
        let run = try Peer.run("/usr/bin/env", words, input: input)
        guard run.status == 0 else { throw Failed(description: "\(words.joined(separator: " ")): \(run.errors)") }
        return run.bytes
    }

    /// A Python program of a stranger's library: joserfc and cryptography (BSD-3-Clause).
    static func python(_ program: String, _ request: [String: Any]) throws -> [String: Any] {
        let answer = try run(
            [Peer.python, "-c", program], input: JSONSerialization.data(withJSONObject: request))
        let object = try JSONSerialization.jsonObject(with: answer) as? [String: Any]
        return try #require(object)
    }
}

extension SecretBytes {
    convenience init(text: String) { self.init(Array(text.utf8)) }

    var text: String { withSpan { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) } }
}
