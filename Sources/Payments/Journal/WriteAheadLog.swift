// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// SQLite's write-ahead log as it is read after a start: what of it counts, and whether a power cut can have left it so.
///
/// SQLite drops everything from the first frame on that is not as it was written, without a word. After a power cut that is right. But a
/// durable commit is on the disk, with all before it, before the first frame of the next one is written. So a cut leaves no whole transaction
/// of this log behind a durable one that it has hit, or that lies behind what it has hit. Where there is one, the disk has lost what it had, and
/// payments with it. Durable transactions have a number each, without a gap, in the header of the database (`PRAGMA application_id`).
///
/// SQLite, "Database File Format", 4 (the write-ahead log): numbers are big-endian, checksums have the byte order that the header says.
struct LogScan {
    static let headerSize = 32
    private static let frameHeaderSize = 24
    /// Of `application_id` in the frame of the first page.
    private static let markPlace = 24 + 68
    /// With the smallest page.
    static let leastFrameSize = 24 + 512
    private static let pageSizes: ClosedRange<UInt32> = 512...65_536

    private struct Sum: Equatable {
        var (first, second): (UInt32, UInt32) = (0, 0)
    }

    let frameSize: Int
    private let isBigEndian: Bool
    private let salts: [UInt8]
    /// Of everything that is as it was written.
    private var sum: Sum
    /// What the frame before says of itself, from the first wrong one on.
    private var said = Sum()
    private var isBroken = false
    /// The transaction with the first wrong frame has its end.
    private var hasBrokenEnd = false
    private var frames = 0
    /// Number of the last durable transaction of which everything is right.
    private var mark: UInt32
    /// The highest number in the transaction that is being read, and in those from the first wrong frame on that have ended.
    private var (current, highest): (UInt32, UInt32) = (0, 0)
    /// Up to the last commit.
    private var wholeFrames = 0
    /// Transactions that are whole and of which nothing counts: none after a power cut.
    private(set) var lost = 0

    /// Bytes that count.
    var length: Int { Self.headerSize + wholeFrames * frameSize }

    /// - Returns: `nil` for a header that is not as it was written: SQLite takes nothing of such a log.
    init?(header: [UInt8], mark: UInt32) {
        guard header.count == Self.headerSize, Self.number(header[4..<8]) == 3_007_000,
            [0x377F_0682, 0x377F_0683].contains(Self.number(header[0..<4])),
            Self.pageSizes.contains(Self.number(header[8..<12]))
        else { return nil }
        isBigEndian = header[3] == 0x83
        self.mark = mark
        frameSize = Self.frameHeaderSize + Int(Self.number(header[8..<12]))
        salts = Array(header[16..<24])
        sum = Self.add(header[0..<24], to: Sum(), isBigEndian)
        guard sum == Self.sum(in: header[24..<32]) else { return nil }
    }

    /// Takes the next frame, of `frameSize` bytes.
    mutating func take(_ frame: [UInt8]) {
        guard frame.count == frameSize else { return }
        frames += 1
        let isOfThisLog = frame[8..<16].elementsEqual(salts)
        let isEnd = isOfThisLog && Self.number(frame[4..<8]) != 0
        let stored = Self.sum(in: frame[16..<24])
        let before = isBroken ? said : sum
        let expected = Self.add(
            frame[24...], to: Self.add(frame[0..<8], to: before, isBigEndian), isBigEndian)
        let isRight = isOfThisLog && expected == stored
        said = stored
        if isRight, Self.number(frame[0..<4]) == 1 {
            current = max(current, Self.number(frame[Self.markPlace..<Self.markPlace + 4]))
        }
        defer { if isEnd { current = 0 } }
        guard isBroken || !isRight else {
            sum = expected
            if isEnd { (wholeFrames, mark) = (frames, max(mark, current)) }
            return
        }
        // The end of a transaction that goes on from the frame before it, and what it goes on from has ended, too. A durable one has
        // ended before it, by its number or by the one that is missing.
        if isBroken, hasBrokenEnd, isEnd, isRight, highest > mark || current > mark &+ 1 { lost += 1 }
        isBroken = true
        if isEnd { (hasBrokenEnd, highest) = (true, max(highest, current)) }
    }

    static let fileHeaderSize = 100

