// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

/// Options of every command that reads a card through the daemon, and its report.
struct TransactionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Name of the lane; required if the daemon has several.", valueName: "name"))
    var lane: String?

    @Option(help: ArgumentHelp("Your reference for the sale.", valueName: "text"))
    var order: String?

    @Option(help: ArgumentHelp("Seconds to wait for a card.", valueName: "seconds"))
    var deadline: Int?

    @Option(
        help: ArgumentHelp(
            "Key of this attempt at this sale. Repeating the command with the same key never charges twice.",
            valueName: "text"))
    var idempotencyKey: String?

    @Option(
        help: ArgumentHelp(
            "Language of the customer's texts, of the progress messages and of the result: \(Language.tags). Wrong arguments are told in English.",
            valueName: "tag"))
    var language: String?

    @Option(
        help: ArgumentHelp(
            "Prefer the application with this AID or RID (hexadecimal) on a card with several; repeat up to 4 times, best first.",
            valueName: "aid"))
    var prefer: [String] = []

    @Flag(help: "Check the request only; no card is read.")
    var dryRun = false

    @Flag(help: "Print the transaction as JSON.")
    var json = false

    @Flag(help: "Suppress progress messages.")
    var quiet = false

    func run(
        _ request: TransactionRequest, label: CommandLabel = .payment, receipt: ReceiptForm? = nil,
        with client: TapClient
    ) async throws {
        var request = request
        request.lane = lane
        request.order = order
        request.deadline = deadline
        request.language = language
        request.preferredApplications = prefer.isEmpty ? nil : prefer
        if dryRun { return try await check(request, with: client) }
        let narrator = Narrator(isSilent: quiet, label: label, language: language)
        let transaction = try await TransactionOptions.watch(
            request, idempotencyKey: idempotencyKey, narrator: narrator, with: client)
        if json {
            try StandardOutput.print(json: transaction)
        } else {
            StandardOutput.print(label.summary(transaction, in: narrator.language))
        }
        // A payment without a digital receipt is a payment all the same.
        if let receipt, receipt != .qr || transaction.result?.receiptURL != nil {
            try await receipt.print(transaction.id, language: language == nil ? .spoken : nil, with: client)
        }
        // Read is not stored.
        let isNotStored = request.reason == .saveCard && transaction.state == .approved && transaction.credential == nil
        let code = isNotStored ? ExitCode.notCompleted : transaction.exitCode
        if code != .success { throw code }
    }

    private func check(_ request: TransactionRequest, with client: TapClient) async throws {
        let answer: DryRunAnswer
        do throws(TapClientError) { answer = try await client.check(request) } catch { throw Failure(error) }
        if json { return try StandardOutput.print(json: answer) }
        let words = Language(option: language)
        let amount = request.type == .verification ? nil : words.text(request.amount)
        let parts = [words.text(.dryRun), amount, answer.lane, answer.mode.progressText(in: words)].compactMap(\.self)
        StandardOutput.print(parts.joined(separator: "  "))
    }

    /// Starts a transaction, tells `narrator` what happens, and returns it once it is settled.
    static func watch(
        _ request: TransactionRequest, idempotencyKey: String?, narrator: Narrator, with client: TapClient
    ) async throws -> Transaction {
        // Events are for the person watching; the outcome is in the transaction itself.
        let watch = Task {
            do throws(TapClientError) {
                for try await event in client.events(maximumOutage: .seconds(2)) { await narrator.take(event) }
            } catch {
                await narrator.lost()
            }
        }
        defer { watch.cancel() }
        let tap: TapTransaction
        do throws(TapClientError) {
            tap = try await client.start(request, idempotencyKey: idempotencyKey ?? TransactionID().text)
        } catch {
            throw Failure(error, in: narrator.language)
        }
        await narrator.follow(tap.started)
        do throws(TapClientError) { return try await tap.settled() } catch {
            throw Failure(error, losing: tap.started, in: narrator.language)
        }
    }
}
