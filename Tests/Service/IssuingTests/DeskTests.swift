// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The program as a payment service uses it: keys in SoftHSM 2.6.1, and a daemon that takes what it serves.
@Suite(.serialized)
struct DeskTests {
    private static func program(_ name: String) -> URL {
        let folder =
            ProcessInfo.processInfo.environment["NFC_TAP_BIN"].map { URL(filePath: $0) }
            ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        return folder.appending(path: name)
    }

    private let folder: URL
    private let environment: [String: String]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "d\(UUID().uuidString.prefix(8))")
        let tokens = folder.appending(path: "tokens")
        try FileManager.default.createDirectory(at: tokens, withIntermediateDirectories: true)
        let configuration = folder.appending(path: "softhsm2.conf")
        try Data("directories.tokendir = \(tokens.path)\nobjectstore.backend = file\n".utf8).write(to: configuration)
        environment = ProcessInfo.processInfo.environment.merging(["SOFTHSM2_CONF": configuration.path]) { $1 }
        _ = FileManager.default.createFile(
            atPath: folder.appending(path: "pin").path, contents: Data("1234\n".utf8),
            attributes: [.posixPermissions: 0o600])
        let made = try run(
            "/usr/bin/env",
            ["softhsm2-util", "--init-token", "--free", "--label", "desk", "--pin", "1234", "--so-pin", "12345678"])
        #expect(made.status == 0)
    }

    private func start(_ program: URL, _ arguments: [String], log: String) throws -> Process {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = environment
        let file = folder.appending(path: log)
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        process.standardError = try FileHandle(forWritingTo: file)
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func run(
        _ program: String, _ arguments: [String], _ more: [String: String] = [:]
    ) throws -> Finished {
        try Peer.run(program, arguments, environment: environment.merging(more) { $1 })
    }

    private func desk(_ arguments: [String]) throws -> Finished {
        try run(Self.program("nfc-tap-profile").path, arguments)
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private var token: [String] {
        ["--pkcs11", "/usr/lib/softhsm/libsofthsm2.so", "--token", "desk", "--pin-file", path("pin")]
    }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    /// The profile of the documents, with a recipient of this desk.
    ///
    /// - Parameter receipts: the key of a profile for live cards; `nil` for test cards and the example's key.
    private func profile(recipient: String, receipts: String? = nil) throws -> String {
        let text = try Checkout.text("docs/examples/profile-marketplace.json")
        var object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        object["recipientKeys"] = ["keys": [try JSONSerialization.jsonObject(with: Data(recipient.utf8))]]
        if let receipts {
            object["receiptTokenKey"] = try JSONSerialization.jsonObject(with: Data(receipts.utf8))
            var terminal = try #require(object["terminal"] as? [String: Any])
            terminal["environment"] = "live"
            terminal["caKeys"] = [String]()
            object["terminal"] = terminal
        }
        return String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
    }

    @Test func `keys are made in the token, and a daemon takes the profile that they sign`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let signing = try desk(["key", "new"] + token + ["--label", "profiles-2026"])
        #expect(signing.status == 0, "\(signing.errors)")
        try write(signing.output, "profile.jwk")
        let recipient = try desk(["key", "new"] + token + ["--label", "shop-2026-11", "--for", "recipient"])
        #expect(recipient.status == 0 && recipient.output.contains(#""kid":"shop-2026-11""#), "\(recipient.errors)")
        #expect(try desk(["key", "new"] + token + ["--label", "profiles-2026"]).status == 1)
        for purpose in ["cardTokens", "books"] {
            #expect(try desk(["key", "new"] + token + ["--label", purpose, "--for", purpose]).status == 0)
        }

        try write(try profile(recipient: recipient.output), "draft.json")
        let signer = token + ["--label", "profiles-2026"]
        let signed = try desk(["sign", path("draft.json"), "--store", path("store")] + signer)
        #expect(signed.status == 0, "\(signed.errors)")
        try write(signed.output, "token")
        let shown = try desk(["show", path("token"), "--key", path("profile.jwk")])
        #expect(shown.status == 0 && shown.errors.contains("serial 1, test"), "\(shown.errors)")
        try write(shown.output, "signed.json")
        #expect(try desk(["check", path("signed.json")]).status == 0)
        #expect(try desk(["show", path("token"), "--key", path("draft.json")]).status == 1)

        // The recipient is looked for in the token: another one is not signed.
        let foreign = try desk(["key", "new", "--file", path("foreign.jwk")])
        #expect(foreign.status == 0)
        #expect(try desk(["key", "new", "--file", path("foreign.jwk")]).status == 1)
        try write(
            try profile(
                recipient: foreign.output.replacing(#""use":"sig""#, with: #""use":"enc""#)
                    .replacing(#""alg":"ES256""#, with: #""alg":"ECDH-ES""#)), "other.json")
        let unproven = try desk(["sign", path("other.json"), "--store", path("store")] + signer)
        #expect(unproven.status == 1 && unproven.errors.contains("--recipients-elsewhere"), "\(unproven.errors)")

        try await serve("test", "") { status in
            #expect(status.contains(#""serial" : 1"#) && !status.contains("profileError"), "\(status)")
        }
    }

    @Test func `a daemon in live mode takes a live profile and the terms that the desk has signed`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let signer = token + ["--label", "profiles-2026"]
        try write(try desk(["key", "new"] + signer).output, "profile.jwk")
        let recipient = try desk(["key", "new"] + token + ["--label", "shop-2026-11", "--for", "recipient"]).output
        let receipts = try desk(["key", "new"] + token + ["--label", "receipts-2026"]).output
        try write(try profile(recipient: recipient, receipts: receipts), "live.json")
        let published = try desk(["sign", path("live.json"), "--store", path("store")] + signer)
        #expect(published.status == 0, "\(published.errors)")
        let renewed = try desk(["renew", "--before", "35d", "--store", path("store")] + signer)
        #expect(renewed.output == "sandbox-merchant 2\n", "\(renewed.errors)")
        let accepted = try desk(
            ["terms", "sandbox-merchant", "--accepted-by", "Erika Muster, owner", "--store", path("store")] + signer)
        try write(accepted.output, "terms.jws")
        let acknowledgement =
            "We may take live cards for merchant sandbox-merchant, and our acquirer agrees to this reader."
        try await serve("live", "[live]\nacknowledgement = \"\(acknowledgement)\"\n") { status in
            #expect(status.contains(#""serial" : 2"#) && status.contains(#""signed" : true"#), "\(status)")
            let imported = try run(
                Self.program("nfc-tap").path, ["terms", "import", path("terms.jws"), "--socket", path("pos.sock")])
            #expect(imported.status == 0 && imported.output.contains("accepted"), "\(imported.errors)")
        }
    }

    /// A daemon that asks the desk for its profile, until it has one.
    private func serve(_ mode: String, _ more: String, _ look: (String) throws -> Void) async throws {
        let desk = try start(
            Self.program("nfc-tap-profile"),
            ["serve", "--socket", path("psp.sock"), "--store", path("store"), "--merchant", "sandbox-merchant"],
            log: "desk")
        defer { desk.terminate() }
        let reader = mode == "live" ? "pcsc:none such" : "virtual:\(path("reader.sock"))"
        try write(
            "mode = \"\(mode)\"\n[profile]\nkey = \"\(path("profile.jwk"))\"\n\(more)[[lane]]\nname = \"a\"\nreader = \"\(reader)\"\n",
            "nfc-tapd.toml")
        try await eventually("the desk") { FileManager.default.fileExists(atPath: path("psp.sock")) }
        let daemon = try start(
            Self.program("nfc-tapd"),
            [
                "--config", path("nfc-tapd.toml"), "--runtime-directory", folder.path, "--state-directory",
                path("state"),
            ],
            log: "daemon")
        defer { daemon.terminate() }
        let status = try await eventually("a daemon with a profile") { () -> String? in
            guard daemon.isRunning else {
                throw Hung(description: try String(contentsOf: folder.appending(path: "daemon"), encoding: .utf8))
            }
            let status = try run(Self.program("nfc-tap").path, ["status", "--socket", path("pos.sock"), "--json"])
                .output
            return status.contains(#""serial""#) ? status : nil
        }
        try look(status)
        for process in [daemon, desk] {
            process.terminate()
            try await ended(process)
        }
    }

    @Test("M7: a key, a serial and its token have their names on the disk before they are given out")
    func durableNames() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = try DiskLog()
        defer { log.remove() }
        let program = Self.program("nfc-tap-profile").path
        let made = try run(program, ["key", "new", "--file", path("signing.jwk")], log.environment)
        #expect(made.status == 0, "\(made.errors)")
        let recipient = try desk(["key", "new"] + token + ["--label", "shop-2026-11", "--for", "recipient"])
        try write(try profile(recipient: recipient.output), "draft.json")
        let signed = try run(
            program,
            [
                "sign", path("draft.json"), "--store", path("store"), "--file", path("signing.jwk"),
                "--recipients-elsewhere",
            ], log.environment)
        #expect(signed.status == 0, "\(signed.errors)")
        let store = path("store") + "/sandbox-merchant"
        #expect(try log.lines().contains("rename \(store)/1.jws.new \(store)/1.jws"))
        #expect(try log.uncertainNames(resting: ["signing.jwk", "/1.json"]) == [])
    }

    @Test func `a PIN that others may read, or that is wrong, signs nothing`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path("pin"))
        let open = try desk(["key", "new"] + token + ["--label", "x"])
        #expect(open.status == 1 && open.errors.contains("0600"))
        try FileManager.default.removeItem(atPath: path("pin"))
        _ = FileManager.default.createFile(
            atPath: path("pin"), contents: Data("9999".utf8), attributes: [.posixPermissions: 0o400])
        let wrong = try desk(["key", "new"] + token + ["--label", "x"])
        #expect(wrong.status == 1 && wrong.errors.contains("refuses the PIN"))
        #expect(try desk(["key", "new", "--label", "x"]).status == 64)
    }
}

/// Waits until a program has ended, on whatever thread: `waitUntilExit` comes back on the one alone that started it.
private func ended(_ process: Process) async throws {
    try await eventually("the end of a program") { !process.isRunning }
}
