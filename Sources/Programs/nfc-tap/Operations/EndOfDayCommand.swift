// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import Printing
import Receipt
import TapClient

struct TotalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "totals", abstract: "Shows the sums of a business day and what is open. Closes nothing.")

    @Option(
        help: ArgumentHelp("Group by scheme, type, lane or cashier; separate several with commas.", valueName: "words"))
    var by = "scheme"

    @Option(help: ArgumentHelp("A closed day, by its number.", valueName: "number"))
    var day: Int64?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var daemon: DaemonChoice

    func run() async throws {
        var groups: [TotalsGroup] = []
        for word in by.split(separator: ",") {
            guard let group = TotalsGroup(rawValue: String(word)) else {
                throw ValidationError("--by takes scheme, type, lane and cashier.")
            }
            groups.append(group)
        }
        let totals: Totals
        do throws(TapClientError) {
            totals = try await daemon.client.totals(day: day.map { "\($0)" }, by: groups)
        } catch {
            throw Failure(error)
        }
        if json { return try StandardOutput.print(json: totals) }
        StandardOutput.print(totals.summary)
    }
}

struct EndOfDayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end-of-day", abstract: "Closes the business day, and shows closed days.",
        discussion: """
            Sales may go on meanwhile: a payment that is booked after the end of day belongs to the next day. Open \
            payments are printed and stay open. They keep the day open only if the configuration says so.

            If the payment service gives its figures, the command compares the day with them. Exit codes: 0 the \
            figures match or the service gives none, 12 they are not there yet, 15 they differ.
            """,
        subcommands: [EndOfDayClose.self, EndOfDayShow.self, EndOfDayList.self, EndOfDayResolve.self],
        defaultSubcommand: EndOfDayClose.self)
}

struct EndOfDayClose: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close", abstract: "Closes the business day and prints its report.")

    @Option(help: ArgumentHelp("The shop's name for the day; default: today's date.", valueName: "text"))
    var label: String?

    @Flag(help: "Close the day although open payments would keep it open.")
    var force = false

    @Option(
        help: ArgumentHelp(
            "Key of this end of day. Repeating the command with the same key closes no further day; without a key each call is a new end of day.",
            valueName: "key"))
    var key: String?

    @Option(help: ArgumentHelp("Seconds to wait for the payment service's figures.", valueName: "seconds"))
    var wait = 20

    @OptionGroup var form: ReportForm
    @OptionGroup var daemon: DaemonChoice

    func validate() throws {
        guard Limits.waitSeconds.contains(wait) else { throw ValidationError("--wait takes 0 to 600.") }
    }

    func run() async throws {
        let end: EndOfDay
        do throws(TapClientError) {
            end = try await daemon.client.closeDay(
                key: key ?? TransactionID().text, label: label, isForced: force, waiting: wait)
            try await form.print(end, isCopy: false, with: daemon.client)
        } catch {
            throw Failure(error)
        }
        if let code = end.exitCode { throw code }
    }
}

struct EndOfDayShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Prints the report of a closed day again, marked as a copy.")

    @Argument(help: ArgumentHelp("The day's number.", valueName: "number"))
    var day: Int64

    @OptionGroup var form: ReportForm
    @OptionGroup var daemon: DaemonChoice

    func run() async throws {
        let end: EndOfDay
        do throws(TapClientError) {
            end = try await daemon.client.endOfDay("\(day)")
            try await form.print(end, isCopy: true, with: daemon.client)
        } catch {
            throw Failure(error)
        }
        if let code = end.exitCode { throw code }
    }
}

struct EndOfDayResolve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract:
            "Settles a day whose figures differ from the payment service's, or whose figures the service never gave.",
        discussion: "Needs an administrator. Changes nothing in the books, and keeps the note with the day.")

    @Argument(help: ArgumentHelp("The day's number.", valueName: "number"))
    var day: Int64

    @Option(help: ArgumentHelp("What you found out, and where.", valueName: "text"))
    var note: String

    @OptionGroup var form: ReportForm
    @OptionGroup var daemon: DaemonChoice

    func run() async throws {
        do throws(TapClientError) {
            let end = try await daemon.client.resolveDay("\(day)", note: note)
            try await form.print(end, isCopy: true, with: daemon.client)
        } catch {
            throw Failure(error)
        }
    }
}

