// SPDX-License-Identifier: Apache-2.0
import Envelope
import Glibc
import Journal
import Linux
public import PaymentValues

/// The journal and the installation's key: each knows the other. The journal has the key's thumbprint, and a file beside
/// the key has the journal's name.
///
/// Only where there is neither of them are both made. Everything else is a loss that a person has to look after: a new key
/// could not send what the old one has signed, and an empty journal has forgotten what is to be taken back.
public enum JournalBinding {
    /// The journal's name, beside the key.
    static let markName = "installation.journal"
    private static let longestMark = 128
    /// What is still to be told of new books: on the disk before the first file of the former ones is moved.
    static let storyName = "new-books.story"
    private static let longestStory = 16 << 20

    /// What lies in a folder.
    private struct Finding {
        var key: SigningKey?
        /// Whether a journal's name lies beside the key, and which.
        var isMarked = false
        var marked: TransactionID?
    }

    /// Journal and key of the folder, made where there is neither.
    ///
    /// - Parameter tell: gets the lines of what an earlier start, or `beginAnew`, had no time to tell.
    static func open(
        _ folder: String, tell: (String) -> Void = { _ in }
    ) throws(StartError) -> (journal: Journal, key: SigningKey) {
        let found = try look(folder)
        let keyPath = folder + "/" + InstallationKey.fileName
        let mayBegin = found.key == nil && !found.isMarked
        guard let journal = try journal(folder, mayBegin: mayBegin) else {
            throw .books(.journalMissing(journalPath(folder), named: found.marked))
        }
        let wanted = try asking(folder) { () throws(JournalError) in try journal.boundKey() }
        switch (found.key, wanted) {
        case (nil, nil):
            // The first start, or one that was cut off: nobody has signed anything.
            guard try !asking(folder, { () throws(JournalError) in try journal.needsItsKey() }) else {
                throw .books(.keyMissing(keyPath))
            }
        case (nil, _?): throw .books(.keyMissing(keyPath))
        case (_?, nil):
            guard found.marked.map({ $0.text == journal.support }) ?? true else {
                throw .books(.journalForeign(journalPath(folder), belongs: found.marked))
            }
        case (let key?, let wanted?):
            guard key.verificationKey.thumbprint != wanted else { break }
            guard found.marked?.text == journal.support else {
                throw .books(.journalForeign(journalPath(folder), belongs: found.marked))
            }
            throw .books(.keyForeign(keyPath, wanted: wanted))
        }
        let story = try story(folder)
        let key = try key(folder, found.key)
        if wanted == nil {
            // An earlier start may have ended with the key in its place and nothing that keeps it there.
            do throws(SystemError) { try DurableFile.synchronizeFolder(of: keyPath) } catch {
                throw .installationKey(.unwritable(keyPath, errno: error.code))
            }
            try asking(folder) { () throws(JournalError) in
                try journal.bind(key: key.verificationKey.thumbprint, telling: story)
            }
        } else if !story.isEmpty {
            // Told together with the key; or the former books were brought back meanwhile.
            try asking(folder) { () throws(JournalError) in try journal.tellUnlessTold(story) }
        }
        if !story.isEmpty {
            for line in story { tell(line) }
            try? FileSystem.remove(folder + "/" + storyName)
        }
        if found.marked?.text != journal.support { try mark(journal.support, folder) }
        return (journal, key)
    }

    private static func asking<Answer>(
        _ folder: String, _ body: () throws(JournalError) -> Answer
    ) throws(StartError) -> Answer {
        do throws(JournalError) { return try body() } catch { throw StartError(opening: error, journalPath(folder)) }
    }

    /// What is not settled in the folder's journal, a line each; `nil` where there is no journal.
    ///
    /// - Throws: `StartError` for a journal that cannot be read.
    public static func openMoney(in folder: String) throws(StartError) -> [String]? {
        do throws(JournalError) {
            guard FileSystem.exists(journalPath(folder)) else { return nil }
            return try OpenMoney(file: journalPath(folder)).lines
        } catch {
            throw StartError(opening: error, journalPath(folder))
        }
    }

    // MARK: - New books

