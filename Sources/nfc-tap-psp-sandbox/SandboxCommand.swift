import ArgumentParser
import Glibc
import LocalHTTP
import Logging
import PSPSandbox
import UnixSignals

/// A payment service for tests on a Unix socket.
@main
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap-psp-sandbox",
        abstract: "Answer nfc-tapd as a payment service for tests, by the amount.",
        discussion: """
            Opens envelopes with a published test key (give --sandbox to say that you know) or with the private JWK of \
            --key. The last two digits of the amount choose the answer: see docs/sandbox.md. GET /debug/ledger shows \
            the books.
            """)

    @Option(help: ArgumentHelp("Unix socket to listen at.", valueName: "path"))
    var socket: String

    @Flag(help: "Use the published test key: anybody can open what is sealed to it.")
    var sandbox = false

    @Option(help: ArgumentHelp("File with the recipient's private JWK.", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Seconds until amounts ending in 97 are answered.", valueName: "seconds"))
    var slowSeconds: Double = 20

    @Option(help: ArgumentHelp("Seconds until amounts ending in 99 are answered.", valueName: "seconds"))
    var lateSeconds: Double = 35

    func validate() throws {
        guard sandbox != (key != nil) else {
            throw ValidationError(
                "Give either --sandbox, which uses a published test key that protects nothing, or --key FILE.")
        }
        guard (0...3_600).contains(slowSeconds), (0...3_600).contains(lateSeconds) else {
            throw ValidationError("Seconds must be between 0 and 3600.")
        }
    }

    func run() async throws {
        let logger = Logger(label: "nfc-tap-psp-sandbox") { StreamLogHandler.standardError(label: $0) }
        let timing = SandboxTiming(slow: .seconds(slowSeconds), late: .seconds(lateSeconds))
        let server = try SandboxServer(path: socket, keyFile: key, timing: timing, logger: logger)
        say("listening at \(socket)")
        if sandbox { say("warning: published test key in use, nothing sealed to it is protected") }
        ServiceNotification().send(.ready)
        try await serve(server)
    }

    private func serve(_ server: SandboxServer) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask {
                for await _ in signals {
                    server.shutDown()
                    return
                }
            }
            try await group.next()
            try await group.next()
        }
    }

    /// One line on standard error.
    private func say(_ text: String) {
        let line = Array("nfc-tap-psp-sandbox: \(text)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
    }
}
