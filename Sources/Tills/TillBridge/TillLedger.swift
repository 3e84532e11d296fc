// SPDX-License-Identifier: Apache-2.0
import ECR
import Glibc
import Linux
import Logging
import MDB
import PaymentValues

/// What a till has asked for, on disk: a line for each change, added at the end.
///
/// The receipts of an approval stand in its first line only, and are kept for the last payment only. A file that has become long is
/// written anew with what counts: attempts to which something can happen yet as they are, and of all others what a till can ask for again.
///
/// A line is the checksum of what stands behind it, a blank, and JSON. One that was cut off by the end of the machine was never
/// promised to anybody. One that is damaged costs its payment, and the key of the installation: with another one no number
/// that may have been lost can name two payments.
final class TillLedger {
    enum Failure: Error, Equatable, Sendable {
        /// Another process has it open.
        case inUse
        /// The file cannot be opened, read or written.
        case file(SystemError)
        /// Something is owed in it that the till's protocol knows nothing of.
        case ofAnotherProtocol
    }

    /// What stands in the file.
    struct Contents: Sendable {
        var installation = ""
        var counter: UInt64 = 0
        var closedThrough: UInt64 = 0
        /// The newest of each number, oldest first.
        var attempts: [Attempt] = []
        var past = AttemptArchive()
        /// Of a vending machine, as far as something can happen to them yet.
        var vends: [UInt64: Vend] = [:]
        /// Lines that are not as they were written.
        var damaged = 0
        /// There was no ledger, or an empty one.
        var isNew = false
        /// But for those of the past.
        fileprivate var lines = 0

        init() {}

        /// What a desk has.
        init(_ desk: TillMachine) {
            installation = desk.installation
            counter = desk.counter
            closedThrough = desk.closedThrough
            past = desk.past
            attempts = desk.finished + (desk.open.map { [$0] } ?? [])
        }
    }

    private struct Line: Codable {
        var installation: String?
        var counter: UInt64?
        var closedThrough: UInt64?
        var attempt: Attempt?
        var turnover: Turnover?
        var refunds: [AttemptArchive.Refunds]?
        var sale: AttemptArchive.Sale?
        var reservation: AttemptArchive.Reservation?
        var vend: Vend?
    }

    /// Lines beyond which the file is written anew, but for those of the past.
    static let longest = 4_000
    /// Numbers that are left out after damage: a till must not take a new payment for one that was lost.
    static let gap: UInt64 = 1_000
    /// Bytes that are read and written at a time.
    private static let pieceSize = 64 * 1_024

    private let path: String
    private var file: Descriptor
    private var lines: Int
    /// Beyond which it is written anew.
    private var limit: Int
    private var unwritten: [UInt8] = []
    private var isDirty = false

    /// Opens the file, or makes it; what was cut off at its end is gone then.
    ///
    /// - Parameter fresh: a name for an installation that has none: 1 to 32 letters and digits that no other has.
    static func open(
        _ path: String, fresh: String
    ) throws(Failure) -> (ledger: TillLedger, contents: Contents) {
        do throws(SystemError) {
            var file = try Descriptor(opening: path, O_RDWR | O_CREAT | O_APPEND, mode: 0o600)
            guard file.lock() else { throw SystemError(code: EAGAIN) }
            // A ledger without its name would be a new one, to which each payment it had told is unknown.
            try DurableFile.synchronizeFolder(of: path)
            var (contents, length) = try read(file)
            var isNew = contents.installation.isEmpty
            contents.isNew = isNew && contents.damaged == 0
            if contents.damaged > 0 || isNew {
                contents.installation = fresh
                isNew = true
            }
            if contents.damaged > 0 { contents.counter += gap }
            if contents.lines > limit(contents) || contents.damaged > 0 {
                if contents.damaged > 0 { try keepDamaged(path) }
                file = try rewrite(path, contents)
                contents.lines = contents.attempts.count
                isNew = false
            } else {
                try file.truncate(to: length)
            }
            let ledger = TillLedger(consume file, at: path, contents)
            if isNew {
                try ledger.add(Line(installation: contents.installation))
                try ledger.flush()
            }
            return (ledger, contents)
        } catch {
            throw error.code == EAGAIN ? .inUse : .file(error)
        }
    }

