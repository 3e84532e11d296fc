// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardBytes
import FoundationEssentials
import Glibc
import Linux
import ReaderCore
import ReaderVirtual
import TapClient
import Wire

struct Try: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try", abstract: "Runs a complete test payment; no money moves.",
        discussion: """
            Starts a daemon in test mode with a virtual reader and a test payment service, both in a temporary folder, and \
            stops them at the end. Never uses a real reader, card or payment service, whatever this machine's \
            configuration says. The last two digits of the amount choose the outcome: try 12.51 EUR. Exit codes are those \
            of pay.
            """)

    @Argument(help: ArgumentHelp("The amount; default: 12.50 EUR.", valueName: "amount currency"))
    var amount: [String] = ["12.50", "EUR"]

    @Option(help: ArgumentHelp("Name of a simulated card, from nfc-tap simulate --list.", valueName: "card"))
    var card = "visa"

    @Flag(help: "Print the transaction as JSON.")
    var json = false

    func validate() throws {
        do { _ = try AmountText.parse(amount) } catch { throw ValidationError("\(error).") }
    }

    func run() async throws {
        let money: Money
        do throws(AmountText.Problem) { money = try AmountText.parse(amount) } catch {
            throw ValidationError("\(error).")
        }
        let stage = try Stage()
        defer { stage.end() }
        let client = TapClient(path: stage.posSocket)
        try await stage.ready(client)
        try stage.present(card)
        let transaction = try await TransactionOptions.watch(
            TransactionRequest(type: .purchase, amount: money), idempotencyKey: nil,
            narrator: Narrator(isSilent: json), with: client)
        if json {
            try StandardOutput.print(json: transaction)
        } else {
            StandardOutput.print(transaction.summary)
            StandardOutput.print("")
            try await ReceiptForm.text.print(transaction.id, with: client)
            StandardOutput.print("\nThis was a test. For live payments, see nfc-tap help-topics terms.")
        }
        let code = transaction.exitCode
        if code != .success { throw code }
    }
}

/// A daemon and a payment service that exist for one trial.
private struct Stage {
    private let folder: String
    private let service: ChildProgram
    private let daemon: ChildProgram

    var posSocket: String { folder + "/pos.sock" }
    private var readerSocket: String { folder + "/reader.sock" }

    init() throws(Failure) {
        do throws(SystemError) { folder = try FileSystem.makeTemporaryFolder("/tmp/nfc-tap-try-") } catch {
            throw Failure("cannot create a folder in /tmp", hint: "free space in /tmp", exitCode: .unavailable)
        }
        do throws(Failure) {
            service = try ChildProgram("nfc-tap-psp-sandbox", ["--sandbox", "--socket", folder + "/psp.sock"])
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
        do throws(Failure) {
            // Without --config it is in test mode and knows nothing of this machine.
            daemon = try ChildProgram(
                "nfc-tapd",
                [
                    "--runtime-directory", folder, "--state-directory", folder + "/state", "--pos-socket",
                    folder + "/pos.sock", "--psp-socket", folder + "/psp.sock", "--virtual-reader",
                    folder + "/reader.sock",
                ])
        } catch {
            service.end()
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    func end() {
        daemon.end()
        service.end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Waits until a card could be taken, ten seconds at most.
    func ready(_ client: TapClient) async throws {
        for _ in 0..<200 {
            let status = try? await client.status()
            if let status, status.ready, status.psp.state == .up, status.mode == .test { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure("test daemon not ready in time", hint: "run nfc-tap doctor", exitCode: .unavailable)
    }

    func present(_ card: String) throws(Failure) {
        let answer: String
        do throws(VirtualSocketError) {
            answer = try VirtualReaderSocket.send(
                "present \(card)", to: readerSocket, until: monotonicNow().advanced(byMilliseconds: 5_000))
        } catch {
            throw Failure(error.description, exitCode: .unavailable)
        }
        guard !answer.hasPrefix("error ") else {
            throw Failure(
                "unknown card \(card)", hint: "choose one from nfc-tap simulate --list", exitCode: .malformedInput)
        }
    }
}
