// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FoundationEssentials
import POSAPI
import PaymentValues
import TapClient

/// Gives money back to the card that is held to the reader.
struct Refund: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Refunds an amount to the presented card, or an earlier payment with or without its card.",
        discussion: """
            With --of, no card is read unless --card says so. Without an amount, all that is left of the payment is \
            refunded. Exit codes: 0 approved, 10 declined, 12 unknown, 13 not completed, 14 an administrator is needed.
            """)

    @Argument(help: ArgumentHelp("The amount, as in 12.50 EUR.", valueName: "amount currency"))
    var amount: [String] = []

    @Option(help: ArgumentHelp("The payment to refund, or a part of it.", valueName: "id"))
    var of: String?

    @Option(
        help: ArgumentHelp(
            "With --of: none, same for the card of the payment, or any for another one, which the shop has to allow and --reason has to explain.",
            valueName: "rule"),
        transform: { text in
            guard let rule = RefundCardRule(rawValue: text) else {
                throw ValidationError("Give none, same or any.")
            }
            return rule
        })
    var card: RefundCardRule = .none

    @Option(help: ArgumentHelp("With --of: why, in at most 64 characters.", valueName: "text"))
    var reason: String?

    @Option(help: ArgumentHelp("Print the customer's receipt at the end: text, json or qr.", valueName: "form"))
    var receipt: ReceiptForm?

    @OptionGroup var daemon: DaemonChoice
    @OptionGroup var options: TransactionOptions

    func validate() throws {
        if let of { _ = try PaymentName(of) }
        if of == nil || !amount.isEmpty { _ = try parsedMoney(amount) }
        if of == nil, reason != nil { throw ValidationError("Give --reason with --of only.") }
        if of == nil, card != .none { throw ValidationError("Give --card with --of only.") }
        if card == .any, reason == nil { throw ValidationError("Give --reason with --card any.") }
    }

    func run() async throws {
        if let of {
            return try await refund(try await PaymentName(of).id(with: daemon.client))
        }
        let money = try parsedMoney(amount)
        try await options.run(
            TransactionRequest(type: .refund, amount: money), label: .refund, receipt: receipt, with: daemon.client)
    }
}

extension Refund {
    private func refund(_ original: TransactionID) async throws {
        let money = try amount.isEmpty ? Money.none : parsedMoney(amount)
        var request = TransactionRequest(type: .refund, amount: money)
        request.of = original
        request.refundReason = reason
        if card != .none {
            request.card = card
            guard options.dryRun else {
                return try await options.run(request, label: .refund, receipt: receipt, with: daemon.client)
            }
            (request.lane, request.deadline) = (options.lane, options.deadline)
        }
        request.order = options.order
        request.language = options.language
        if options.dryRun {
            let answer: OperationDryRun
            do throws(TapClientError) { answer = try await daemon.client.tryRefund(request) } catch {
                throw Failure(error)
            }
            if options.json { return try StandardOutput.print(json: answer) }
            return StandardOutput.print(answer.summary)
        }
        let transaction: Transaction
        do throws(TapClientError) {
            transaction = try await daemon.client.refund(request, key: options.idempotencyKey ?? UUID().uuidString)
        } catch {
            throw Failure(error)
        }
        if options.json {
            try StandardOutput.print(json: transaction)
        } else {
            StandardOutput.print(CommandLabel.refund.summary(transaction))
        }
        switch transaction.state {
        case .approved: break
        case .declined: throw ExitCode.declined
        case .created, .sent, .unknown: throw ExitCode.unknownOutcome
        case .preparing, .armed, .reading, .sealed, .stored, .delivered, .cancelled, .failed, .reversing, .reversed,
            .completed:
            throw ExitCode.notCompleted
        }
    }
}

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Asks the issuer whether the presented card is valid.",
        discussion: """
            No amount is involved. With --open-tab and --text, --maximum and --until the card is stored for one charge, at the end of the tab: \
            nfc-tap charge CARD 48.50 EUR --agreement ID. Exit codes: 0 valid, 10 not valid, 12 unknown, 13 not completed.
            """)

    @Flag(help: "Tell the issuer that the card opens a tab.")
    var openTab = false

    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var check: CheckOptions

    func validate() throws {
        guard agreement.text != nil || agreement.maximum != nil || agreement.until != nil else { return }
        guard openTab, agreement.text != nil, agreement.maximum != nil, agreement.until != nil else {
            throw ValidationError("Give --open-tab, --text, --maximum and --until together, or none of them.")
        }
    }

    func run() async throws {
        guard agreement.text != nil else { return try await check.run(openTab ? .openTab : .other, .verify) }
        var terms = try agreement.terms(check.options.language)
        terms.once = true
        try await check.run(.openTab, .storeCard, agreement: terms)
    }
}