    private init(_ file: consuming Descriptor, at path: String, _ contents: Contents) {
        self.file = file
        self.path = path
        lines = contents.lines
        limit = TillLedger.limit(contents)
    }

    /// Where much has to stay as it is, so that not each further line writes it all anew.
    private static func limit(_ contents: Contents) -> Int { max(longest, contents.attempts.count * 2) }

    /// It should be written anew as soon as nobody waits.
    var isLong: Bool { lines > limit }

    /// Writes the file anew with what counts.
    func renew(_ contents: Contents) throws(Failure) {
        try synchronize()
        do throws(SystemError) { file = try TillLedger.rewrite(path, contents) } catch { throw .file(error) }
        lines = contents.attempts.count
        limit = TillLedger.limit(contents)
    }

    func record(_ attempt: Attempt) throws(Failure) {
        var attempt = attempt
        if attempt.phase != .approved { attempt.dropReceipts() }
        try added(Line(attempt: attempt))
    }

    func record(_ vend: Vend) throws(Failure) { try added(Line(vend: vend)) }

    /// A number that no attempt has.
    func spend(_ number: UInt64) throws(Failure) { try added(Line(counter: number)) }

    func closeBatch(through number: UInt64) throws(Failure) { try added(Line(closedThrough: number)) }

    /// Whatever was added is on the disk afterwards.
    func synchronize() throws(Failure) {
        guard isDirty else { return }
        do throws(SystemError) { try flush() } catch { throw .file(error) }
    }

    private func flush() throws(SystemError) {
        try file.write(unwritten)
        unwritten = []
        try file.synchronizeData()
        isDirty = false
    }

    private func added(_ line: Line) throws(Failure) {
        do throws(SystemError) { try add(line) } catch { throw .file(error) }
    }

    private func add(_ line: Line) throws(SystemError) {
        unwritten += try TillLedger.bytes(of: line)
        lines += 1
        isDirty = true
    }

    // MARK: - The file

    private static func bytes(of line: Line) throws(SystemError) -> [UInt8] {
        let json: [UInt8]
        do throws(WireError) { json = try WireJSON.encode(line) } catch { throw SystemError(code: EINVAL) }
        return Array("\(sum(of: json[...])) ".utf8) + json + [0x0A]
    }

