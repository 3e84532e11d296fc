// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

struct StoreCard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store-card", abstract: "Stores the presented card with your service for later.",
        discussion: """
            Show the customer beforehand what the card is stored for. --text names a file with that text as it was shown; \
            --consent gives it in a few words instead. The text is kept as proof before the card is read. \
            Exit codes: 0 stored, 10 declined, 12 unknown, 13 not completed, or read and not stored by the service.
            """)

    @OptionGroup var agreement: AgreementOptions

    @Option(help: ArgumentHelp("Instead of --text: how the customer was informed, and agreed.", valueName: "text"))
    var consent: String?

    @OptionGroup var check: CheckOptions

    func validate() throws {
        guard (consent == nil) != (agreement.text == nil) else {
            throw ValidationError("Give --text, a file with what the customer was shown, or --consent.")
        }
        if consent?.isEmpty == true { throw ValidationError("--consent must say how the customer agreed.") }
    }

    func run() async throws {
        let language = check.options.language
        let terms =
            if let consent { try agreement.terms(saying: consent, language) } else { try agreement.terms(language) }
        try await check.run(.saveCard, .storeCard, agreement: terms)
    }
}

/// What a customer agrees to.
struct AgreementOptions: ParsableArguments {
    @Option(
        name: .customLong("agreement"),
        help: ArgumentHelp(
            "Purpose: recurring, instalment, unscheduled, delayedCharge or noShow.", valueName: "kind"),
        transform: { text in
            guard let kind = AgreementTerms.Kind(rawValue: text) else {
                throw ValidationError("Give recurring, instalment, unscheduled, delayedCharge or noShow.")
            }
            return kind
        })
    var kind = AgreementTerms.Kind.unscheduled

    @Option(
        help: ArgumentHelp("File with the text as the customer was shown it; - is standard input.", valueName: "file"))
    var text: String?

    @Option(help: ArgumentHelp("Largest amount of one charge.", valueName: "amount currency"))
    var maximum: String?

    @Option(help: ArgumentHelp("When the agreement ends, such as 2027-11-22T00:00:00.000Z.", valueName: "time"))
    var until: String?

    @Option(
        help: ArgumentHelp("With recurring: daily, weekly, monthly, quarterly or yearly.", valueName: "word"),
        transform: { text in
            guard let cycle = AgreementTerms.Cycle(rawValue: text) else {
                throw ValidationError("Give daily, weekly, monthly, quarterly or yearly.")
            }
            return cycle
        })
    var cycle: AgreementTerms.Cycle?

    /// - Parameter language: of the text; `nil` where nobody says.
    func terms(_ language: String?) throws -> AgreementTerms {
        guard let text else { throw ValidationError("Give --text, a file with what the customer was shown.") }
        return try terms(saying: try InputFile.text(at: text), language)
    }

    func terms(saying text: String, _ language: String?) throws -> AgreementTerms {
        var terms = AgreementTerms(kind, text: text, language: language ?? "und")
        terms.maximum = try maximum.map { try parsedMoney([$0]) }
        terms.until = try until.map {
            guard let time = Timestamp($0) else { throw ValidationError("\($0) is not a time; see the help.") }
            return time
        }
        terms.cycle = cycle
        return terms
    }
}

struct Charge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Charges a stored card under an agreement of its holder.",
        discussion: """
            Needs an administrator, or a member of the group in [credentials]; other users get exit code 14, but for a tab that \
            they have opened. Without --key each call is a new charge. Exit codes: 0 approved, 10 declined or reversed, 12 unknown (look it up before charging \
            again), 13 not completed, 65 no agreement allows it.
            """)

    @Argument(help: ArgumentHelp("The stored card's id.", valueName: "id"))
    var id: String

    @Argument(help: ArgumentHelp("Amount and currency, such as 19.00 EUR.", valueName: "amount currency"))
    var amount: [String]

    @Option(help: ArgumentHelp("The agreement's id.", valueName: "id"))
    var agreement: String

    @Option(
        help: ArgumentHelp(
            "Why: recurring, instalment or unscheduled; with --of also delayedCharge, noShow, resubmission, reauthorisation or partialShipment. Default: unscheduled.",
            valueName: "word"),
        transform: { text in
            guard let reason = ChargeOptions.Reason(rawValue: text) else {
                throw ValidationError("\(text) is not a reason; see the help.")
            }
            return reason
        })
    var reason = ChargeOptions.Reason.unscheduled

    @Option(help: ArgumentHelp("The transaction that this charge follows.", valueName: "id"))
    var of: String?

    @Flag(help: "The customer wishes it, who is there without the card; the payment service has to allow that.")
    var customer = false

    @Option(help: ArgumentHelp("Your reference for the sale.", valueName: "text"))
    var order: String?

    @Flag(help: "Charge the order even if it is already paid.")
    var allowRepeat = false

    @Option(
        help: ArgumentHelp(
            "Key of this charge. Repeating the command with the same key never charges twice.", valueName: "text"))
    var key: String?

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print the transaction as JSON.")
    var json = false

    func run() async throws {
        guard let card = StoredCardID(rawValue: id) else {
            throw ValidationError("\(id) is not a stored card's id; give a UUID.")
        }
        guard let agreement = AgreementID(rawValue: agreement) else {
            throw ValidationError("\(self.agreement) is not an agreement's id; give a UUID.")
        }
        var original: TransactionID?
        if let of { original = try await PaymentName(of).id(with: daemon.client) }
        var request = TransactionRequest(type: .charge, amount: try parsedMoney(amount))
        request.charge = ChargeOptions(
            card, under: agreement, customer ? .customer : .merchant, reason, of: original)
        request.order = order
        request.allowRepeat = allowRepeat ? true : nil
        let transaction = try await TransactionOptions.watch(
            request, idempotencyKey: key, narrator: Narrator(isSilent: json), with: daemon.client)
        try transaction.conclude(asJSON: json)
    }
}

