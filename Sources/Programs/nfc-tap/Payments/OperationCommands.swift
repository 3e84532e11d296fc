// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FoundationEssentials
import POSAPI
import PaymentValues
import TapClient

struct Capture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Captures what a preauthorised payment holds, or a part of it.",
        discussion: "Without an amount, captures all that remains. Exit codes: 0 done, 10 refused, 12 not known yet.")

    @Option(
        help: ArgumentHelp(
            "The part of the amount that is a tip: 40.00 and a tip of 5.00 are 45.00 with --tip \"5.00 EUR\".",
            valueName: "amount currency"))
    var tip: String?

    @Flag(help: "Keep holding the rest, for another capture.")
    var notFinal = false

    @OptionGroup var choice: OperationChoice

    func run() async throws {
        var demand = CaptureRequest(amount: try choice.money, final: !notFinal)
        demand.tip = try tip.map { try parsedMoney([$0]) }
        if choice.dryRun { return try await choice.attempt { client, id in try await client.tryCapture(id, demand) } }
        try await choice.run { client, id, key in
            try await client.capture(id, demand, key: key)
        }
    }
}

struct Adjust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Changes the sum that a preauthorised payment holds.",
        discussion: """
            Give the whole sum to hold from now on, not the difference; or give --extend to hold the same sum for longer. \
            Exit codes: 0 done, 10 refused, 12 not known yet.
            """)

    @Flag(help: "Keep the sum and ask for more time.")
    var extend = false

    @OptionGroup var choice: OperationChoice

    func validate() throws {
        guard extend == choice.amount.isEmpty else { throw ValidationError("Give a total or --extend.") }
    }

    func run() async throws {
        let demand = try choice.money.map(AdjustmentRequest.total) ?? .extend
        if choice.dryRun { return try await choice.attempt { client, id in try await client.tryAdjust(id, demand) } }
        try await choice.run { client, id, key in try await client.adjust(id, demand, key: key) }
    }
}

struct Release: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Releases what a preauthorised payment holds, or a part of it.",
        discussion: "Without an amount, releases all that remains. Exit codes: 0 done, 10 refused, 12 not known yet.")

    @OptionGroup var choice: OperationChoice

    func run() async throws {
        let demand = ReleaseRequest(amount: try choice.money)
        if choice.dryRun { return try await choice.attempt { client, id in try await client.tryRelease(id, demand) } }
        try await choice.run { client, id, key in try await client.release(id, demand, key: key) }
    }
}

struct Resolve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Records how an operation without an answer has ended.",
        discussion: """
            Ask the payment service first. The evidence is kept in the audit chain. Resolving needs an administrator; \
            other users get exit code 14.
            """)

    @Argument(help: ArgumentHelp("The operation's id.", valueName: "id"))
    var id: String

    @Option(
        help: ArgumentHelp("How it ended: done or refused.", valueName: "outcome"),
        transform: { text in
            guard let outcome = ResolutionRequest.Outcome(rawValue: text) else {
                throw ValidationError("Give done or refused.")
            }
            return outcome
        })
    var outcome: ResolutionRequest.Outcome

    @Option(help: ArgumentHelp("How you know, in one line, without a card number.", valueName: "text"))
    var evidence: String

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        guard let operation = OperationID(id) else {
            throw ValidationError("\(id) is not an operation id; give a UUID.")
        }
        let after: PaymentOperation
        do throws(TapClientError) {
            after = try await daemon.client.resolve(operation, ResolutionRequest(outcome, evidence: evidence))
        } catch {
            throw Failure(error)
        }
        if json { return try StandardOutput.print(json: after) }
        StandardOutput.print(after.summary)
    }
}

/// One payment of a daemon, what is wanted of it, and how that is shown.
struct OperationChoice: ParsableArguments {
    @Argument(help: ArgumentHelp("The payment's id, or its number in the list.", valueName: "id"))
    var id: String

    @Argument(help: ArgumentHelp("The amount, as in 12.50 EUR.", valueName: "amount currency"))
    var amount: [String] = []

    @Option(
        help: ArgumentHelp(
            "Key of this attempt. Repeating the command with the same key asks for nothing new; without a key each call is a new request.",
            valueName: "text"))
    var key: String?

    @Flag(help: "Show what would be done; nothing is recorded or sent.")
    var dryRun = false

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print JSON.")
    var json = false

    /// Shows what would be done.
    func attempt(_ ask: (TapClient, TransactionID) async throws -> OperationDryRun) async throws {
        let payment = try await PaymentName(id).id(with: daemon.client)
        let answer: OperationDryRun
        do { answer = try await ask(daemon.client, payment) } catch let error as TapClientError {
            throw Failure(error)
        }
        if json { return try StandardOutput.print(json: answer) }
        StandardOutput.print(answer.summary)
    }

    var money: Money? {
        get throws { try amount.isEmpty ? nil : parsedMoney(amount) }
    }

    func run(
        _ ask: (TapClient, TransactionID, String) async throws -> PaymentOperation
    ) async throws {
        let payment = try await PaymentName(id).id(with: daemon.client)
        let operation: PaymentOperation
        do { operation = try await ask(daemon.client, payment, key ?? UUID().uuidString) } catch let error
            as TapClientError
        {
            throw Failure(error)
        }
        if json { try StandardOutput.print(json: operation) } else { StandardOutput.print(operation.summary) }
        switch operation.state {
        case .done: break
        case .refused: throw ExitCode.declined
        case .created, .sent, .unknown: throw ExitCode.unknownOutcome
        }
    }
}

func parsedMoney(_ words: [String]) throws -> Money {
    do throws(AmountText.Problem) { return try AmountText.parse(words) } catch { throw ValidationError("\(error).") }
}

extension PaymentOperation {
    /// Outcome first, then what became of the payment's money.
    var summary: String {
        var lines = ["\(kind.rawValue.uppercased()) \(state.rawValue.uppercased())  \(amount?.description ?? "")"]
        if let tip { lines.append("  of this tip    \(tip)") }
        if let code = result?.responseCode { lines.append("  response code  \(code)") }
        if let error { lines += error.lines(in: .spoken) }
        if stuck == true { lines.append("  no answer      ask the payment service, then: nfc-tap resolve \(id)") }
        if let account {
            let sum = { (value: Int64) in "\(Money(value: value, currency: account.currency))" }
            lines.append("  captured       \(sum(account.captured))")
            lines.append("  remaining      \(sum(account.remaining))")
            lines.append("  refunded       \(sum(account.refunded))")
        }
        lines.append("  operation      \(id)")
        lines.append("  transaction    \(transaction)")
        return lines.joined(separator: "\n")
    }
}

extension OperationDryRun {
    var summary: String {
        let currency = account.currency
        let figures = [
            ("captured", account.captured), ("released", account.released), ("refunded", account.refunded),
            ("remaining", account.remaining), ("refundable", account.refundable),
        ]
        let after = figures.map { "  \($0.0)  \(Money(value: $0.1, currency: currency))" }
        return (["\(kind.rawValue)  \(amount.map { "\($0)" } ?? "more time")  would be asked for; then:"] + after)
            .joined(separator: "\n")
    }
}
