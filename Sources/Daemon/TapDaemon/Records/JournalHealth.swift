// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Glibc
import Journal
import Linux
import Logging
import Metrics
import POSAPI
import PaymentValues
import Synchronization

/// Whether a sale could be written down now, and whether what the journal says is what was written.
final class JournalHealth: Sendable {
    private struct State {
        var trouble: JournalError?
        var checkedAt: ContinuousClock.Instant?
        /// What had been written when it was last looked at, and when that was last more than before.
        var commits = 0
        var writtenAt: ContinuousClock.Instant?
        /// Writes that had failed by then.
        var failures = 0
        var damaged: [DamagedPayment] = []
        /// Rows that belong to no payment.
        var damagedRows: [DamagedRow] = []
        /// Tables in which the last look found a fault.
        var faults: [String] = []
        /// Why the last look came to no end.
        var unread: JournalError?
        var examinedAt: Timestamp?
        /// What the last verification of the audit chain found; `nil` before the first.
        var auditFaults: [String]?
    }

    private let state = Mutex(State())
    private let journal: JournalThread
    private let reserve: StorageReserve
    private let folder: String
    private let trail: AuditTrail
    /// That of the installation, for the audit chain.
    private let key: VerificationKey
    private let thread: SerialThread
    private var logger: Logger { trail.logger }
    /// Of a look whose answer is still good for whoever asks.
    private static let freshness: Duration = .seconds(5)
    private static let interval: Duration = .seconds(5)
    /// After a commit that succeeded, which proves what a row of its own would.
    private static let proof: Duration = .seconds(600)
    /// After a start that has looked at everything already.
    private static let firstExamination: Duration = .seconds(600)
    private static let examinationInterval: Duration = .seconds(86_400)
    private static let slice = 200
    /// Of the audit chain; `nfc-tap audit verify` names all.
    private static let toldFaults = 10

    init(
        _ journal: JournalThread, _ reserve: StorageReserve, folder: String, trail: AuditTrail, key: VerificationKey
    ) throws(SystemError) {
        (self.journal, self.reserve, self.folder, self.trail, self.key) = (journal, reserve, folder, trail, key)
        thread = try SerialThread(name: "examination")
    }

    // MARK: - Whether a sale could be written

    /// Why nothing could be written down just now; looked at again where the last look is some seconds old, where a write has
    /// failed since, and where the reserve was given up: without it the next sale could meet the end of the disk.
    func trouble(at now: ContinuousClock.Instant = .now) async -> ErrorCode? {
        let (isFresh, isKnown, failures) = state.withLock { state in
            let isFresh = state.checkedAt.map { $0.duration(to: now) < JournalHealth.freshness } ?? false
            return (isFresh, state.trouble != nil, state.failures)
        }
        let isDoubted = !isKnown && (!reserve.isKept || journal.commitCount.failures > failures)
        if !isFresh || isDoubted { await probe(at: now) }
        return state.withLock { $0.trouble.map { ErrorCode($0) } }
    }

