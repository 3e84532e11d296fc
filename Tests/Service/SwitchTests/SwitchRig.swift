// SPDX-License-Identifier: Apache-2.0
import AdapterCheck
import Foundation
import Linux
import LocalHTTP
import PSPAPI
import PaymentValues
import TestSupport
import Testing

/// Replicas of `nfc-tap-switch` on one PostgreSQL, haproxy before them, and an acquirer in another language behind them. A replica that
/// is killed is started again at once.
actor SwitchRig {
    nonisolated let folder: URL
    nonisolated let server: PrivatePostgreSQL
    private let replicas: Int
    private let hasSimulator: Bool
    /// How the switch knows a till.
    private let sources: [String]
    private var running: [StartedProgram] = []

    private init(replicas: Int, hasSimulator: Bool, sources: [String]) throws {
        (self.replicas, self.hasSimulator, self.sources) = (replicas, hasSimulator, sources)
        folder = FileManager.default.temporaryDirectory.appending(path: "switch-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        server = try PrivatePostgreSQL()
    }

    /// Runs `body` against all of it, and ends it.
    ///
    /// - Parameter faults: of the acquirer, see `acquirer.py`.
    static func run(
        replicas: Int, faults: [String] = [], answerSeconds: Double = 5, hasAcquirer: Bool = true,
        hasToken: Bool = false, hasSimulator: Bool = false, sources: [String] = ["--trust-requests"],
        _ body: (SwitchRig) async throws -> Void
    ) async throws {
        let rig = try SwitchRig(replicas: replicas, hasSimulator: hasSimulator, sources: sources)
        do {
            try await rig.start(faults, answerSeconds, hasAcquirer, hasToken)
            try await body(rig)
            await rig.end()
        } catch {
            print(await rig.logs)
            await rig.end()
            throw error
        }
    }

    nonisolated var proxy: String { path("proxy.sock") }
    nonisolated var sockets: [String] { (0..<replicas).map { path("\($0).sock") } }
    nonisolated var desks: [String] { (0..<replicas).map { path("\($0).desk") } }
    nonisolated var book: URL { folder.appending(path: "book") }

    nonisolated private func path(_ name: String) -> String { folder.appending(path: name).path() }

    private func start(
        _ faults: [String], _ answerSeconds: Double, _ hasAcquirer: Bool, _ hasToken: Bool
    ) async throws {
        let keys = hasToken ? try makeToken() : ["--test-key", path("key.jwk")]
        try Self.key.write(to: folder.appending(path: "key.jwk"), atomically: true, encoding: .utf8)
        var acquirer: [String] = []
        if hasAcquirer {
            let number = try await startAcquirer(faults)
            acquirer = ["--acquirer", "127.0.0.1:\(number)", "--acquirer-number", "12345678901"]
        }
        for replica in 0..<replicas {
            // It starts again what has ended, with the id of what runs in a file.
            let loop = "while :; do \"$@\" & echo $! >\(path("\(replica).pid")); wait $!; sleep 0.05; done"
            try launch(
                "/bin/bash",
                [
                    "-c", loop, "replica", Self.program, "--socket", path("\(replica).sock"), "--database",
                    server.address,
                ]
                    + keys + sources + ["--desk", path("\(replica).desk"), "--answer-seconds", "\(answerSeconds)"]
                    + acquirer,
                output: folder.appending(path: "\(replica).log"))
        }
        for socket in sockets { try await health(socket, hasAcquirer) }
        try server.sql(
            """
            insert into merchant (id, acceptor, location, category) values ('adapter-check', 'M-4711', 'A shop', '5411');
            insert into terminal values ('adapter-check', '00000001', 'TERM0001')
            """)
        guard replicas > 1 else { return }
        try configuration.write(to: folder.appending(path: "haproxy.cfg"), atomically: true, encoding: .utf8)
        try launch(
            "/usr/sbin/haproxy", ["-db", "-f", path("haproxy.cfg")], output: folder.appending(path: "haproxy.log"))
        try await health(proxy, hasAcquirer)
    }

    /// - Parameter faults: options of `nfc-tap-acquirer-sim`, or words of `acquirer.py`.
    /// - Returns: its port.
    private func startAcquirer(_ faults: [String]) async throws -> String {
        let output = folder.appending(path: "port")
        try launch(
            "/usr/bin/env",
            hasSimulator
                ? [Self.program("nfc-tap-acquirer-sim"), "--listen", "127.0.0.1:0", "--book", book.path()] + faults
                : [Peer.python, Self.acquirer, "0", book.path(), "1"] + faults, output: output)
        // The simulator says it in a sentence on standard error, the other one on standard output.
        let told = hasSimulator ? folder.appending(path: "port.err") : output
        return try await eventually("the acquirer's port") { () -> String? in
            let text = try? String(contentsOf: told, encoding: .utf8)
            guard let line = text?.split(separator: "\n").last, let digits = line.split(separator: ":").last else {
                return nil
            }
            let number = digits.trimmingCharacters(in: .whitespaces)
            return Int(number) == nil ? nil : number
        }
    }

    /// Until it answers, and its acquirer with it.
    private func health(_ socket: String, _ hasAcquirer: Bool) async throws {
        try await eventually("\(socket)") {
            let answer = try? await HTTPClient(path: socket).send(
                HTTPClientRequest(.get, "/v1/health"), answerWithin: .seconds(5))
            guard let answer, answer.status == 200 else { return false }
            return try WireJSON.decode(AdapterHealth.self, from: answer.body).status == (hasAcquirer ? .ok : .down)
        }
    }

    /// In a session of its own, so that all that it starts can be ended with it.
    private func launch(_ program: String, _ arguments: [String], output: URL) throws {
        let redirect = "exec \"$@\" >\(output.path()) 2>\(output.path()).err"
        running.append(
            try StartedProgram(
                "/usr/bin/setsid",
                ["/usr/bin/env"] + environment + ["/bin/bash", "-c", redirect, "start", program]
                    + arguments,
                output: nil))
    }

    /// SoftHSM2 has its tokens where its configuration says.
    private var environment: [String] {
        ["SWIFT_BACKTRACE=enable=no", "SOFTHSM2_CONF=\(path("softhsm2.conf"))"]
    }

    /// A SoftHSM2 of its own with the keys that docs/service/keys-and-token.md names, made in it.
    ///
    /// - Returns: the switch's options for it.
    private func makeToken() throws -> [String] {
        let tokens = folder.appending(path: "tokens")
        try FileManager.default.createDirectory(at: tokens, withIntermediateDirectories: true)
        try "directories.tokendir = \(tokens.path())\nobjectstore.backend = file\n".write(
            toFile: path("softhsm2.conf"), atomically: true, encoding: .utf8)
        _ = FileManager.default.createFile(
            atPath: path("pin"), contents: Data("1234\n".utf8), attributes: [.posixPermissions: 0o600])
        try finish(
            "softhsm2-util",
            ["--init-token", "--free", "--label", "payments", "--pin", "1234", "--so-pin", "12345678"])
        let token = ["--pkcs11", "/usr/lib/softhsm/libsofthsm2.so", "--token", "payments", "--pin-file", path("pin")]
        for (label, use) in [("shop-1", "recipient"), ("card-tokens", "cardTokens"), ("books-2020-01", "books")] {
            try finish(Self.program("nfc-tap-profile"), ["key", "new"] + token + ["--label", label, "--for", use])
        }
        return token + ["--recipient", "shop-1"]
    }

    private func finish(_ program: String, _ arguments: [String]) throws {
        let isDone = try StartedProgram("/usr/bin/env", environment + [program] + arguments, output: nil)
            .waitUntilEnded()
        guard isDone else { throw Hung(description: "\(program) \(arguments) failed") }
    }

    /// SIGKILL; it is started again.
    nonisolated func kill(_ replica: Int) {
        guard let text = try? String(contentsOf: folder.appending(path: "\(replica).pid"), encoding: .utf8),
            let number = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)), number > 1
        else { return }
        _ = Foundation.kill(number, SIGKILL)
    }

    /// Runs the program to its end.
    ///
    /// - Returns: whether it said that it had done its work.
    nonisolated func run(_ arguments: [String]) throws -> Bool {
        try StartedProgram(Self.program, arguments, output: nil).waitUntilEnded()
    }

    /// What all of them have written.
    var logs: String {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.pathExtension == "err" }.map {
            "== \($0.lastPathComponent)\n" + String((try? String(contentsOf: $0, encoding: .utf8))?.suffix(3_000) ?? "")
        }.joined(separator: "\n")
    }

    private func end() {
        for program in running { _ = Foundation.kill(-program.identifier, SIGKILL) }
        for program in running { program.waitUntilEnded() }
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: - Files

    static var program: String { program("nfc-tap-switch") }

    static let programs =
        ProcessInfo.processInfo.environment["NFC_TAP_BIN"].map { URL(filePath: $0) }
        ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    private static func program(_ name: String) -> String { programs.appending(path: name).path() }

    private static let acquirer = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "acquirer.py")
        .path()

    /// The published test key of the sandbox: `TestRecipient.privateJWK`.
    static let key = """
        {"kty":"EC","crv":"P-256","kid":"test-nfc-tap-sandbox-1","use":"enc","alg":"ECDH-ES",\
        "x":"795BHl9HJmtpe0yG1eMB1eGAE2WS5srg1uDOEX4MFY8",\
        "y":"w2vHTCZp64drgwqlzzPunJrBoj4m5iCoIVM-FbA3Oi8",\
        "d":"_h_fzpxkkyRedzBByRmnzE3pSeOzQw6JVYshRr6NLcU"}
        """

    /// docs/examples/haproxy-centre.cfg with sockets on both sides: without certificates, and before as many replicas as there are.
    private var configuration: String {
        get throws {
            let example = try String(contentsOf: Checkout.file("docs/examples/haproxy-centre.cfg"), encoding: .utf8)
            let lines = example.split(separator: "\n", omittingEmptySubsequences: false).filter {
                !$0.contains("ssl_c_s_dn") && !$0.contains("sc0_") && !$0.hasPrefix("    server ")
            }.map { $0.hasPrefix("    bind ") ? "    bind unix@\(proxy) mode 666" : String($0) }
            // The servers stand at the end.
            return "global\n    maxconn 500\n" + lines.joined(separator: "\n").trimmingCharacters(in: .newlines) + "\n"
                + sockets.enumerated().map { "    server r\($0.offset) unix@\($0.element)\n" }.joined()
        }
    }
}