    /// Puts what is left of the books aside and begins new ones; only where they cannot be opened. Nothing is deleted.
    ///
    /// - Parameter person: who wishes it, for the audit chain.
    /// - Returns: what to tell that person.
    /// - Throws: `StartError` for books that can be opened, or cannot be moved.
    public static func beginAnew(
        _ folder: String, by person: String, at now: Timestamp
    ) throws(StartError) -> [String] {
        let trouble = try trouble(folder)
        // Read before it is moved; what cannot be read is open as far as anybody knows.
        let open = (try? OpenMoney(file: journalPath(folder)).lines) ?? ["not readable"]
        let former = folder + "/former-books-" + String("\(now)".filter { $0.isNumber || $0.isLetter })
        let story =
            ["\(Journal.formerJournal)\(former)", "new books by \(person), because \(trouble)"]
            + open.map { "open in the former books: \($0)" }
        // What was cut off before is told, too.
        let earlier = try self.story(folder)
        do throws(SystemError) {
            try DurableFile.makeFolder(former)
            try keep(earlier + story, folder)
            let names = [
                Journal.fileName, Journal.fileName + "-wal", Journal.fileName + "-shm", Journal.fileName + "-journal",
                InstallationKey.fileName, InstallationKey.publicFileName, markName,
            ]
            for name in names where FileSystem.exists(folder + "/" + name) {
                try DurableFile.rename(folder + "/" + name, to: former + "/" + name)
            }
        } catch {
            throw .stateDirectory(former, errno: error.code)
        }
        _ = try self.open(folder)
        try giveToOwner(folder, former)
        return ["new books begun in \(folder); what was there is in \(former)"]
            + open.map { "open in the former books: \($0)" }
    }

    private static func trouble(_ folder: String) throws(StartError) -> JournalFault {
        do throws(StartError) { _ = try open(folder) } catch {
            guard case .books(let trouble) = error else { throw error }
            return trouble
        }
        throw .books(.whole(folder))
    }

    private static func story(_ folder: String) throws(StartError) -> [String] {
        let path = folder + "/" + storyName
        guard FileSystem.exists(path) else { return [] }
        do throws(SystemError) {
            let text = String(decoding: try FileSystem.bytes(of: path, atMost: longestStory), as: UTF8.self)
            return text.split(separator: "\n").map(String.init)
        } catch {
            throw .stateDirectory(path, errno: error.code)
        }
    }

    /// For whichever start goes on: it may be the daemon's, under another user.
    private static func keep(_ story: [String], _ folder: String) throws(SystemError) {
        let lines = story.map { $0.split(separator: "\n").joined(separator: " ") + "\n" }
        let bytes = Array(lines.joined().utf8)
        try DurableFile.replace(folder + "/" + storyName, with: bytes.span, mode: 0o600)
        guard geteuid() == 0 else { return }
        let owner = try FileStatus(of: folder)
        try FileSystem.setOwner(owner.userID, owner.groupID, of: folder + "/" + storyName)
    }

    /// The daemon works with the files under the folder's user, whoever made them.
    private static func giveToOwner(_ folder: String, _ former: String) throws(StartError) {
        guard geteuid() == 0 else { return }
        do throws(SystemError) {
            let owner = try FileStatus(of: folder)
            let names = [Journal.fileName, InstallationKey.fileName, InstallationKey.publicFileName, markName]
            for path in names.map({ folder + "/" + $0 }) + [former] {
                try FileSystem.setOwner(owner.userID, owner.groupID, of: path)
            }
        } catch {
            throw .stateDirectory(folder, errno: error.code)
        }
    }

    // MARK: - Files

    private static func journalPath(_ folder: String) -> String { folder + "/" + Journal.fileName }

    private static func look(_ folder: String) throws(StartError) -> Finding {
        var finding = Finding()
        do throws(InstallationKeyError) { finding.key = try InstallationKey.find(in: folder) } catch {
            throw .books(.keyUnusable(error))
        }
        finding.isMarked = FileSystem.exists(folder + "/" + markName)
        let text = try? FileSystem.beginning(of: folder + "/" + markName, longestMark)
        finding.marked = text.flatMap { TransactionID(String(decoding: $0.filter { $0 > 0x20 }, as: UTF8.self)) }
        return finding
    }

    private static func journal(_ folder: String, mayBegin: Bool) throws(StartError) -> Journal? {
        do throws(JournalError) {
            return try mayBegin ? Journal(directory: folder) : Journal.begun(in: folder)
        } catch {
            throw StartError(opening: error, journalPath(folder))
        }
    }

    private static func key(_ folder: String, _ found: SigningKey?) throws(StartError) -> SigningKey {
        do throws(InstallationKeyError) { return try InstallationKey.inFolder(folder, found: found) } catch {
            throw .installationKey(error)
        }
    }

    private static func mark(_ journal: String, _ folder: String) throws(StartError) {
        do throws(InstallationKeyError) {
            try InstallationKey.write(Array((journal + "\n").utf8), to: folder + "/" + markName, mode: 0o600)
        } catch {
            throw .installationKey(error)
        }
    }
}

extension StartError {
    /// Why a journal cannot be opened or read at a start.
    init(opening error: JournalError, _ path: String) {
        switch error {
        case .damaged, .damagedPayment: self = .books(.journalDamaged(path))
        // A statement that does not fit what is in the file: an error, a constraint, a mismatch of types (SQLite 3.40).
        case .failed(let code) where [1, 19, 20].contains(code & 0xFF): self = .books(.journalDamaged(path))
        default: self = .journal(error)
        }
    }
}
