// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
public import ECR
import FoundationEssentials
import Glibc
import Linux
import Synchronization
import TapClient

/// A terminal for a till's developer, on which everything can go wrong on purpose.
struct ECRBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ecr-bench", abstract: "Acts as a payment terminal for a till's developer, with faults on demand.",
        discussion: """
            Starts a daemon in test mode with a virtual reader on which a card stays, a test payment service and \
            nfc-tap-ecr in a temporary folder, and prints what passes on the till's line. The last two digits of the amount \
            choose the outcome, as docs/integrating/sandbox.md lists them: 51 is declined, 10 approves a part, 99 is answered late. The \
            options choose what goes wrong on the line. No money moves. Press Control-D to end it.
            """)

    @Argument(help: ArgumentHelp("The till's protocol.", valueName: "protocol"))
    var kind: TillProtocol

    @Option(help: ArgumentHelp("Address and port; default: 127.0.0.1 with the protocol's port.", valueName: "address"))
    var listen: String?

    @Option(help: ArgumentHelp("Name of a simulated card, from nfc-tap simulate --list.", valueName: "card"))
    var card = "visa"

    @Option(help: ArgumentHelp("Origin of a page that may use the proxy; hw-proxy only.", valueName: "origin"))
    var origin: [String] = []

    @Option(help: ArgumentHelp("Cut the line after this many messages of the terminal.", valueName: "messages"))
    var cutAfter: Int?

    @Flag(help: "With --cut-after: cut the line with a reset.")
    var reset = false

    @Option(help: ArgumentHelp("Seconds by which each message of the terminal is delayed.", valueName: "seconds"))
    var delay: Double = 0

    @Flag(help: "Send each byte of the terminal alone.")
    var pieces = false

    @Option(help: ArgumentHelp("Change a bit in this message of the terminal; 1 is the first.", valueName: "message"))
    var garble: Int?

    @Flag(help: "Print a line of JSON for each thing that happens.")
    var json = false

    /// Somebody has pressed Control-C.
    private static let isEnded = Atomic<Bool>(false)

    func validate() throws {
        guard (0...600).contains(delay) else { throw ValidationError("The delay must be between 0 and 600 seconds.") }
        guard cutAfter ?? 0 >= 0, garble ?? 1 >= 1 else {
            throw ValidationError("--garble takes 1 or more, --cut-after 0 or more.")
        }
        guard ![.caisseEPlus, .mdb].contains(kind) else {
            throw ValidationError(
                "\(kind.rawValue) needs a serial line, and the bench has none: run nfc-tap-ecr itself.")
        }
        guard address != nil else { throw ValidationError("Write the address as 127.0.0.1:\(kind.port).") }
    }

    private var address: TCPAddress? { TCPAddress(listen ?? "127.0.0.1:\(kind.port)") }

    func run() async throws {
        guard let address else { return }
        for number in [SIGINT, SIGTERM] { _ = signal(number) { _ in ECRBench.isEnded.store(true, ordering: .relaxed) } }
        let stage = try Stage()
        defer { stage.end() }
        try await stage.ready(TapClient(path: stage.posSocket))
        try stage.present(card)
        let terminal = try Self.freeAddress()
        let bridge = try bridge(stage, at: terminal, for: address)
        defer { bridge.end() }
        try await reached(terminal)
        let isJSON = json
        let tell: @Sendable (FaultyLine.Happening) -> Void = { happening in
            if isJSON { try? StandardOutput.print(line: happening) } else { StandardOutput.print(happening.words) }
        }
        let faults = FaultyLine.Faults(
            cutAfter: cutAfter, isReset: reset, delay: delay, isInPieces: pieces, garbled: garble)
        do throws(SystemError) {
            try FaultyLine(at: address, to: terminal, faults, tell: tell).begin()
        } catch {
            throw Failure(
                "cannot listen at \(address)", hint: "choose another address with --listen", exitCode: .unavailable)
        }
        tell(
            FaultyLine.Happening(
                .listening, text: "\(kind.rawValue) at \(address), a \(card) card on the reader; no money moves"))
        await Self.untilEnded()
    }

    private func bridge(
        _ stage: Stage, at terminal: TCPAddress, for address: TCPAddress
    ) throws(Failure) -> ChildProgram {
        let refunds = kind == .hwProxy ? "" : "refund-limit = 100000\n"
        let pages = origin.map { "\"\($0)\"" }.joined(separator: ", ")
        let browser =
            kind == .hwProxy ? "hosts = [\"\(address)\", \"localhost:\(address.port)\"]\norigins = [\(pages)]\n" : ""
        let text = """
            socket = "\(stage.posSocket)"
            directory = "\(stage.folder)"
            [[till]]
            name = "bench"
            protocol = "\(kind.rawValue)"
            listen = "\(terminal)"
            lane = "\(Stage.lane)"
            test = true
            \(refunds)\(browser)
            """
        let file = stage.folder + "/ecr.toml"
        do { try Data(text.utf8).write(to: URL(filePath: file)) } catch {
            throw Failure("cannot write \(file)", hint: "free space in /tmp", exitCode: .unavailable)
        }
        return try ChildProgram("nfc-tap-ecr", ["--config", file])
    }

    /// An address of this machine that nobody uses just now.
    private static func freeAddress() throws(Failure) -> TCPAddress {
        for _ in 0..<100 {
            guard let address = TCPAddress("127.0.0.1:\(Int.random(in: 20_000...60_000))") else { continue }
            do throws(SystemError) {
                _ = try Descriptor.listening(at: address)
                return address
            } catch { continue }
        }
        throw Failure("no port free", hint: "end other programs", exitCode: .unavailable)
    }

    private func reached(_ terminal: TCPAddress) async throws {
        for _ in 0..<100 {
            do throws(SystemError) {
                _ = try Descriptor.connected(to: terminal)
                return
            } catch {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        throw Failure("nfc-tap-ecr not ready in time", hint: "run nfc-tap doctor", exitCode: .unavailable)
    }

    private static func untilEnded() async {
        while !isEnded.load(ordering: .relaxed) {
            var watched = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)]
            if Poll.wait(&watched, untilNanoseconds: 0) == .ready {
                var byte: UInt8 = 0
                guard unsafe read(STDIN_FILENO, &byte, 1) == 1 else { return }
            } else {
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}

extension TillProtocol: ExpressibleByArgument {
    /// Where tills look for a terminal unless they are told otherwise.
    fileprivate var port: Int {
        switch self {
        case .caisseAP: 8_888
        case .hwProxy: 8_069
        case .zvt, .caisseEPlus, .mdb: 20_007
        }
    }
}
