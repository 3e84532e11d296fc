// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardSim
import Configuration
import Glibc
import Linux
import Loyalty
import POSAPI
import PaymentValues
import ReaderCore
import Settings
import TapClient
import TapSession

struct LoyaltyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "loyalty",
        abstract: "Reads loyalty passes from phones and member cards.",
        discussion: """
            Asks for the daemon's loyalty programmes. With --reader it works without the daemon: it asks for the \
            programmes of --config, or for the test programmes of the simulated phones (nfc-tap simulate --list). Output \
            contains passes, which are personal data. Exit codes: 0 read (with or without a pass), 13 not completed.
            """)

    @OptionGroup var daemon: DaemonChoice

    @Option(help: ArgumentHelp("Ask for this programme only; may be repeated.", valueName: "id"))
    var programme: [String] = []

    @Option(
        help: ArgumentHelp(
            "Language of the customer's texts, the progress messages and the result: \(Language.tags).",
            valueName: "tag"))
    var language: String?

    @Option(help: ArgumentHelp("Name of the lane; required if the daemon has several.", valueName: "name"))
    var lane: String?

    @Option(help: ArgumentHelp("Seconds to wait for a phone or card.", valueName: "seconds"))
    var deadline: Int = 60

    @Option(help: ArgumentHelp("Use this reader without the daemon; see nfc-tap read.", valueName: "reader"))
    var reader: String?

    @Option(help: ArgumentHelp("With --reader: use the programmes of this nfc-tapd configuration.", valueName: "file"))
    var config: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Suppress progress messages.")
    var quiet = false

    func validate() throws {
        guard Limits.deadlineSeconds.contains(deadline) else {
            throw ValidationError("--deadline takes 1 to 600 seconds.")
        }
        if config != nil, reader == nil { throw ValidationError("--config requires --reader.") }
        if reader != nil, lane != nil { throw ValidationError("--lane cannot be combined with --reader.") }
    }

    func run() async throws {
        if let reader { return try read(on: reader) }
        var request = TransactionRequest(type: .loyalty, amount: .none)
        request.lane = lane
        request.deadline = deadline
        request.language = language
        if !programme.isEmpty { request.loyalty = LoyaltyOptions(programmes: programme) }
        let transaction = try await TransactionOptions.watch(
            request, idempotencyKey: nil, narrator: Narrator(isSilent: quiet, readsPasses: true, language: language),
            with: daemon.client)
        if json {
            try StandardOutput.print(json: transaction)
        } else {
            StandardOutput.print(transaction.summary(in: Language(option: language)))
        }
        let code = transaction.exitCode
        if code != .success { throw code }
    }

    private func read(on name: String) throws {
        let choice = try ReaderChoice.parse(["--reader", name, "--timeout", String(deadline)])
        let request = try request()
        let reader = try choice.open()
        defer {
            // Nobody is there to put the lamp out later.
            reader.show(.idle)
            reader.close()
        }
        let outcome: LoyaltyOutcome
        do throws(ReaderError) {
            outcome = try LoyaltyTap(request: request, deadlines: choice.deadlines).run(
                on: reader, cancellation: TapCancellation(), onSignal: tell)
        } catch {
            throw Failure(error)
        }
        let report = LoyaltyReport(outcome, request, in: Language(option: language))
        if json { try StandardOutput.print(json: report) } else { StandardOutput.print(report.text) }
    }

    private func request() throws -> LoyaltyRequest {
        let settings = try settings()
        var programmes = settings?.programmes ?? []
        if programmes.isEmpty {
            programmes = LoyaltyProgramme.test(
                LoyaltyProgramme.TestKeys(
                    clubPassType: WalletTestKeys.clubPassType, clubKey: WalletTestKeys.clubPrivateKey,
                    giftPassType: WalletTestKeys.giftPassType, giftKey: WalletTestKeys.giftPrivateKey,
                    collector: WalletTestKeys.collectorID, collectorKey: WalletTestKeys.collectorPrivateKeyVersion2,
                    collectorKeyVersion: 2))
        }
        if let unknown = programme.first(where: { id in !programmes.contains { $0.id == id } }) {
            throw ValidationError(
                "Unknown programme \(unknown): give \(programmes.map(\.id).joined(separator: ", ")).")
        }
        if !programme.isEmpty { programmes.removeAll { !programme.contains($0.id) } }
        let timestamps = settings?.maximumClockDifference.map {
            TimestampPolicy(clock: .system, maximumSkewSeconds: $0)
        }
        do throws(LoyaltyConfigurationError) {
            return try LoyaltyRequest(programmes: programmes, timestamps: timestamps)
        } catch {
            throw ValidationError("\(error).")
        }
    }

    private func settings() throws -> LoyaltySettings? {
        guard let config else { return nil }
        do throws(ConfigurationError) {
            return try LoyaltySettings(path: config, host: .ofInstalledDaemon)
        } catch {
            throw ValidationError("\(error).")
        }
    }

    private func tell(_ signal: LoyaltyTapSignal) {
        guard !quiet else { return }
        let words = Language(option: language)
        let text: String? =
            switch signal {
            case .collision: LoyaltyResult.CustomerAction.presentOneCardOnly.text(in: words.rawValue)
            case .unreadable: LoyaltyResult.CustomerAction.presentAgain.text(in: words.rawValue)
            case .show(.readyForPass): words.text(.progress(.holdPass))
            case .show(.again(let action)):
                LoyaltyResult.CustomerAction(rawValue: action.rawValue)?.text(in: words.rawValue)
            case .cardDetected, .show(.reading): nil
            }
        if let text { StandardError.write("nfc-tap: \(text)\n") }
    }
}
