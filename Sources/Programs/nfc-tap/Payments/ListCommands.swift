// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists transactions, newest first.",
        discussion: "Lists transactions that match every option. Without --all, lists the newest fifty.")

    @Option(
        help: ArgumentHelp("Created at this time or later, as 2026-11-22T00:00:00Z.", valueName: "time"),
        transform: time)
    var from: Timestamp?

    @Option(help: ArgumentHelp("Created before this time.", valueName: "time"), transform: time)
    var to: Timestamp?

    @Option(help: ArgumentHelp("In this state; may be repeated.", valueName: "state"), transform: word)
    var state: [TransactionState] = []

    @Option(
        help: ArgumentHelp("Of this type: purchase, refund, verification or loyalty.", valueName: "type"),
        transform: word)
    var type: TransactionType?

    @Option(help: ArgumentHelp("Of this order.", valueName: "order"))
    var order: String?

    @Option(help: ArgumentHelp("On this lane.", valueName: "lane"))
    var lane: String?

    @Option(help: ArgumentHelp("Of this cashier.", valueName: "name"))
    var cashier: String?

    @Option(help: ArgumentHelp("With the card of this token.", valueName: "token"))
    var token: String?

    @Option(help: ArgumentHelp("Of this amount in minor units, with --currency.", valueName: "number"))
    var amount: Int64?

    @Option(help: ArgumentHelp("In this currency.", valueName: "code"), transform: currencyCode)
    var currency: Currency?

    @Flag(help: "Only what is open: it has not ended, holds a sum, or needs a person.")
    var open = false

    @Flag(help: "List all transactions, page after page.")
    var all = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var daemon: DaemonChoice

    func run() async throws {
        var filter = TransactionFilter()
        (filter.from, filter.to, filter.states, filter.type) = (from, to, state, type)
        (filter.order, filter.lane, filter.cashier, filter.token) = (order, lane, cashier, token)
        (filter.minimumAmount, filter.maximumAmount, filter.currency) = (amount, amount, currency)
        filter.isOpen = open
        var found: [Transaction] = []
        var page: TransactionList
        var next: String?
        repeat {
            do throws(TapClientError) {
                page = try await daemon.client.transactions(filter, limit: all ? 100 : 50, after: next)
            } catch {
                throw Failure(error)
            }
            found += page.transactions
            next = page.next
            // Printed as it comes: the books of years are more than the memory of a till.
            if all, !json {
                for transaction in page.transactions { StandardOutput.print(transaction.line) }
                found = []
            }
        } while all && next != nil
        if json {
            return try StandardOutput.print(
                json: TransactionList(transactions: found, next: next, changes: page.changes))
        }
        for transaction in found { StandardOutput.print(transaction.line) }
        if next != nil { StandardOutput.print("+ \(Language.spoken.text(.report(.openMore))): --all") }
    }

    private static func time(_ text: String) throws -> Timestamp {
        guard let time = Timestamp(text) else {
            throw ValidationError("\(text) is not a time; write 2026-11-22T00:00:00Z.")
        }
        return time
    }

    private static func currencyCode(_ text: String) throws -> Currency {
        guard let currency = Currency(text) else {
            throw ValidationError("\(text) is not a currency; write three letters, such as EUR.")
        }
        return currency
    }

    private static func word<Word: RawRepresentable<String>>(_ text: String) throws -> Word {
        guard let word = Word(rawValue: text) else {
            throw ValidationError("\(text) is not one of the values; see the help.")
        }
        return word
    }
}

struct LastCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "last", abstract: "Shows the newest transaction of a lane.",
        discussion: "Compare amount and time to be sure that it is the transaction you mean.")

    @Argument(help: ArgumentHelp("The lane.", valueName: "lane"))
    var lane: String

    @Flag(help: "Skip a transaction that is still running.")
    var settled = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var daemon: DaemonChoice

    func run() async throws {
        let transaction: Transaction
        do throws(TapClientError) {
            transaction = try await daemon.client.last(of: lane, isSettled: settled)
        } catch {
            throw Failure(error)
        }
        if json { return try StandardOutput.print(json: transaction) }
        StandardOutput.print(CommandLabel(of: transaction).summary(transaction))
    }
}

extension Transaction {
    /// One line of a list, with the outcome as `last` has it.
    fileprivate var line: String {
        let language = Language.spoken
        let parts = [
            number.map { "\($0)" }, "\(createdAt)", "\(id)", type.title(in: language),
            type == .loyalty ? nil : language.text(amount),
            CommandLabel(of: self).headline(self, in: language), lane, card.map { "\($0)" },
            order.map { "\(language.text(.receipt(.order))) \(language.inOrder($0))" },
        ]
        return parts.compactMap { $0.map(language.inOrder) }.joined(separator: "  ")
    }
}

extension TransactionType {
    /// As a receipt is headed.
    func title(in language: Language) -> String {
        switch self {
        case .purchase, .charge, .handover: language.text(.receipt(.titlePayment))
        case .refund: language.text(.receipt(.titleRefund))
        case .verification: language.text(.receipt(.titleCheck))
        case .link: language.text(.receipt(.titleLink))
        case .loyalty: language.tillText("till.passes")
        }
    }
}
