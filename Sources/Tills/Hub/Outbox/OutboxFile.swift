// SPDX-License-Identifier: Apache-2.0
import Crypto
import Glibc
package import Linux
import PaymentValues

/// An outbox on disk: a line for each change, added at the end, each behind its checksum.
///
/// What was added is on the disk before it is sent. That something was sent need not be: it is sent once more then.
package final class OutboxFile {
    package enum Failure: Error, Equatable, Sendable {
        /// Another process has it open.
        case inUse
        /// By errno(3).
        case file(SystemError)
    }

    /// Lines beyond which the file is written anew when nothing waits, and in any case beyond ten times as many.
    private static let longest = 2_000

    private let path: String
    private var file: Descriptor
    private var lines: Int

    /// Opens the file, or makes it. A line that was cut off at its end was never promised; one that is damaged is left out, and counted.
    package static func open(
        _ path: String, life: Int
    ) throws(Failure) -> (file: OutboxFile, outbox: Outbox, damaged: Int) {
        do throws(SystemError) {
            let file = try Descriptor(opening: path, O_RDWR | O_CREAT | O_APPEND, mode: 0o600)
            guard file.lock() else { throw SystemError(code: EAGAIN) }
            try DurableFile.synchronizeFolder(of: path)
            let bytes = try file.readAll(atMost: 1 << 28)
            var outbox = Outbox(life: life)
            var (count, damaged, start) = (0, 0, bytes.startIndex)
            while let end = bytes[start...].firstIndex(of: 0x0A) {
                if let line = line(bytes[start..<end]) { outbox.read(line) } else { damaged += 1 }
                count += 1
                start = end + 1
            }
            try file.truncate(to: start)
            return (OutboxFile(consume file, path, count), outbox, damaged)
        } catch {
            throw error.code == EAGAIN || error.code == EACCES ? .inUse : .file(error)
        }
    }

    private init(_ file: consuming Descriptor, _ path: String, _ lines: Int) {
        self.file = file
        self.path = path
        self.lines = lines
    }

    /// Adds lines.
    ///
    /// - Parameter isSynced: they are on the disk afterwards.
    package func write(_ added: [Outbox.Line], isSynced: Bool) throws(Failure) {
        do throws(SystemError) {
            try file.write(try OutboxFile.bytes(of: added))
            lines += added.count
            if isSynced { try file.synchronizeData() }
        } catch {
            throw .file(error)
        }
    }

    /// Writes the file anew where most of it says nothing any more.
    package func renew(_ outbox: Outbox) throws(Failure) {
        guard lines > OutboxFile.longest, outbox.waiting.isEmpty || lines > 10 * OutboxFile.longest else { return }
        do throws(SystemError) {
            let kept = outbox.lines
            let new = try Descriptor(opening: path + ".new", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, mode: 0o600)
            try new.write(try OutboxFile.bytes(of: kept))
            try new.synchronize()
            // Before it has its name: nobody else may have it in between.
            guard new.lock() else { throw SystemError(code: EAGAIN) }
            try DurableFile.rename(path + ".new", to: path)
            file = new
            lines = kept.count
        } catch {
            throw .file(error)
        }
    }

    private static func bytes(of lines: [Outbox.Line]) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        for line in lines {
            let json: [UInt8]
            do throws(WireError) { json = try WireJSON.encode(line) } catch { throw SystemError(code: EINVAL) }
            bytes += sum(of: json[...]) + [0x20] + json + [0x0A]
        }
        return bytes
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> Outbox.Line? {
        let json = bytes.dropFirst(17)
        guard bytes.count > 17, bytes.prefix(16).elementsEqual(sum(of: json)) else { return nil }
        return try? WireJSON.decode(Outbox.Line.self, from: Array(json))
    }

    /// Sixteen digits of SHA-256.
    private static func sum(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        SHA256.hash(data: bytes).prefix(8).flatMap { byte in
            [byte >> 4, byte & 15].map { $0 < 10 ? 0x30 + $0 : 0x57 + $0 }
        }
    }
}