struct StoredCards: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stored-cards", abstract: "Lists, shows and deletes stored cards and their agreements.",
        discussion:
            "Needs an administrator, or a member of the group in [credentials]; other users get exit code 14.",
        subcommands: [List.self, Show.self, Delete.self, Agree.self, End.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists stored cards, newest first.")

        @Option(help: ArgumentHelp("Only the card to which your service gave this token.", valueName: "token"))
        var token: String?

        @OptionGroup var report: StoredCardReport

        func run() async throws {
            let cards: [StoredCard]
            do throws(TapClientError) { cards = try await report.daemon.client.storedCards(token: token) } catch {
                throw Failure(error)
            }
            if report.json { return try StandardOutput.print(json: StoredCardList(cards)) }
            for card in cards { StandardOutput.print(card.summary) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a stored card with its agreements.")

        @Argument(help: ArgumentHelp("The stored card's id.", valueName: "id"))
        var id: String

        @OptionGroup var report: StoredCardReport

        func run() async throws {
            try await report.show(id) { (client, id) throws(TapClientError) in try await client.storedCard(id) }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deletes a stored card here and at your service.",
            discussion: "The card cannot be charged any more. Its agreements are kept as proof.")

        @Argument(help: ArgumentHelp("The stored card's id.", valueName: "id"))
        var id: String

        @OptionGroup var report: StoredCardReport

        func run() async throws {
            try await report.show(id) { (client, id) throws(TapClientError) in try await client.deleteStoredCard(id) }
        }
    }

    struct Agree: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Adds an agreement to a stored card.")

        @Argument(help: ArgumentHelp("The stored card's id.", valueName: "id"))
        var id: String

        @OptionGroup var agreement: AgreementOptions

        @Option(help: ArgumentHelp("Language of the text, for example de.", valueName: "tag"))
        var language: String?

        @Option(
            help: ArgumentHelp(
                "Key of this agreement. Repeating the command with the same key makes no second agreement.",
                valueName: "text"))
        var key: String?

        @OptionGroup var report: StoredCardReport

        func run() async throws {
            let terms = try agreement.terms(language)
            let card = try report.id(id)
            let agreed: Agreement
            do throws(TapClientError) {
                agreed = try await report.daemon.client.agree(terms, about: card, key: key ?? TransactionID().text)
            } catch {
                throw Failure(error)
            }
            if report.json { return try StandardOutput.print(json: agreed) }
            StandardOutput.print(agreed.summary)
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "end-agreement", abstract: "Ends an agreement: the card is no longer charged under it.")

        @Argument(help: ArgumentHelp("The agreement's id.", valueName: "id"))
        var id: String

        @OptionGroup var report: StoredCardReport

        func run() async throws {
            guard let agreement = AgreementID(rawValue: id) else {
                throw ValidationError("\(id) is not an agreement's id; give a UUID.")
            }
            let ended: Agreement
            do throws(TapClientError) { ended = try await report.daemon.client.endAgreement(agreement) } catch {
                throw Failure(error)
            }
            if report.json { return try StandardOutput.print(json: ended) }
            StandardOutput.print(ended.summary)
        }
    }
}

/// The daemon that is asked, and how its answer is shown.
struct StoredCardReport: ParsableArguments {
    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print JSON.")
    var json = false

    func id(_ text: String) throws -> StoredCardID {
        guard let id = StoredCardID(rawValue: text) else {
            throw ValidationError("\(text) is not a stored card's id; give a UUID.")
        }
        return id
    }

    func show(
        _ text: String, _ call: (TapClient, StoredCardID) async throws(TapClientError) -> StoredCard
    ) async throws {
        let id = try id(text)
        let card: StoredCard
        do throws(TapClientError) { card = try await call(daemon.client, id) } catch { throw Failure(error) }
        if json { return try StandardOutput.print(json: card) }
        StandardOutput.print(card.summary)
    }
}

extension StoredCard {
    /// For people: without the token, which a terminal's history would keep.
    var summary: String {
        var lines = ["\(state.rawValue.uppercased())  \(card)" + (expires.map { "  – \($0)" } ?? "")]
        lines.append(Language.spoken.line(.storedCard, "\(id)"))
        lines += agreements.map { "  " + $0.summary.replacingLineBreaks }
        if mode == .test { lines.append("  " + Language.spoken.text(.testMode)) }
        return lines.joined(separator: "\n")
    }
}

extension Agreement {
    var summary: String {
        var parts = ["--agreement \(id)", kind.rawValue]
        if let maximum { parts.append("≤ \(Language.spoken.text(maximum))") }
        if let until { parts.append("– \(until)") }
        if let end, let endedAt { parts.append("\(end.rawValue) \(endedAt)") }
        return parts.joined(separator: "  ")
    }
}

extension String {
    fileprivate var replacingLineBreaks: String { String(map { $0.isNewline ? " " : $0 }) }
}
