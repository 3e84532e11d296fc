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
        for line in status.lines(in: .spoken) { StandardOutput.print(line) }
    }
}

extension Status {
    /// For a person, in the words of the till. What is wrong with keys, books and their disk is an administrator's, and English.
    fileprivate func lines(in language: Language) -> [String] {
        let mode = language.text(mode == .test ? .test : .live)
        let adapter: StatusPhrase =
            switch psp.state {
            case .unknown: .notAsked
            case .up: .up
            case .down: .down
            }
        var lines = [language.line(.mode, "\(mode)  (nfc-tapd \(version))")] + credentials(in: language)
        lines.append(language.line(.adapter, language.text(adapter)))
        lines += queue.lines(in: language) + (journal?.lines ?? [])
        if let items = openItems, items.count > 0 {
            let many = language.text(.needPerson, [.payments: "\(items.count)"])
            let oldest = items.oldest.map { ", " + language.text(.oldest, [.date: "\($0)"]) } ?? ""
            lines.append(language.line(.settle, "\(many)\(oldest): nfc-tap open"))
        }
        return lines + lanes.flatMap { $0.lines(in: language) }
    }

    /// Terms and profile, and what blocks payments.
    private func credentials(in language: Language) -> [String] {
        let word: StatusPhrase =
            switch terms {
            case .notRequired: .termsNotRequired
            case .notAccepted: .termsNotAccepted
            case .accepted: .termsAccepted
            case .revoked: .termsRevoked
            }
        let page = termsPage.map { ", " + language.text(.acceptAt, [.address: $0]) } ?? ""
        var lines = [language.line(.terms, language.text(word) + page)]
        if let profile {
            let parts = [
                language.text(.profileOf, [.code: "\(profile.serial)", .name: profile.displayName]),
                profile.signed
                    ? language.text(.signedBy, [.name: profile.serviceName]) : language.text(.notSigned),
                language.text(.expires, [.date: "\(profile.expiresAt)"]),
            ]
            lines.append(language.line(.profile, parts.joined(separator: ", ")))
            if let date = profile.deprecatedFrom {
                lines.append(language.line(nil, language.text(.acceptedUntil, [.date: "\(date)"])))
            }
        }
        if let networks { lines.append(language.line(.cards, networks.joined(separator: ", "))) }
        if let terminals { lines.append(language.line(.others, terminals.joined(separator: ", "))) }
        if let error = profileError {
            let field = error.field.map { " (\($0))" } ?? ""
            let why = "\(error.told(in: language).what)\(field): \(error.told(in: language).remedy)"
            lines.append(language.line(nil, language.text(.profileRefused, [.note: why])))
        }
        for key in refusedKeys ?? [] {
            lines.append("KEY      \(key.key) of the \(key.source.rawValue) is not used: \(key.reason)")
        }
        if let blocked {
            lines.append(language.line(.blocked, blocked.line(in: language)))
        }
        return lines
    }
}

extension LaneStatus {
    fileprivate func lines(in language: Language) -> [String] {
        let parts = [
            language.tillText("lane.\(state.rawValue)"),
            reader.map { language.inOrder($0.model) } ?? language.text(.noReader),
            holder.map { language.text(.heldBy, [.name: "\($0.owner)", .date: "\($0.since)"]) },
        ]
        var lines = [language.line(.lane, "\(name): " + parts.compactMap(\.self).joined(separator: ", "))]
        if let error {
            lines.append(language.line(nil, error.line(in: language)))
        }
        if let notice {
            let versions = [reader?.firmware, reader?.minimumFirmware].compactMap(\.self).joined(separator: " < ")
            let told = "\(notice.told(in: language).what) (\(versions)): \(notice.told(in: language).remedy)"
            lines.append(language.line(nil, told))
        }
        return lines
    }
}

extension Status.Journal {
    /// The lines for an administrator; none where nothing is wrong.
    fileprivate var lines: [String] {
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
    fileprivate func lines(in language: Language) -> [String] {
        var parts = [stored.map { language.text(.storedCount, [.payments: "\($0)"]) } ?? language.text(.storedUnknown)]
        if let oldest { parts.append(language.text(.oldest, [.date: "\(oldest)"])) }
        if overdue == true { parts.append(language.text(.overdue)) }
        parts.append(language.text(.reversals, [.payments: "\(reversals)"]))
        var lines = [language.line(.queue, parts.joined(separator: ", "))]
        if let error {
            let why = error.line(in: language)
            lines.append(language.line(nil, language.text(.unreadable, [.note: why])))
        }
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