struct LookUp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "look-up", abstract: "Looks up earlier transactions of the presented card.",
        discussion: """
            Prints your service's name for the card, if it gives one: the name is the same for each read of the card \
            by this merchant. Then prints the card's newest transactions in this shop. Never shows the card number. Exit codes: 0 read, 10 declined, 12 unknown, 13 not completed.
            """)

    @OptionGroup var check: CheckOptions

    func run() async throws { try await check.run(.lookUp, .lookUp) }
}

/// What the reads without an amount have in common.
struct CheckOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Currency of the shop, three letters; default: NFC_TAP_CURRENCY, then EUR.", valueName: "code"))
    var currency: String?

    @OptionGroup var daemon: DaemonChoice
    @OptionGroup var options: TransactionOptions

    func run(_ reason: VerificationReason, _ label: CommandLabel, agreement: AgreementTerms? = nil) async throws {
        let code = (currency ?? AmountText.usualCurrency ?? "EUR").uppercased()
        guard let currency = Currency(code) else {
            throw ValidationError("\(AmountText.Problem.unknownCurrency(code)).")
        }
        var request = TransactionRequest(type: .verification, amount: Money(value: 0, currency: currency))
        request.reason = reason
        request.agreement = agreement
        try await options.run(request, label: label, with: daemon.client)
    }
}

extension EarlierTransaction {
    /// The state; an approval by what was approved.
    private func word(in language: Language) -> String {
        guard state == .approved else { return language.text(.state(state)) }
        switch type {
        case .refund: return language.text(.refunded)
        case .verification: return language.text(.verified)
        case .purchase, .loyalty, .charge, .link, .handover:
            return language.text((remaining ?? 0) > 0 && refundable ?? 0 == 0 ? .held : .approved)
        }
    }

    fileprivate func summary(in language: Language) -> String {
        [at.description, word(in: language), language.text(amount), order ?? "", id.text].filter { !$0.isEmpty }
            .map(language.inOrder).joined(separator: "  ")
    }
}

/// The words in which a command reports a transaction: all but `payment` avoid every word for payments.
enum CommandLabel {
    case payment, refund, verify, lookUp, storeCard

    /// As the command that began it says it.
    init(of transaction: Transaction) {
        switch transaction.type {
        case .refund: self = .refund
        case .verification:
            switch transaction.details?.reason {
            case .lookUp: self = .lookUp
            case .saveCard: self = .storeCard
            case .openTab, .other, nil: self = .verify
            }
        case .purchase, .loyalty, .charge, .link, .handover: self = .payment
        }
    }

    /// The outcome in capital letters.
    func headline(_ transaction: Transaction, in language: Language = .spoken) -> String {
        if self == .payment { return transaction.headline(in: language) }
        return switch transaction.state {
        case .approved: language.text(approved(transaction))
        case .declined: language.text(.declined)
        case .stored: language.text(.waiting)
        case .delivered: language.text(.handedOver)
        case .unknown, .sent: language.text(.unknown)
        case .reversing, .reversed: language.text(.reversed)
        case .cancelled: language.text(.cancelled)
        case .failed: language.text(.notCompleted)
        case .created, .preparing, .armed, .reading, .sealed, .completed: language.text(.state(transaction.state))
        }
    }

    private func approved(_ transaction: Transaction) -> SummaryWord {
        switch self {
        case .payment: transaction.result?.outcome == .partiallyApproved ? .partiallyApproved : .approved
        case .refund: .refunded
        case .verify: .verified
        case .lookUp: .lookedUp
        case .storeCard: transaction.credential == nil ? .cardNotStored : .cardStored
        }
    }

    /// As `Transaction.summary`, in words of its own.
    func summary(_ transaction: Transaction, in language: Language = .spoken) -> String {
        if self == .payment { return transaction.summary(in: language) }
        let card = transaction.card?.description ?? language.text(.noCard)
        var lines = ["\(headline(transaction, in: language))  \(card)"]
        if self == .refund {
            lines[0] += "  " + language.text(transaction.result?.amountApproved ?? transaction.amount)
        }
        if let token = transaction.card?.token { lines.append(language.line(.card, token)) }
        if let stored = transaction.credential {
            lines.append(language.line(.storedCard, "\(stored.id)"))
            for agreement in stored.agreements where agreement.transaction == transaction.id {
                lines.append("  \(agreement.summary)")
            }
        }
        lines += (transaction.earlier ?? []).map { language.line(.earlier, $0.summary(in: language)) }
        if let code = transaction.result?.approvalCode { lines.append(language.line(.approvalCode, code)) }
        if let code = transaction.result?.responseCode { lines.append(language.line(.responseCode, code)) }
        if let reason = transaction.result?.reason { lines.append(language.line(.reason, reason.text(in: language))) }
        if let error = transaction.error { lines += error.neutralLines(in: language) }
        lines.append(language.line(.transaction, "\(transaction.id)"))
        if transaction.mode == .test { lines.append("  " + language.text(.testMode)) }
        return lines.joined(separator: "\n")
    }
}
