// SPDX-License-Identifier: Apache-2.0
import AcquirerSimulator
import ArgumentParser
import Codes
import Glibc
import ISO8583
import Linux
import PaymentValues
import Suggestions
import UnixSignals

/// An acquirer's host for tests.
@main
struct AcquirerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap-acquirer-sim",
        abstract: "Act as an acquirer's host for tests, in ISO 8583 over TCP.",
        discussion: """
            Verifies the cryptograms of test cards, answers by the last two digits of the amount and keeps its own book: see \
            docs/service/acquirer-simulator.md. It moves no money. Real cards are declined with 14.
            """,
        version: Version.text,
        subcommands: [Serve.self, Book.self], defaultSubcommand: Serve.self)

    static func main() async { await mainWithSuggestions() }

    /// One line on standard error.
    static func say(_ text: String) {
        try? Descriptor.write("nfc-tap-acquirer-sim: \(text)\n", to: STDERR_FILENO)
    }
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Serve switches until it is stopped.")

    @Option(help: ArgumentHelp("Address and port to listen at.", valueName: "address"))
    var listen = "127.0.0.1:8583"

    @Flag(help: "Listen at an address that other machines reach. Nothing on the line is encrypted.")
    var allowOtherMachines = false

    @Option(
        help: ArgumentHelp(
            "Built-in packager, or a file as docs/service/iso8583.md describes it, whose name has a slash.",
            valueName: "name"))
    var packager = Packager.BuiltIn.bcd1987.rawValue

    @Option(help: ArgumentHelp("Keep the book in this file, and continue it.", valueName: "file"))
    var book: String?

    @Option(help: ArgumentHelp("Seconds until amounts ending in 97 are answered.", valueName: "seconds"))
    var slowSeconds: Double = 8

    @Option(help: ArgumentHelp("Seconds until amounts ending in 99 are answered.", valueName: "seconds"))
    var lateSeconds: Double = 25

    @Flag(help: "Answer amounts ending in 85 to 89 with something wrong.")
    var lies = false

    @Flag(help: "Also take cards of issuers outside the catalogue, without verifying their cryptograms.")
    var anyCard = false

    @Flag(help: "Decline payments without chip data.")
    var demandChip = false

    @Option(help: ArgumentHelp("How many of a hundred answers to lose.", valueName: "number"))
    var lose = 0

    @Option(help: ArgumentHelp("How many of a hundred answers to send twice.", valueName: "number"))
    var twice = 0

    @Option(help: ArgumentHelp("How many of a hundred answers to delay by up to two seconds.", valueName: "number"))
    var delay = 0

    @Option(help: ArgumentHelp("How many of a hundred answers to send after --late-seconds.", valueName: "number"))
    var late = 0

    @Option(help: ArgumentHelp("Seed of the random choices: the same number repeats them.", valueName: "number"))
    var seed: UInt64 = 1

    func validate() throws {
        guard (0...3_600).contains(slowSeconds), (0...3_600).contains(lateSeconds) else {
            throw ValidationError("Seconds must be between 0 and 3600.")
        }
        for number in [lose, twice, delay, late] where !(0...100).contains(number) {
            throw ValidationError("Give --lose, --twice, --delay and --late numbers from 0 to 100.")
        }
        guard lose + twice + delay + late <= 100 else {
            throw ValidationError("--lose, --twice, --delay and --late are more than 100 together: lower one of them.")
        }
    }

    func run() async throws {
        var settings = AcquirerServer.Settings(address: listen, packager: try readPackager())
        settings.allowsOtherMachines = allowOtherMachines
        settings.book = book
        settings.rules.slow = UInt64(slowSeconds * 1_000)
        settings.rules.late = UInt64(lateSeconds * 1_000)
        settings.rules.lies = lies
        settings.rules.takesAnyCard = anyCard
        settings.rules.demandsChip = demandChip
        if lose + twice + delay + late > 0 {
            var faults = LineFaults(seed: seed)
            (faults.lost, faults.twice, faults.delayed, faults.late) = (lose, twice, delay, late)
            settings.faults = faults
        }
        if let shortage = DescriptorLimit.provide(AcquirerServer.descriptors) {
            AcquirerCommand.say("connections \(shortage.problem): raise ulimit -n to \(shortage.needed)")
        }
        do throws(AcquirerServer.Fault) { try await serve(settings) } catch {
            AcquirerCommand.say(error.words)
            throw ExitCode(1)
        }
    }

    private func serve(_ settings: AcquirerServer.Settings) async throws(AcquirerServer.Fault) {
        let server = try AcquirerServer()
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let stopping = Task {
            for await _ in signals { break }
            server.stop()
        }
        defer { stopping.cancel() }
        let outcome = await withCheckedContinuation { continuation in
            AcquirerThread.start(server, settings) { continuation.resume(returning: $0) }
        }
        try outcome.get()
    }

    private func readPackager() throws -> Packager {
        let bytes: [UInt8]
        if let builtIn = Packager.BuiltIn(rawValue: packager) {
            bytes = builtIn.file
        } else if packager.contains("/"), let file = try? FileSystem.bytes(of: packager, atMost: 1 << 20) {
            bytes = file
        } else {
            let names = Packager.BuiltIn.allCases.map(\.rawValue).joined(separator: ", ")
            AcquirerCommand.say("\(packager) is no packager and no file that can be read; use \(names)")
            throw ExitCode(64)
        }
        do throws(PackagerError) { return try Packager(file: bytes) } catch {
            AcquirerCommand.say("\(packager): \(error)")
            throw ExitCode(1)
        }
    }
}

struct Book: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a book: a line of JSON for each payment.")

    @Argument(help: ArgumentHelp("Book that serve has kept.", valueName: "file"))
    var file: String

    func run() throws {
        do {
            let book = try BookFile.read(try FileSystem.bytes(of: file, atMost: 1 << 30))
            for line in book.summary { try Descriptor.print(line) }
        } catch let error as BookFile.Fault {
            AcquirerCommand.say("\(file) \(error)")
            throw ExitCode(1)
        } catch let error as SystemError {
            AcquirerCommand.say("\(file) cannot be read: \(error.remedy)")
            throw ExitCode(1)
        }
    }
}

/// The server's own thread: it waits for sockets, which no task may do.
enum AcquirerThread {
    static func start(
        _ server: AcquirerServer, _ settings: AcquirerServer.Settings,
        _ ended: @escaping @Sendable (Result<Void, AcquirerServer.Fault>) -> Void
    ) {
        do throws(SystemError) {
            try PrivateThread.start(named: "acquirer") {
                do throws(AcquirerServer.Fault) {
                    try server.run(settings) { AcquirerCommand.say("listening at \($0)") }
                    ended(.success(()))
                } catch {
                    ended(.failure(error))
                }
            }
        } catch {
            ended(.failure(.port(settings.address, error)))
        }
    }
}

extension AcquirerServer.Fault {
    /// What is wrong, and what to do.
    fileprivate var words: String {
        switch self {
        case .address(let text): "\(text) is no address with a port; write it as 127.0.0.1:8583"
        case .notLoopback(let text):
            "\(text) can be reached by other machines; use 127.0.0.1, or say --allow-other-machines"
        case .port(let address, let error): "--listen: \(address) cannot be opened: \(error)"
        case .book(let fault): "the book \(fault)"
        }
    }
}