extension EndOfDay {
    /// `nil` where nobody has to do anything.
    fileprivate var exitCode: ExitCode? {
        switch day.state {
        case .open, .balanced: nil
        case .closed: service?.next == nil ? nil : .unknownOutcome
        case .differs: .figuresDiffer
        case .unconfirmed: .unknownOutcome
        }
    }
}

struct EndOfDayList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists business days, newest first.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var daemon: DaemonChoice

    func run() async throws {
        let days: [BusinessDay]
        do throws(TapClientError) { days = try await daemon.client.days() } catch { throw Failure(error) }
        if json { return try StandardOutput.print(json: DayList(days: days)) }
        for day in days {
            let end = day.closedAt.map { " – \($0)" } ?? ""
            let rest = Language.spoken.inOrder("\(day.label ?? "-")  \(day.openedAt)\(end)")
            StandardOutput.print("\(day.number)  \(day.state.word(in: .spoken))  \(rest)")
        }
    }
}

/// How a report is printed.
struct ReportForm: ParsableArguments {
    @Option(
        name: .customLong("print"),
        help: ArgumentHelp("Number of the printer's columns, 32 to 48.", valueName: "number"))
    var width = 42

    @Option(
        help: ArgumentHelp("Language of the report: \(Language.tags).", valueName: "language"),
        transform: { try choice($0) })
    var language: Language?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard Receipt.widths.contains(width) else { throw ValidationError("--print takes 32 to 48.") }
    }

    func print(_ end: EndOfDay, isCopy: Bool, with client: TapClient) async throws(TapClientError) {
        if json {
            do { return try StandardOutput.print(json: end) } catch { return }
        }
        let report = try await client.endOfDayReport(
            end.day.id, width: width, language: language ?? .spoken, isCopy: isCopy)
        StandardOutput.print(report)
    }
}

extension BusinessDay.State {
    /// As the day's report has it.
    fileprivate func word(in language: Language) -> String {
        let word: ReportWord =
            switch self {
            case .open: .openTitle
            case .closed: .dayClosed
            case .balanced: .serviceBalanced
            case .differs: .serviceDiffers
            case .unconfirmed: .serviceUnconfirmed
            }
        return language.text(.report(word))
    }
}

extension Totals {
    /// In the words of the day's report.
    fileprivate var summary: String {
        let language = Language.spoken
        func word(_ word: ReportWord) -> String { language.text(.report(word)) }
        func sum(_ value: Int64, _ currency: Currency) -> String {
            language.text(Money(value: value, currency: currency))
        }
        func line(_ day: BusinessDay) -> String {
            "\(word(.dayOpen)) \(day.number)  \(day.state.word(in: language))  \(language.inOrder("\(day.openedAt)"))"
        }
        var lines = day.map { [line($0)] } ?? []
        for line in self.lines {
            let group = [line.scheme, line.type?.title(in: language), line.lane, line.cashier].compactMap(\.self)
            let mode = line.mode == .test ? [word(.test)] : []
            lines.append((["\(line.currency)"] + group + mode).joined(separator: "  "))
            func figure(_ name: ReportWord, _ figure: Figure) {
                guard figure != Figure() else { return }
                let count = language.inOrder("\(figure.count)")
                lines.append("  \(word(name))  \(count)  \(sum(figure.value, line.currency))")
            }
            figure(.payments, line.captured)
            figure(.ofThisTips, line.tips)
            figure(.reversed, line.reversed)
            figure(.refunds, line.refunded)
            figure(.corrected, line.corrected)
            figure(.held, line.held)
            figure(.released, line.released)
            figure(.handedOver, line.handedOver)
            lines.append("  \(word(.net))  \(sum(line.net, line.currency))")
        }
        for total in net {
            let mode = total.mode == .test ? " \(word(.test))" : ""
            lines.append("\(word(.net))\(mode)  \(sum(total.value, total.currency))")
        }
        lines += (days ?? []).map(line)
        lines.append("\(word(.openTitle))  \(openCount)")
        for entry in open {
            let number = entry.number.map { "\($0)  " } ?? ""
            let what = language.text(.openEntry(entry.kind))
            let since = language.inOrder("\(entry.since)")
            lines.append("  \(number)\(entry.transaction)  \(what)  \(language.text(entry.amount))  \(since)")
        }
        return lines.joined(separator: "\n")
    }
}