    /// FNV-1a of 64 bits, in 16 digits.
    static func sum(of bytes: ArraySlice<UInt8>) -> String {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(sum, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Line by line: of the whole file, which may be a hundred times as long as what counts of it, no more than a piece is in memory.
    ///
    /// - Returns: what the file says from where it is read on, and how many bytes of it are whole lines.
    /// - Throws: `EFBIG` for more than a gibibyte.
    static func read(_ file: borrowing Descriptor) throws(SystemError) -> (Contents, length: Int) {
        var reading = Reading()
        var rest: [UInt8] = []
        var length = 0
        while true {
            let piece = try file.read(atMost: pieceSize)
            if piece.isEmpty { break }
            guard length + rest.count + piece.count <= 1 << 30 else { throw SystemError(code: EFBIG) }
            var unread = rest.count
            rest += piece
            var start = 0
            while let end = rest[unread...].firstIndex(of: 0x0A) {
                reading.take(rest[start..<end])
                start = end + 1
                unread = start
            }
            length += start
            rest.removeFirst(start)
        }
        return (reading.end(), length)
    }

    /// What was read so far.
    private struct Reading {
        private var contents = Contents()
        private var attempts: [UInt64: Attempt] = [:]
        private var newest: UInt64 = 0

        mutating func take(_ bytes: ArraySlice<UInt8>) {
            contents.lines += 1
            guard bytes.count > 17, bytes[bytes.startIndex + 16] == 0x20,
                sum(of: bytes.dropFirst(17)).utf8.elementsEqual(bytes.prefix(16)),
                let line = try? WireJSON.decode(Line.self, from: Array(bytes.dropFirst(17)))
            else {
                contents.damaged += 1
                return
            }
            if let installation = line.installation { contents.installation = installation }
            if let counter = line.counter { contents.counter = max(contents.counter, counter) }
            if let closed = line.closedThrough, closed > contents.closedThrough {
                contents.closedThrough = closed
                contents.past.closeBatch()
            }
            if let turnover = line.turnover { contents.past.read(turnover, line.refunds ?? []) }
            if let sale = line.sale { contents.past.read(sale) }
            if let reservation = line.reservation { contents.past.read(reservation) }
            if line.sale != nil || line.reservation != nil { contents.lines -= 1 }
            if let attempt = line.attempt { take(attempt) }
            if let vend = line.vend {
                contents.counter = max(contents.counter, vend.sale.number)
                contents.vends[vend.sale.number] = vend.isOver ? nil : vend
            }
        }

        private mutating func take(_ attempt: Attempt) {
            var attempt = attempt
            contents.counter = max(contents.counter, attempt.highest)
            // Receipts are most of a ledger: those of any other payment than the last are gone before the next line is read.
            if attempt.number > newest {
                attempts[newest]?.dropReceipts()
                newest = attempt.number
            }
            if attempt.number == newest {
                attempt.keepReceipts(of: attempts[newest])
            } else {
                attempt.dropReceipts()
            }
            attempts[attempt.number] = attempt
        }

        consuming func end() -> Contents {
            let ordered = attempts.values.sorted { $0.number < $1.number }
            attempts = [:]
            let recent = contents.counter - min(contents.counter, UInt64(TillMachine.kept))
            contents.attempts = contents.past.take(
                ordered, keeping: TillMachine.kept, closedThrough: contents.closedThrough
            ) { $0.highest > recent }
            return contents
        }
    }

    /// A damaged file is kept for whoever has to look into it. It stays where it is until the new one takes its place at once.
    private static func keepDamaged(_ path: String) throws(SystemError) {
        let damaged = try Descriptor(opening: path, O_RDONLY)
        let copy = try Descriptor(opening: path + ".damaged", O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        while true {
            let piece = try damaged.read(atMost: pieceSize)
            if piece.isEmpty { break }
            try copy.write(piece)
        }
        try copy.synchronize()
        try DurableFile.synchronizeFolder(of: path)
    }

    private static func rewrite(_ path: String, _ contents: Contents) throws(SystemError) -> Descriptor {
        let new = try Descriptor(opening: path + ".new", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, mode: 0o600)
        let past = contents.past
        let head = Line(
            installation: contents.installation, counter: contents.counter, closedThrough: contents.closedThrough,
            turnover: past.turnover, refunds: past.refunds)
        var piece = try bytes(of: head)
        for sale in past.sales { try write(Line(sale: sale), &piece, new) }
        for reservation in past.reservations { try write(Line(reservation: reservation), &piece, new) }
        for attempt in contents.attempts { try write(Line(attempt: attempt), &piece, new) }
        for vend in contents.vends.values { try write(Line(vend: vend), &piece, new) }
        try new.write(piece)
        try new.synchronize()
        // Before it has its name: nobody else may have it in between.
        guard new.lock() else { throw SystemError(code: EAGAIN) }
        try DurableFile.rename(path + ".new", to: path)
        return new
    }

    private static func write(
        _ line: Line, _ piece: inout [UInt8], _ file: borrowing Descriptor
    ) throws(SystemError) {
        piece += try bytes(of: line)
        guard piece.count >= pieceSize else { return }
        try file.write(piece)
        piece.removeAll(keepingCapacity: true)
    }
}

extension TillLedger {
    /// A till's own, by its name in the folder of the ledgers.
    static func open(
        of till: TillsFile.Till, in directory: String, _ logger: Logger
    ) throws(Failure) -> (ledger: TillLedger, contents: Contents) {
        let fresh = String(UInt64.random(in: .min ... .max), radix: 36)
        let (ledger, contents) = try open("\(directory)/\(till.name).ledger", fresh: fresh)
        if contents.damaged > 0 {
            logger.critical(
                "ledger damaged: look for payments of this till that are confirmed and not in its books",
                metadata: ["till": "\(till.name)", "lines": "\(contents.damaged)"])
        }
        return (ledger, contents)
    }
}
