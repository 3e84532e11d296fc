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
        StandardOutput.print(list.summary(in: .spoken))
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
    fileprivate func summary(in language: Language) -> String {
        guard count > 0 else { return language.text(.nothingOpen, [.command: "nfc-tap totals"]) }
        let more = count > items.count ? "  (+ \(count - items.count) \(language.text(.report(.openMore))))" : ""
        let head = language.text(.needPerson, [.payments: "\(count)"]) + more
        return ([head] + items.flatMap { ["", $0.summary(in: language)] }).joined(separator: "\n")
    }
}

extension OpenItem {
    fileprivate func summary(in language: Language) -> String {
        let head = [
            transaction.text, language.text(amount), card?.description, type.title(in: language), "\(createdAt)",
            order.map { "\(language.text(.receipt(.order))) \(language.inOrder($0))" },
        ]
        let told = error.told(
            in: language,
            instead: ("\(language.text(.openEntry(.stuck))) (\(error.code))", language.tillText("open.person")))
        let happened = [
            told.what, language.text(.state(state)), language.text(.openSince, [.date: "\(since)"]),
        ]
        var lines = [
            head.compactMap { $0.map(language.inOrder) }.joined(separator: "  "),
            "  " + happened.joined(separator: ", "),
        ]
        if let service {
            let reference = pspReference.map {
                "  \(language.text(.receipt(.reference))) \(language.inOrder($0))"
            }
            let asked = language.text(.askedOf, [.name: service.serviceName, .address: service.socket])
            lines.append("  " + asked + (reference ?? ""))
        }
        lines.append("  " + told.remedy)
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
