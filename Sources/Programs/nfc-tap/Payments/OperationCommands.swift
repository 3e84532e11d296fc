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
        let language = Language.spoken
        let word =
            switch state {
            case .done: language.tillText(kind.done)
            case .refused: "\(language.text(.declined)): \(language.tillText(kind.act))"
            case .created, .sent, .unknown: "\(language.text(.unknown)): \(language.tillText(kind.act))"
            }
        var lines = [([word] + [amount.map { language.text($0) }].compactMap(\.self)).joined(separator: "  ")]
        if let tip { lines.append(language.line(language.text(.receipt(.tip)), language.text(tip))) }
        if let code = result?.responseCode { lines.append(language.line(.responseCode, code)) }
        if let error { lines += error.lines(in: language) }
        if stuck == true {
            let ask = language.isComplete ? ErrorCode.operationStuck.texts(in: language).resolution + ": " : ""
            lines.append(language.line(.remedy, "\(ask)nfc-tap resolve \(id)"))
        }
        if let account {
            lines += account.lines(
                [(.payments, account.captured), (.held, account.remaining), (.refunds, account.refunded)], in: language)
        }
        lines.append(language.line(.operation, "\(id)"))
        lines.append(language.line(.transaction, "\(transaction)"))
        return lines.joined(separator: "\n")
    }
}

extension OperationKind {
    /// The till's word for what was done, and for doing it.
    fileprivate var done: String {
        switch self {
        case .capture: "word.captured"
        case .adjustment: "word.held"
        case .release: "word.released"
        }
    }

    fileprivate var act: String {
        switch self {
        case .capture: "day.capture"
        case .adjustment: "day.adjust"
        case .release: "day.release"
        }
    }
}

extension OperationDryRun.Kind {
    fileprivate var act: String {
        switch self {
        case .capture: OperationKind.capture.act
        case .adjustment: OperationKind.adjustment.act
        case .release: OperationKind.release.act
        case .refund: "till.refund"
        }
    }
}

extension PaymentAccount {
    /// Sums of it, each with the word that the day's report has for it.
    fileprivate func lines(_ sums: [(word: ReportWord, value: Int64)], in language: Language) -> [String] {
        sums.map {
            language.line(
                language.text(.report($0.word)), language.text(Money(value: $0.value, currency: currency)))
        }
    }
}

extension OperationDryRun {
    /// What would be done, then the payment's money once it is.
    var summary: String {
        let language = Language.spoken
        let head = [language.text(.dryRun), language.tillText(kind.act), amount.map { language.text($0) }].compactMap(
            \.self)
        return
            ([head.joined(separator: "  ")]
            + account.lines(
                [
                    (.payments, account.captured), (.released, account.released), (.refunds, account.refunded),
                    (.held, account.remaining),
                ], in: language)).joined(separator: "\n")
    }
}