    /// Goes on until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            // The start has looked just now.
            _ = await trouble()
            do { try await Task.sleep(for: JournalHealth.interval) } catch { return }
        }
    }

    /// Looks for what a sale needs: room that is really there, and a write that was really on the disk. Whoever has written
    /// since has proved it; a row is written where a write has failed, or none was made for minutes.
    func probe(at now: ContinuousClock.Instant = .now) async {
        let (commits, failures) = (journal.commitCount.durableCommits, journal.commitCount.failures)
        let (isDoubted, isProved) = state.withLock { state in
            let isDoubted = state.trouble != nil || failures > state.failures
            if commits > state.commits { state.writtenAt = now }
            (state.commits, state.failures) = (commits, failures)
            return (isDoubted, state.writtenAt.map { $0.duration(to: now) < JournalHealth.proof } ?? false)
        }
        if isDoubted { reserve.doubt() }
        let trouble = await JournalHealth.trouble(of: journal, writesRow: isDoubted || !isProved)
        let before = state.withLock { state in
            defer { (state.trouble, state.checkedAt) = (trouble, now) }
            return state.trouble
        }
        guard trouble != before else { return }
        if let trouble {
            logger.critical(
                "journal cannot be written, no sale can be taken",
                metadata: ["error": "\(ErrorCode(trouble).rawValue)", "cause": "\(trouble)"])
        } else {
            logger.notice("journal can be written again")
        }
    }

    private static func trouble(of journal: JournalThread, writesRow: Bool) async -> JournalError? {
        do throws(JournalError) {
            try await journal.use { (journal) throws(JournalError) in
                guard journal.isInPlace else { throw .damaged }
            }
            try await journal.fillReserve()
            guard writesRow else { return nil }
            try await journal.use { (journal) throws(JournalError) in try journal.probe(at: .now) }
            return nil
        } catch {
            return error
        }
    }

    // MARK: - Whether it is as it was written

    /// What a start has to know. Each damaged payment is told of: nothing else brings it to an end.
    func noteDamaged() async throws(JournalError) {
        let damaged = try await journal.use { (journal) throws(JournalError) in try journal.damagedPayments() }
        await note(damaged)
        try await noteDamagedRows()
        try await noteDamagedLogs()
    }

    private func noteDamagedRows() async throws(JournalError) {
        let found = try await journal.use { (journal) throws(JournalError) in try journal.damagedRows() }
        let news = state.withLock { state in
            defer { state.damagedRows = found }
            return found.filter { !state.damagedRows.contains($0) }
        }
        for row in news {
            logger.critical(
                "row damaged in the journal: make a copy, and compare with the last backup", metadata: ["row": "\(row)"]
            )
            await trail.note(AuditEntry(.operation, subject: row.key, detail: "row damaged: \(row)"))
        }
    }

    private func noteDamagedLogs() async throws(JournalError) {
        let kept = Journal.damagedLogs(in: folder)
        guard !kept.isEmpty else { return }
        let (isNew, number) = try await journal.use { (journal) throws(JournalError) in
            (journal.isLogDamaged, try journal.newestNumber())
        }
        let files = kept.joined(separator: " ")
        logger.critical(
            "write-ahead log damaged, payments may be missing: compare with the payment service, then remove the kept file",
            metadata: [
                "folder": "\(folder)", "files": "\(files)",
                "after": "\(isNew ? "number \(number)" : "an earlier start")",
            ])
        guard isNew else { return }
        await trail.note(
            AuditEntry(
                .operation,
                detail:
                    "write-ahead log damaged, payments after number \(number) may be missing: kept as \(kept.last ?? files)"
            ))
    }

    /// How the file, or a log of it, was found damaged or unreadable, and what to do; `nil` where neither was.
    private func fault(_ state: borrowing State) -> String? {
        if let error = state.unread { return "\(error)" }
        guard state.faults.isEmpty else {
            return "damaged in \(state.faults.joined(separator: ", ")): make a copy, and restore the last backup"
        }
        let kept = Journal.damagedLogs(in: folder)
        guard !kept.isEmpty else { return nil }
        return "its log was damaged, payments may be missing: compare with the payment service, then remove "
            + kept.joined(separator: ", ")
    }

    /// Looks at everything once a day, until its task is cancelled.
    ///
    /// - Parameter isQuiet: whether nobody waits for the disk.
    func examineDaily(while isQuiet: @escaping @Sendable () async -> Bool) async {
        do {
            try await Task.sleep(for: JournalHealth.firstExamination)
            while true {
                await examine(while: isQuiet)
                try await Task.sleep(for: JournalHealth.examinationInterval)
            }
        } catch { return }
    }

    /// Looks at every table, every payment and the audit chain, in pieces, each of which gives way to a sale.
    func examine(while isQuiet: @escaping @Sendable () async -> Bool) async {
        do {
            var faults: [String] = []
            let tables = try await journal.use { (journal) throws(JournalError) in try journal.tables() }
            for table in tables where try await !isSound(table, while: isQuiet) { faults.append(table) }
            var last: Int64? = 0
            while let row = last {
                try await quiet(isQuiet)
                let slice = try await journal.use { (journal) throws(JournalError) in
                    try journal.damagedPayments(after: row, limit: JournalHealth.slice)
                }
                await note(slice.damaged)
                last = slice.last
            }
            try await noteDamagedRows()
            await note(try await verifyAudit(while: isQuiet))
            state.withLock { ($0.faults, $0.unread, $0.examinedAt) = (faults, nil, .now) }
            guard !faults.isEmpty else { return logger.info("journal examined, nothing found") }
            logger.critical(
                "journal damaged: make a copy, and restore the last backup",
                metadata: ["file": "\(folder)/\(Journal.fileName)", "tables": "\(faults.joined(separator: " "))"])
            await trail.note(
                AuditEntry(.operation, detail: "journal damaged in \(faults.joined(separator: " "))"))
        } catch {
            guard !(error is CancellationError) else { return }
            state.withLock { $0.unread = error as? JournalError ?? .damaged }
            logger.critical("journal not examined, it cannot be read", metadata: ["cause": "\(error)"])
        }
    }

    private func isSound(_ table: String, while isQuiet: @escaping @Sendable () async -> Bool) async throws -> Bool {
        while true {
            let isSound = try await givingWay(isQuiet) { [folder] (stop) throws(JournalError) in
                try JournalExamination(directory: folder, stop: stop).isSound(table)
            }
            if let isSound { return isSound }
        }
    }

    /// What is wrong with the audit chain, and with the tables by it. What is found is looked at twice: entries that were erased
    /// between two steps look as if they were missing.
    private func verifyAudit(while isQuiet: @escaping @Sendable () async -> Bool) async throws -> [AuditFault] {
        var found: [AuditFault] = []
        for _ in 0..<2 {
            var examination = AuditExamination(file: "\(folder)/\(Journal.fileName)", key: key)
            var faults: [AuditFault]?
            while faults == nil {
                (examination, faults) = try await givingWay(isQuiet) { [examination] (stop) throws(JournalError) in
                    var next = examination
                    let faults = try next.step(stop)
                    return (next, faults)
                }
            }
            found = faults ?? []
            if found.isEmpty { break }
        }
        return found
    }

    /// Waits until nobody needs the disk, and runs `body` on the examination's thread; its wish to stop comes true with the next sale.
    private func givingWay<Value: Sendable>(
        _ isQuiet: @escaping @Sendable () async -> Bool,
        _ body: @escaping @Sendable (StopRequest) throws(JournalError) -> Value
    ) async throws -> Value {
        try await quiet(isQuiet)
        let stop = StopRequest()
        let watch = Task {
            while !Task.isCancelled {
                if await !isQuiet() { stop.isWished = true }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        defer { watch.cancel() }
        let outcome: Result<Value, JournalError> = await withCheckedContinuation { done in
            thread.perform { done.resume(returning: Result { () throws(JournalError) in try body(stop) }) }
        }
        return try outcome.get()
    }

    private func quiet(_ isQuiet: @Sendable () async -> Bool) async throws {
        while await !isQuiet() { try await Task.sleep(for: .milliseconds(200)) }
    }

    private func note(_ damaged: [DamagedPayment]) async {
        let news = state.withLock { state in
            let news = damaged.filter { !state.damaged.contains($0) }
            state.damaged += news
            return news
        }
        for payment in news {
            logger.critical(
                "payment damaged in the journal and set apart: ask the payment service about it",
                metadata: ["payment": "\(payment)"])
            await trail.note(
                AuditEntry(
                    .operation, subject: payment.id?.text ?? "", detail: "payment damaged, set apart: \(payment)"))
        }
    }

    private func note(_ faults: [AuditFault]) async {
        let words = faults.prefix(JournalHealth.toldFaults).map(\.description)
        let before = state.withLock { state in
            defer { state.auditFaults = words }
            return state.auditFaults
        }
        guard !words.isEmpty else { return logger.info("audit chain verified, it holds") }
        let told = words.joined(separator: "; ")
        logger.critical(
            "audit chain does not hold: make a copy of the journal, and run nfc-tap audit verify",
            metadata: ["faults": "\(faults.count)", "first": "\(told)"])
        // Each day's look finds the same again, and the chain is not the log.
        guard words != before else { return }
        await trail.note(AuditEntry(.operation, detail: "audit chain does not hold: \(told)"))
    }

    // MARK: - What is told

    /// Payments that nothing brings to an end, because their rows are not as they were written.
    var damaged: [DamagedPayment] { state.withLock { $0.damaged } }

    func status() async -> Status.Journal {
        _ = await trouble()
        return state.withLock { state in
            let fault = fault(state)
            var status = Status.Journal(
                writable: state.trouble == nil,
                damaged: state.damaged.map { $0.id?.text ?? "row \($0.row)" } + state.damagedRows.map(\.description))
            status.error = (state.trouble.map { ErrorCode($0) } ?? fault.map { _ in .storageFailed }).map {
                ErrorDetail($0)
            }
            status.cause = state.trouble.map(\.description) ?? fault
            status.examinedAt = state.examinedAt
            status.auditFaults = state.auditFaults
            return status
        }
    }

    func families() async -> [MetricFamily] {
        let status = await status()
        var writable = MetricFamily("nfc_tap_journal_writable", .gauge, help: "Whether a sale could be written down.")
        writable.add(status.writable ? 1 : 0)
        var damaged = MetricFamily(
            "nfc_tap_journal_damaged_payments", .gauge, help: "Payments that are not as they were written.")
        damaged.add(Double(status.damaged.count))
        var sound = MetricFamily(
            "nfc_tap_journal_sound", .gauge, help: "Whether the last look at the file found no fault.")
        sound.add(state.withLock { fault($0) } == nil ? 1 : 0)
        var holds = MetricFamily(
            "nfc_tap_audit_holds", .gauge, help: "Whether the last verification of the audit chain found no fault.")
        holds.add(state.withLock { $0.auditFaults ?? [] }.isEmpty ? 1 : 0)
        return [writable, damaged, sound, holds]
    }
}

extension TransactionRunner {
    /// No sale is under way that would wait for the disk.
    func isQuiet() -> Bool { books.live.values.allSatisfy(\.transaction.state.isSettled) }
}
