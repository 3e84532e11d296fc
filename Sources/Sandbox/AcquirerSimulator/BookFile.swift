// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// The book on a disk: a line of JSON for each line of the book, only ever added to.
public final class BookFile: Sendable {
    public enum Fault: Error, Equatable, Sendable {
        /// As errno(3).
        case unusable(errno: Int32)
        /// Another simulator has it.
        case inUse
        /// From 1.
        case notALine(Int)
    }

    private static let most = 1 << 30
    private let file: Descriptor

    private init(_ file: consuming Descriptor) { self.file = file }

    /// Opens it, and makes it if it is not there. A last line without an end was cut off by a crash and is taken away.
    ///
    /// - Returns: what it comes to.
    /// - Throws: `Fault` for a file that is in use, cannot be used, or has a line that is none of a book.
    public static func open(_ path: String) throws(Fault) -> (file: BookFile, book: HostBook) {
        let file: BookFile
        let bytes: [UInt8]
        do throws(SystemError) {
            let opened = try Descriptor(opening: path, O_RDWR | O_CREAT | O_APPEND, mode: 0o600)
            guard opened.lock() else { throw SystemError(code: EWOULDBLOCK) }
            // A host that has lost its book has taken no payment.
            try DurableFile.synchronizeFolder(of: path)
            bytes = try opened.readAll(atMost: most)
            file = BookFile(opened)
        } catch {
            throw error.code == EWOULDBLOCK ? .inUse : .unusable(errno: error.code)
        }
        let whole = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let book = try read(bytes.prefix(whole))
        if whole < bytes.count {
            do throws(SystemError) { try file.file.truncate(to: whole) } catch { throw .unusable(errno: error.code) }
        }
        return (file, book)
    }

    /// What a book comes to that nobody writes any more.
    ///
    /// - Throws: `Fault.notALine` with the number of the first line that is none of a book.
    public static func read(_ bytes: some Collection<UInt8>) throws(Fault) -> HostBook {
        var book = HostBook()
        for (index, text) in bytes.split(separator: 0x0A).enumerated() {
            guard let line = BookLine(json: text), line.number == index + 1 else { throw .notALine(index + 1) }
            _ = book.append(line)
        }
        return book
    }

    /// - Throws: `Fault.unusable` if the disk does not take the line.
    public func append(_ line: BookLine) throws(Fault) {
        do throws(SystemError) {
            try file.write(Array((line.json + "\n").utf8))
            try file.synchronizeData()
        } catch {
            throw .unusable(errno: error.code)
        }
    }
}

extension BookFile.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unusable(let code): "cannot be used: \(SystemError(code: code).remedy)"
        case .inUse: "is in use: stop the other simulator, or name another file"
        case .notALine(let number): "has no line of a book in line \(number): name another file"
        }
    }
}
