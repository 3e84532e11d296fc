// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import Journal
import LocalHTTP
import POSAPI
import PSPAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("A8 journal and installation key", .timeLimit(.minutes(5)))
struct JournalBindingTests {
    private let folder: TestFolder
    private var path: String { folder.path }

    init() throws { folder = try TestFolder() }

    private func file(_ name: String) -> String { path + "/" + name }

    private func remove(_ names: String...) throws {
        for name in names { try FileManager.default.removeItem(atPath: file(name)) }
    }

    private func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: path)) }

    /// Books in which something is signed and something open.
    @discardableResult
    private func begin(
        in other: String? = nil
    ) throws -> (journal: String, key: VerificationKey, open: TransactionID) {
        let (journal, key) = try JournalBinding.open(other ?? path)
        let id = TransactionID()
        _ = try journal.create(
            NewTransaction(
                id: id, owner: Principal(uid: 0), idempotencyKey: "k-\(id)", requestHash: "h", type: .purchase,
                mode: .test, lane: "main",
                amount: Money(value: 500, currency: try #require(Currency("EUR"))), order: nil, at: .now))
        var change = StateChange(.reversing)
        change.reversal = ReversalPlan(reason: .timeout, due: .now)
        try journal.append(
            [StateChange(.armed), StateChange(.reading), StateChange(.sealed), StateChange(.sent), change], to: id)
        let end = try #require(try journal.auditEnd())
        let statement = AuditStatement(.head, installation: journal.support, sequence: end.sequence, hash: end.hash)
        try journal.keep(head: try statement.signed(by: key), sequence: end.sequence)
        return (journal.support, key.verificationKey, id)
    }

    private func trouble() -> JournalFault? {
        do throws(StartError) {
            _ = try JournalBinding.open(path)
            return nil
        } catch {
            guard case .books(let trouble) = error else {
                Issue.record("\(error)")
                return nil
            }
            // Whatever it is, the file and what to do about it are named.
            #expect("\(error)".contains(path) && error.remedy?.contains(path) == true)
            #expect(error.remedy?.contains("--new-journal") == true)
            return trouble
        }
    }

    @Test("A8 The first start makes both, each knows the other, and every later start finds them")
    func first() throws {
        let (journal, key, _) = try begin()
        let again = try JournalBinding.open(path)
        #expect(again.journal.support == journal && again.key.verificationKey == key)
        #expect(try again.journal.boundKey() == key.thumbprint)
        #expect(try String(contentsOfFile: file("installation.journal"), encoding: .utf8) == journal + "\n")
    }

    @Test("A8 Without its journal, or with an empty one, a key begins no new books", arguments: [false, true])
    func journalLost(isEmpty: Bool) throws {
        let (journal, _, _) = try begin()
        let before = try Data(contentsOf: URL(filePath: file("installation.key")))
        try remove("journal.sqlite")
        if isEmpty { try Data().write(to: URL(filePath: file("journal.sqlite"))) }
        #expect(trouble() == .journalMissing(file("journal.sqlite"), named: TransactionID(journal)))
        try remove("installation.journal")
        #expect(trouble() == .journalMissing(file("journal.sqlite"), named: nil))
        #expect(try Data(contentsOf: URL(filePath: file("installation.key"))) == before)
    }

    @Test("A8 A database without tables in the journal's place is no journal")
    func tablesLost() throws {
        try begin()
        try remove("journal.sqlite")
        try Peer.alter(file("journal.sqlite"), "PRAGMA application_id = 7")
        #expect(try !Data(contentsOf: URL(filePath: file("journal.sqlite"))).isEmpty)
        guard case .journalMissing = trouble() else { return #expect(Bool(false), "began new books") }
    }

    @Test("A8 Where journal and key are both gone, the journal's name that is left tells that there were books")
    func bothLost() throws {
        let (journal, _, _) = try begin()
        try remove("journal.sqlite", "installation.key", "installation.jwk")
        #expect(trouble() == .journalMissing(file("journal.sqlite"), named: TransactionID(journal)))
    }

    @Test("A8 Without its key a journal is not signed with a new one")
    func keyLost() throws {
        try begin()
        try remove("installation.key")
        #expect(trouble() == .keyMissing(file("installation.key")))
        #expect(try !names().contains("installation.key"))
        try Data("{}".utf8).write(to: URL(filePath: file("installation.key")))
        guard case .keyUnusable = trouble() else { return #expect(Bool(false), "an unusable key was taken") }
    }

    @Test("A8 A foreign key and a foreign journal are told apart")
    func foreign() throws {
        let (_, key, _) = try begin()
        let other = try TestFolder()
        let (journal, otherKey) = try JournalBinding.open(other.path)
        _ = consume journal
        func swap(_ name: String) throws {
            try remove(name)
            try FileManager.default.copyItem(atPath: other.path + "/" + name, toPath: file(name))
        }
        let ours = try Data(contentsOf: URL(filePath: file("installation.key")))
        try swap("installation.key")
        #expect(trouble() == .keyForeign(file("installation.key"), wanted: key.thumbprint))
        try ours.write(to: URL(filePath: file("installation.key")))
        #expect(trouble() == nil)
        try swap("journal.sqlite")
        let name = try String(contentsOfFile: file("installation.journal"), encoding: .utf8)
        let named = TransactionID(name.filter { $0 != "\n" })
        #expect(trouble() == .journalForeign(file("journal.sqlite"), belongs: named))
        // A pair from one backup is a pair, whatever the name beside it says.
        try swap("installation.key")
        #expect(trouble() == nil)
        #expect(try JournalBinding.open(path).key.verificationKey == otherKey.verificationKey)
    }

    @Test("A8 A first start that was cut off at any step is finished by the next one")
    func cutOff() throws {
        // In the order in which the files are made.
        for made in [["journal.sqlite"], ["journal.sqlite", "installation.key"]] {
            let shop = try TestFolder()
            do { _ = try Journal(directory: shop.path) }
            if made.contains("installation.key") { _ = try InstallationKey.inFolder(shop.path) }
            let (journal, key) = try JournalBinding.open(shop.path)
            #expect(try journal.boundKey() == key.verificationKey.thumbprint)
        }
    }

    @Test("A8 A first start that was cut off while SQLite made the journal is finished by the next one")
    func cutOffInside() throws {
        let lines = """
            PRAGMA cache_size = 1; BEGIN IMMEDIATE;
            CREATE TABLE a (b); INSERT INTO a VALUES (zeroblob(100000));
            .shell kill -9 $PPID

            """
        try Peer.run("/usr/bin/sqlite3", [file("journal.sqlite")], input: Data(lines.utf8))
        let size = try FileManager.default.attributesOfItem(atPath: file("journal.sqlite"))[.size] as? Int
        let isHalfMade = try (size ?? 0) > 0 && names().contains("journal.sqlite-journal")
        try #require(isHalfMade)
        // A file that nobody has finished is no proof that nothing is open: a purge, which asks this, goes on being refused.
        #expect(throws: StartError.books(.journalDamaged(file("journal.sqlite")))) {
            try JournalBinding.openMoney(in: path)
        }
        let (journal, key) = try JournalBinding.open(path)
        #expect(try journal.boundKey() == key.verificationKey.thumbprint)
        #expect(try JournalBinding.openMoney(in: path) == [])
    }

    @Test("A8 New books are refused where nothing is lost, and while a daemon runs")
    func refused() throws {
        try begin()
        #expect(throws: StartError.books(.whole(path))) { try JournalBinding.beginAnew(path, by: "uid 0", at: .now) }
        let (journal, _) = try JournalBinding.open(path)
        #expect(throws: StartError.journal(.inUse(path: file("journal.sqlite")))) {
            try JournalBinding.beginAnew(path, by: "uid 0", at: .now)
        }
        #expect(journal.isInPlace)
    }

    @Test("A8 New books put the old ones aside, and their audit chain says who wished it, why, and what is open there")
    func newJournal() throws {
        let (old, key, open) = try begin()
        try remove("installation.key")
        // SQLite would take it for what the new journal's writer had begun.
        try Data([1]).write(to: URL(filePath: file("journal.sqlite-journal")))
        let told = try JournalBinding.beginAnew(path, by: "uid 0, login uid 1000", at: .now)
        #expect(told.contains { $0.contains("open in the former books") && $0.contains(open.text) })
        let (journal, newKey) = try JournalBinding.open(path)
        #expect(journal.support != old && newKey.verificationKey != key)
        var story = ""
        try AuditSource(file: file("journal.sqlite")).forEachLink { story += ($0?.entry.detail ?? "?") + "\n" }
        #expect(
            story.contains("uid 0, login uid 1000") && story.contains("installation.key") && story.contains(open.text))
        let former = try #require(try names().first { $0.hasPrefix("former-books-") })
        #expect(story.contains(former))
        #expect(try OpenMoney(file: file(former + "/journal.sqlite")).reversals == [open])
        #expect(try !names().contains("journal.sqlite-journal"))
    }

    @Test("W5: new books that were cut off at any step name the former ones and the money that is open there")
    func newBooksCutOff() async throws {
        let log = try DiskLog()
        defer { log.remove() }
        var act = 0
        var isKilled = true
        while isKilled {
            act += 1
            let shop = try TestFolder()
            let (_, _, open) = try begin(in: shop.path)
            try FileManager.default.removeItem(atPath: shop.path + "/installation.key")
            let process = Process()
            process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appending(path: "nfc-tapd")
            process.arguments = ["--new-journal", "--state-directory", shop.path]
            process.environment = ProcessInfo.processInfo.environment.merging(log.environment) { $1 }
            process.environment?["DISK_LAST"] = "\(act)"
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            try await eventually("the end") { !process.isRunning }
            isKilled = process.terminationReason == .uncaughtSignal
            #expect(isKilled || process.terminationStatus == 0)
            // The next start goes on; where it refuses, a person begins new books once more.
            var told: [String] = []
            do throws(StartError) { _ = try JournalBinding.open(shop.path) { told.append($0) } } catch {
                told = try JournalBinding.beginAnew(shop.path, by: "uid 0", at: .now)
            }
            var story = ""
            try AuditSource(file: shop.path + "/journal.sqlite").forEachLink {
                story += ($0?.entry.detail ?? "?") + "\n"
            }
            #expect(story.contains(open.text) && story.contains("former books are in"), "after act \(act): \(story)")
            #expect(!FileManager.default.fileExists(atPath: shop.path + "/" + JournalBinding.storyName))
            guard act < 400 else { break }
        }
        #expect(act > 10, "the rig killed nothing")
    }

    @Test("W5: books that were brought back are not taken for the new ones, and say what was wished")
    func broughtBack() throws {
        try begin()
        try Data("former books are in /a\nnew books by uid 0\n".utf8).write(
            to: URL(filePath: file(JournalBinding.storyName)))
        for _ in 0..<2 { _ = try JournalBinding.open(path) }
        var story: [String] = []
        try AuditSource(file: file("journal.sqlite")).forEachLink { story.append($0?.entry.detail ?? "?") }
        #expect(story.count { $0 == "new books were wished and not begun; these go on" } == 1)
        #expect(story.contains("new books by uid 0"))
    }

    @Test("A8 The daemon refuses books that do not belong together, before it listens")
    func daemon() async throws {
        try await Shop.open(in: folder) { _ in }
        try FileManager.default.removeItem(atPath: path + "/state/installation.key")
        await #expect(throws: StartError.books(.keyMissing(path + "/state/installation.key"))) {
            _ = try await Daemon(
                try DaemonConfiguration(in: folder), socket: try ListeningSocket(path: path + "/other.sock"),
                logger: Shop.quiet)
        }
    }

    @Test(
        "A9: one damaged payment is set apart and told of by status, metrics, log, audit chain and its own error; the shop sells on"
    )
    func damagedPayment() async throws {
        let log = KeptLog()
        var wish = Shop.Wish()
        wish.logger = log.logger
        try FileManager.default.createDirectory(atPath: path + "/state", withIntermediateDirectories: true)
        let open = try begin(in: path + "/state").open
        try Peer.alter(path + "/state/journal.sqlite", "UPDATE payment SET currency = '??'")
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder, wish) { shop in
                let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
                #expect(status.journal?.damaged == [open.text] && status.journal?.writable == true && status.ready)
                let scrape = try Scrape(try await shop.get("/metrics").text)
                #expect(scrape.values["nfc_tap_journal_damaged_payments"] == 1)
                #expect(scrape.values["nfc_tap_journal_writable"] == 1 && scrape.values["nfc_tap_journal_sound"] == 1)
                #expect(await shop.daemon.summary().contains(", 1 damaged"))
                let words = "payment damaged in the journal and set apart: ask the payment service about it"
                #expect(log.lines(words).count == 1)
                #expect(try shop.journal("SELECT subject FROM audit WHERE detail LIKE 'payment damaged%'") == open.text)
                let refused = try await shop.get("/v1/transactions/\(open)")
                #expect(try refused.status == 500 && refused.error().code == "transaction.damaged")
                // What became of its money is not known: no way to pay is named.
                #expect(try refused.error().next == nil)
                try shop.reader.obey("present visa")
                #expect(try await shop.post(purchase(100), wait: 20).transaction().state == .approved)
                // The daily look finds no more than the start did.
                await shop.daemon.journalHealth.examine { await shop.runner.isQuiet() }
                let later = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
                #expect(later.journal?.examinedAt != nil && later.journal?.error == nil)
                #expect(later.journal?.damaged == [open.text])
            }
        }
    }

    @Test("A8: the daily look verifies the audit chain, and status, metrics, log and chain say where it does not hold")
    func auditChain() async throws {
        let log = KeptLog()
        var wish = Shop.Wish()
        wish.logger = log.logger
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder, wish) { shop in
                func look() async throws -> Status.Journal? {
                    await shop.daemon.journalHealth.examine { await shop.runner.isQuiet() }
                    return try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body).journal
                }
                func holds() async throws -> Double? {
                    try Scrape(try await shop.get("/metrics").text).values["nfc_tap_audit_holds"]
                }
                try shop.reader.obey("present visa")
                #expect(try await shop.post(purchase(100), wait: 20).transaction().state == .approved)
                await shop.daemon.notes.keepNow()
                let whole = try await look()
                #expect(whole?.auditFaults?.isEmpty == true && whole?.damaged.isEmpty == true)
                #expect(try await holds() == 1)
                try alterJournal(
                    in: folder,
                    "DROP TRIGGER IF EXISTS audit_is_never_altered; UPDATE audit SET detail = 'declined' WHERE detail LIKE 'approved%'"
                )
                let altered = try await look()
                #expect(altered?.auditFaults?.first?.contains("altered") == true)
                #expect(try await holds() == 0)
                // The file itself is sound, and no payment is set apart: the payments are as they were written.
                #expect(altered?.error == nil && altered?.damaged.isEmpty == true)
                _ = try await look()
                let line = "audit chain does not hold: make a copy of the journal, and run nfc-tap audit verify"
                #expect(log.lines(line).count == 2)
                let notes = "SELECT count(*) FROM audit WHERE detail LIKE 'audit chain does not hold%'"
                #expect(try shop.journal(notes) == "1", "the same again is for the log alone")
            }
        }
    }
}
