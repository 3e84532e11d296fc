// SPDX-License-Identifier: Apache-2.0
import Crypto
import Glibc
package import Linux
import PaymentValues

/// Lines on disk, added at the end, each behind its checksum. One process has the file at a time.
package final class LineFile<Line: Codable & Sendable> {
    package enum Failure: Error, Equatable, Sendable {
        /// Another process has it open.
        case inUse
        /// By errno(3).
        case file(SystemError)
    }

    private let path: String
    private var file: Descriptor
    /// How many lines there are.
    package private(set) var count: Int
    /// Why the last write failed: part of a line may stand at the end, and the next one would be one with it.
    private var fault: SystemError?

    /// Opens the file, or makes it. A line that was cut off at its end was never promised; one that is damaged is left out, and counted.
    package static func open(
        _ path: String, _ take: (Line) -> Void
    ) throws(Failure) -> (file: LineFile, damaged: Int) {
        do throws(SystemError) {
            let file = try Descriptor(opening: path, O_RDWR | O_CREAT | O_APPEND, mode: 0o600)
            guard file.lock() else { throw SystemError(code: EAGAIN) }
            try DurableFile.synchronizeFolder(of: path)
            let bytes = try file.readAll(atMost: 1 << 28)
            var (count, damaged, start) = (0, 0, bytes.startIndex)
            while let end = bytes[start...].firstIndex(of: 0x0A) {
                if let line = line(bytes[start..<end]) { take(line) } else { damaged += 1 }
                count += 1
                start = end + 1
            }
            try file.truncate(to: start)
            return (LineFile(consume file, path, count), damaged)
        } catch {
            throw error.code == EAGAIN ? .inUse : .file(error)
        }
    }

    private init(_ file: consuming Descriptor, _ path: String, _ count: Int) {
        self.file = file
        self.path = path
        self.count = count
    }

    /// Adds lines. After a failure nothing is added any more, until the file is opened again or written anew.
    ///
    /// - Parameter isSynced: they are on the disk afterwards.
    package func write(_ added: [Line], isSynced: Bool) throws(Failure) {
        do throws(SystemError) {
            if let fault { throw fault }
            try file.write(try Self.bytes(of: added))
            count += added.count
            if isSynced { try file.synchronizeData() }
        } catch {
            fault = error
            throw .file(error)
        }
    }

    /// Writes the file anew with these lines alone.
    package func replace(with kept: [Line]) throws(Failure) {
        do throws(SystemError) {
            let new = try Descriptor(opening: path + ".new", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, mode: 0o600)
            try new.write(try Self.bytes(of: kept))
            try new.synchronize()
            // Before it has its name: nobody else may have it in between.
            guard new.lock() else { throw SystemError(code: EAGAIN) }
            try DurableFile.rename(path + ".new", to: path)
            file = new
            (count, fault) = (kept.count, nil)
        } catch {
            throw .file(error)
        }
    }

    private static func bytes(of lines: [Line]) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        for line in lines {
            let json: [UInt8]
            do throws(WireError) { json = try WireJSON.encode(line) } catch { throw SystemError(code: EINVAL) }
            bytes += sum(of: json[...]) + [0x20] + json + [0x0A]
        }
        return bytes
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> Line? {
        let json = bytes.dropFirst(17)
        guard bytes.count > 17, bytes.prefix(16).elementsEqual(sum(of: json)) else { return nil }
        return try? WireJSON.decode(Line.self, from: Array(json))
    }

    /// Sixteen digits of SHA-256.
    private static func sum(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        SHA256.hash(data: bytes).prefix(8).flatMap { byte in
            [byte >> 4, byte & 15].map { $0 < 10 ? 0x30 + $0 : 0x57 + $0 }
        }
    }
}