    /// Number of the last durable transaction that has left the log; 0 where the file has none. Later than what the log begins with
    /// where a part of it was copied already: then less is noticed.
    static func mark(inFile header: [UInt8]) -> UInt32 {
        header.count < fileHeaderSize ? 0 : number(header[68..<72])
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    private static func sum(in bytes: ArraySlice<UInt8>) -> Sum {
        Sum(first: number(bytes.prefix(4)), second: number(bytes.suffix(4)))
    }

    private static func add(_ bytes: ArraySlice<UInt8>, to sum: Sum, _ isBigEndian: Bool) -> Sum {
        var (first, second) = (sum.first, sum.second)
        var index = bytes.startIndex
        while index &+ 8 <= bytes.endIndex {
            var words: (UInt32, UInt32) = (0, 0)
            for offset in 0..<4 {
                let shift = UInt32(8 &* (isBigEndian ? 3 &- offset : offset))
                words.0 |= UInt32(bytes[index &+ offset]) << shift
                words.1 |= UInt32(bytes[index &+ 4 &+ offset]) << shift
            }
            first = first &+ words.0 &+ second
            second = second &+ words.1 &+ first
            index &+= 8
        }
        return Sum(first: first, second: second)
    }
}

/// The files of a journal's write-ahead log, before SQLite opens them.
enum WriteAheadLog {
    /// Behind the name of a log: one that was damaged, for whoever looks after it.
    static let keptSuffix = ".damaged"

    /// Keeps a log aside that no power cut has left so, then cuts off what SQLite would drop. Nobody else may have the journal open.
    ///
    /// What a cut has left is cut off, too: SQLite would write over its beginning and leave its end behind the next transaction.
    /// - Returns: whether payments may be missing.
    static func prepare(_ journal: String) throws(JournalError) -> Bool {
        let path = journal + "-wal"
        guard FileSystem.exists(path) else { return false }
        do throws(SystemError) {
            let log = try Descriptor(opening: path, O_RDWR | O_NOFOLLOW)
            let header = try bytes(of: log, LogScan.headerSize)
            // Not even a header, or one of which nothing has come to the disk.
            guard header.count == LogScan.headerSize, header.contains(where: { $0 != 0 }) else { return false }
            let first = try bytes(of: try Descriptor(opening: journal, O_RDONLY | O_NOFOLLOW), LogScan.fileHeaderSize)
            var scan = LogScan(header: header, mark: LogScan.mark(inFile: first))
            var size = header.count
            while true {
                let frame = try bytes(of: log, scan?.frameSize ?? LogScan.leastFrameSize)
                size += frame.count
                guard let expected = scan?.frameSize, frame.count == expected else { break }
                scan?.take(frame)
            }
            // The header is on the disk before the first frame.
            let isDamaged = scan.map { $0.lost > 0 } ?? (size >= LogScan.headerSize + LogScan.leastFrameSize)
            if isDamaged { try keep(path) }
            let length = scan?.length ?? 0
            if size > length {
                try log.truncate(to: length)
                try log.synchronize()
            }
            return isDamaged
        } catch {
            throw [ENOSPC, EDQUOT].contains(error.code) ? .full : .cannotOpen(path: path, errno: error.code)
        }
    }

    /// Logs that were kept, by their names, until somebody removes them.
    static func kept(beside journal: String) -> [String] {
        guard let slash = journal.lastIndex(of: "/") else { return [] }
        let name = journal[journal.index(after: slash)...] + "-wal" + keptSuffix
        return (FileSystem.entries(String(journal[..<slash])) ?? []).filter { $0.hasPrefix(name) }.sorted()
    }

    private static func keep(_ path: String) throws(SystemError) {
        let log = try Descriptor(opening: path, O_RDONLY | O_NOFOLLOW)
        var number = 1
        while FileSystem.exists(path + keptSuffix + "-\(number)") { number += 1 }
        let new = path + keptSuffix + ".new"
        try? FileSystem.remove(new)
        let copy = try Descriptor(opening: new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        do throws(SystemError) {
            while true {
                let piece = try log.read(atMost: 64 << 10)
                if piece.isEmpty { break }
                try copy.write(piece)
            }
            try copy.synchronize()
            try DurableFile.rename(new, to: path + keptSuffix + "-\(number)")
        } catch {
            // A start that finds no room for it keeps nothing, and drops nothing.
            try? FileSystem.remove(new)
            throw error
        }
    }

    /// - Returns: fewer at the end of the file.
    private static func bytes(of file: borrowing Descriptor, _ count: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = try file.read(atMost: count - bytes.count)
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }
}
