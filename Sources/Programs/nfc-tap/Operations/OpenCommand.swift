// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Shows and settles what is open and needs a person: payments that no answer has ended.",
        discussion: """
            A payment that was sent ends only with an answer of the payment service that was asked. Without such an \
            answer the payment is an open item: ask the payment service by telephone or in its portal, then settle the \
            item. Settling needs an administrator.
            """,
        subcommands: [OpenList.self, OpenSettle.self], defaultSubcommand: OpenList.self)
}

struct OpenList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists what needs a person, oldest first; nfc-tap totals shows all that is open."
    )

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let list: OpenItemList
        do throws(TapClientError) { list = try await daemon.client.openItems() } catch { throw Failure(error) }
        if json { return try StandardOutput.print(json: list) }
        StandardOutput.print(list.summary)
    }
}

struct OpenSettle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settle", abstract: "Ends an open item as the payment service has told you.",
        discussion: """
            charged: the transaction ends approved; with an amount, in part. notCharged: it ends reversed, or declined \
            if it was stored. The note is kept with the transaction and in the audit chain.
            """)

    @Option(
        name: .customLong("as"), help: ArgumentHelp("How it ended: charged or notCharged.", valueName: "outcome"),
        transform: { text in
            guard let outcome = Settlement.Outcome(rawValue: text) else {
                throw ValidationError("Give charged or notCharged.")
            }
            return outcome
        })
    var outcome: Settlement.Outcome

    @Option(
        help: ArgumentHelp(
            "How much was charged, if it was less than what was asked for.", valueName: "amount currency"))
    var amount: String?

    @Option(help: ArgumentHelp("How you know, in one line, without a card number.", valueName: "text"))
    var note: String

    @OptionGroup var choice: TransactionChoice

    func run() async throws {
        let id = try await choice.transaction
        let part = try amount.map { try parsedMoney([$0]) }
        let after: Transaction
        do throws(TapClientError) {
            after = try await choice.daemon.client.settle(id, as: outcome, amount: part, note: note)
        } catch {
            throw Failure(error)
        }
        try choice.print(after)
    }
}

extension OpenItemList {
    /// For a person: each item with what happened, what may be charged where, and what to do.
    var summary: String {
        guard count > 0 else { return "nothing needs a person; nfc-tap totals shows what is open" }
        var lines = [
            "\(count) payment\(count == 1 ? " needs" : "s need") a person"
                + (count > items.count ? ", the oldest of them:" : "")
        ]
        for item in items { lines += ["", item.summary] }
        return lines.joined(separator: "\n")
    }
}

extension OpenItem {
    var summary: String {
        let order = order.map { "  order \($0)" } ?? ""
        let reference = pspReference.map { "  reference \($0)" } ?? ""
        var lines = [
            "\(transaction)  \(amount)  \(card?.description ?? "")  \(type.rawValue) of \(createdAt)\(order)",
            "  \(error.message), \(state.rawValue), open since \(since)",
        ]
        if let service { lines.append("  asked of \(service.serviceName) at \(service.socket)\(reference)") }
        lines.append("  \(error.remedy)")
        if reason == .otherService, let service {
            lines += [
                "    [[former-service]]", "    service-name = \"\(service.serviceName)\"",
                "    socket = \"\(service.socket)\"",
            ]
        }
        lines.append("  nfc-tap open settle \(transaction) --as charged|notCharged --note \"…\"")
        return lines.joined(separator: "\n")
    }
}
