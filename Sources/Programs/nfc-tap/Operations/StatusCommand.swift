// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows mode, terms, profile, adapter, queue and lanes of the daemon.")

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let status: Status
        do throws(TapClientError) { status = try await daemon.client.status() } catch { throw Failure(error) }
        if json { return try StandardOutput.print(json: status) }
        StandardOutput.print("mode     \(status.mode.rawValue)  (nfc-tapd \(status.version))")
        for line in StatusCommand.credentials(status) { StandardOutput.print(line) }
        StandardOutput.print("adapter  \(status.psp.state.rawValue)")
        for line in status.queue.lines + (status.journal?.lines ?? []) { StandardOutput.print(line) }
        if let items = status.openItems, items.count > 0 {
            let oldest = items.oldest.map { ", the oldest since \($0)" } ?? ""
            StandardOutput.print(
                "settle   \(items.count) open payment\(items.count == 1 ? " needs" : "s need") a person\(oldest): run nfc-tap open"
            )
        }
        for lane in status.lanes {
            let holder = lane.holder.map { ", held by \($0.owner) since \($0.since)" } ?? ""
            StandardOutput.print(
                "lane     \(lane.name): \(lane.state.rawValue), \(lane.reader?.model ?? "no reader")\(holder)")
            if let error = lane.error { StandardOutput.print("         \(error.message): \(error.remedy)") }
            if let notice = lane.notice {
                let versions = [lane.reader?.firmware, lane.reader?.minimumFirmware].compactMap(\.self).joined(
                    separator: " < ")
                StandardOutput.print("         \(notice.message) (\(versions)): \(notice.remedy)")
            }
        }
    }

    /// Terms and profile, and what blocks payments.
    private static func credentials(_ status: Status) -> [String] {
        let page = status.termsPage.map { ", accept them at \($0)" } ?? ""
        var lines = ["terms    \(status.terms.rawValue)\(page)"]
        if let profile = status.profile {
            let origin = profile.signed ? "by \(profile.serviceName)" : "not signed"
            lines.append(
                "profile  \(profile.serial) for \(profile.displayName), \(origin), expires \(profile.expiresAt)")
            if let date = profile.deprecatedFrom { lines.append("         this version is accepted until \(date)") }
        }
        if let networks = status.networks { lines.append("cards    \(networks.joined(separator: ", "))") }
        if let terminals = status.terminals { lines.append("others   \(terminals.joined(separator: ", "))") }
        if let error = status.profileError {
            let field = error.field.map { " (\($0))" } ?? ""
            lines.append("         latest profile refused: \(error.message)\(field): \(error.remedy)")
        }
        for key in status.refusedKeys ?? [] {
            lines.append("KEY      \(key.key) of the \(key.source.rawValue) is not used: \(key.reason)")
        }
        if let error = status.blocked { lines.append("blocked  \(error.message): \(error.remedy)") }
        return lines
    }
}

extension Status.Journal {
    /// The lines for a person; none where nothing is wrong.
    var lines: [String] {
        var lines: [String] = []
        if let error { lines.append("journal  \(error.message): \(cause ?? error.remedy)") }
        if let fault = auditFaults?.first {
            lines.append("audit    does not hold: \(fault); run nfc-tap audit verify")
        }
        if !damaged.isEmpty {
            lines.append(
                "journal  damaged and set apart: \(damaged.joined(separator: ", ")): ask the payment service about it, and compare with the last backup"
            )
        }
        return lines
    }
}

extension Status.Queue {
    /// The lines for a person.
    var lines: [String] {
        let count = stored.map { "\($0) stored" } ?? "stored payments not known"
        let age = oldest.map { ", the oldest since \($0)" + (overdue == true ? ", overdue" : "") } ?? ""
        var lines = ["queue    \(count)\(age), \(reversals) reversals open"]
        if let error { lines.append("         queue not readable: \(error.message): \(error.remedy)") }
        return lines
    }
}

struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Cancels a transaction, or explains why it is too late.",
        discussion: "If the read has already been sent, the daemon reverses the transaction.")

    @OptionGroup var choice: TransactionChoice

    func run() async throws {
        let id = try await choice.transaction
        let answer: CancelAnswer
        do throws(TapClientError) { answer = try await choice.daemon.client.cancel(id) } catch { throw Failure(error) }
        if choice.json { return try StandardOutput.print(json: answer) }
        StandardOutput.print(answer.summary)
    }
}

extension CancelAnswer {
    /// For people: what became of the wish, and the state that the transaction had or has.
    fileprivate var summary: String {
        let word: SummaryWord =
            switch outcome {
            case .cancelled: .cancelled
            case .tooLate: becomesReversal == true ? .tooLateReversed : .tooLate
            case .nothingToCancel: .nothingToCancel
            }
        let state = outcome == .nothingToCancel ? transaction.state : phase
        return Language.spoken.text(word) + (state.map { "  (\(Language.spoken.text(.state($0))))" } ?? "")
    }
}

struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints events as they happen, one JSON object on each line, until it is interrupted.")

    @Flag(help: "Accepted for consistency; the command always runs until it is interrupted.")
    var follow = false

    @OptionGroup var events: EventOptions

    func run() async throws { try await events.print() }
}

/// Which events are printed, and how many.
struct EventOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Start after this event.", valueName: "id"))
    var after: UInt64?

    @Option(help: ArgumentHelp("Stop after this many events.", valueName: "number"))
    var count: Int?

    @Flag(help: "Accepted for consistency; output is always JSON.")
    var json = false

    @OptionGroup var daemon: DaemonChoice

    func print(where isWanted: (Event) -> Bool = { _ in true }) async throws {
        var left = count ?? .max
        guard left > 0 else { return }
        do {
            for try await event in daemon.client.events(after: after) where isWanted(event) {
                try StandardOutput.print(line: event)
                left -= 1
                if left == 0 { return }
            }
        } catch let error as TapClientError {
            throw Failure(error)
        }
    }
}
