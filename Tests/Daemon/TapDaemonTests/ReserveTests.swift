// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import Journal
import Linux
import POSAPI
import PaymentValues
import TestSupport
import Testing

@testable import TapDaemon

@Suite("Room that is kept on the disk", .timeLimit(.minutes(5)))
struct ReserveTests {
    @Test("W7: without its reserve the journal is not writable at once, and nothing new begins until it is whole")
    func releasedReserve() async throws {
        let folder = try TestFolder()
        let reserve = StorageReserve(folder: folder.path, size: 1 << 16, room: 1 << 12)
        let journal = JournalThread(
            try Journal(directory: folder.path), on: try SerialThread(name: "journal"), reserve: reserve)
        let health = try JournalHealth(
            journal, reserve, folder: folder.path, trail: AuditTrail(journal: journal, logger: Shop.quiet),
            key: SigningKey().verificationKey)
        let path = folder.path + "/" + StorageReserve.fileName
        #expect(await health.trouble() == nil && reserve.isKept)
        // A sale that had begun takes it, and nobody can make it anew: the look before is some milliseconds old.
        reserve.release()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(await health.trouble() != nil)
        #expect(await health.status().writable == false)
        #expect(await health.status().cause?.contains("kernel's log") == true, "W23")
        var begun = 0
        do throws(JournalError) {
            try await journal.begin { (_) throws(JournalError) in }
            begun += 1
        } catch {}
        do throws(JournalError) {
            try await journal.useForNew { (_) throws(JournalError) in }
            begun += 1
        } catch {}
        #expect(begun == 0)
        // What has begun goes on.
        try await journal.audit(AuditEntry(.operation, detail: "on"))
        try FileManager.default.removeItem(atPath: path)
        try await journal.begin { (_) throws(JournalError) in }
        #expect(reserve.isKept)
        // Whoever removes the file takes the room.
        try FileManager.default.removeItem(atPath: path)
        #expect(!reserve.isKept)
        try await journal.useForNew { (_) throws(JournalError) in }
        #expect(reserve.isKept)
    }

    @Test("W3: a log that was kept is told of in status, metric and open money until somebody removes it")
    func keptLog() async throws {
        let folder = try TestFolder()
        let journal = JournalThread(try Journal(directory: folder.path), on: try SerialThread(name: "journal"))
        let health = try JournalHealth(
            journal, StorageReserve(folder: folder.path, size: 1 << 16, room: 1 << 12), folder: folder.path,
            trail: AuditTrail(journal: journal, logger: Shop.quiet), key: SigningKey().verificationKey)
        #expect(await health.status().error == nil)
        let kept = folder.path + "/journal.sqlite-wal.damaged-1"
        try Data([1]).write(to: URL(filePath: kept))
        #expect(await health.status().error?.code == "storage.failed")
        #expect(await health.status().cause?.contains("damaged-1") == true, "W23")
        #expect(try JournalBinding.openMoney(in: folder.path)?.contains { $0.contains("damaged-1") } == true)
        try FileManager.default.removeItem(atPath: kept)
        #expect(await health.status().error == nil)
    }

    @Test("W23: what was found damaged, and what cannot be read, has its own words in log and status, with what to do")
    func damageWords() async throws {
        let folder = try TestFolder()
        let log = KeptLog()
        let journal = JournalThread(try Journal(directory: folder.path), on: try SerialThread(name: "journal"))
        func health(_ place: String) throws -> JournalHealth {
            try JournalHealth(
                journal, StorageReserve(folder: folder.path, size: 1 << 16, room: 1 << 12), folder: place,
                trail: AuditTrail(journal: journal, logger: log.logger), key: SigningKey().verificationKey)
        }
        func cause(_ message: String) -> String? { log.lines(message).first?.metadata["cause"] }
        // The disk under it is gone while the journal is open.
        let unread = try health(folder.path + "/away")
        await unread.examine { true }
        let words = "make the folder"
        #expect(cause("journal not examined, it cannot be read")?.contains(words) == true)
        #expect(await unread.status().cause?.contains(words) == true)
        let found = try health(folder.path)
        await found.examine { true }
        #expect(await found.status().error == nil)
        try Peer.alter(folder.path + "/journal.sqlite", "UPDATE installation SET support = 'other'")
        try Data([1]).write(to: URL(filePath: folder.path + "/journal.sqlite-wal.damaged-1"))
        try await found.noteDamaged()
        #expect(log.lines("row damaged in the journal: make a copy, and compare with the last backup").count == 1)
        #expect(await found.status().damaged.contains { $0.contains("installation") })
        let lost = "payments may be missing: compare with the payment service, then remove"
        #expect(log.all.contains { $0.message == "write-ahead log damaged, \(lost) the kept file" })
        #expect(await found.status().cause?.contains("\(lost) journal.sqlite-wal.damaged-1") == true)
    }

    @Test("W23: an index that says something else than its table is told in log and status, with what to do")
    func damagedIndex() async throws {
        let folder = try TestFolder()
        let log = KeptLog()
        let journal = JournalThread(try Journal(directory: folder.path), on: try SerialThread(name: "journal"))
        let health = try JournalHealth(
            journal, StorageReserve(folder: folder.path, size: 1 << 16, room: 1 << 12), folder: folder.path,
            trail: AuditTrail(journal: journal, logger: log.logger), key: SigningKey().verificationKey)
        try Peer.alter(
            folder.path + "/journal.sqlite",
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = 'CREATE INDEX one_open_day ON business_day (number)' WHERE name = 'one_open_day';
            """)
        await health.examine { true }
        let line = log.lines("journal damaged: make a copy, and restore the last backup").first
        #expect(line?.metadata["tables"] == "business_day")
        #expect(await health.status().error?.code == "storage.failed")
        #expect(await health.status().cause == "damaged in business_day: make a copy, and restore the last backup")
    }

    @Test(
        "W23: a disk that is full, read-only, failing or not ours has its own words, whoever meets it first",
        arguments: [
            (ENOSPC, "free space"), (EDQUOT, "free space"), (EROFS, "how its disk is mounted"), (EIO, "kernel's log"),
            (EACCES, "check owner and mode"), (EPERM, "check owner and mode"), (ENXIO, "kernel's log"),
        ])
    func words(code: Int32, remedy: String) {
        let error = JournalError(SystemError(code: code))
        #expect(error.description.contains(remedy), "\(error)")
        #expect(ErrorCode(error) == ([ENOSPC, EDQUOT].contains(code) ? .storageFull : .storageFailed))
    }
}
