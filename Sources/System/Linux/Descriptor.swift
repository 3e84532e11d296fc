// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// A file descriptor that closes itself.
package struct Descriptor: ~Copyable, Sendable {
    package let number: Int32

    package init(owning number: Int32) { self.number = number }

    /// open(2), with `O_CLOEXEC`.
    package init(opening path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemError) {
        let number = unsafe open(path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { throw .last }
        self.number = number
    }

    /// A file to read to its end.
    ///
    /// - Throws: `ESPIPE` for a pipe with a name, whose other end nobody may ever open (fifo(7)), and for a device. What /dev and /proc
    ///   name of this process, as a shell does with `<(…)`, is read, and `/dev/null`, which is empty (null(4)).
    package static func reading(_ path: String) throws(SystemError) -> Descriptor {
        // Without O_NONBLOCK the open itself would wait.
        let file = try Descriptor(opening: path, O_RDONLY | O_NONBLOCK)
        switch try file.status().kind {
        case .file: break
        case .folder: throw SystemError(code: EISDIR)
        case .socket, .other:
            let isNamed = ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"].contains(where: path.hasPrefix)
            guard isNamed || path == "/dev/null" else {
                throw SystemError(code: ESPIPE)
            }
            _ = fcntl(file.number, F_SETFL, 0)
        }
        return file
    }

    /// Standard input under a number of its own, so that closing this leaves it open.
    package static func standardInput() throws(SystemError) -> Descriptor {
        let number = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
        guard number >= 0 else { throw .last }
        return Descriptor(owning: number)
    }

    /// What has come, up to `count` bytes; empty at the end.
    package func read(atMost count: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        while true {
            let got = unsafe Glibc.read(number, &bytes, count)
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .last }
            bytes.removeLast(count - got)
            return bytes
        }
    }

    /// Everything up to the end.
    ///
    /// - Throws: `EFBIG` for more than `limit` bytes.
    package func readAll(atMost limit: Int) throws(SystemError) -> [UInt8] {
        var all: [UInt8] = []
        while true {
            // Most files are small, and a whole buffer of zeros for each takes longer than the reading.
            let piece = try read(atMost: all.count < 8_192 ? 4_096 : 64 * 1_024)
            if piece.isEmpty { return all }
            guard all.count + piece.count <= limit else { throw SystemError(code: EFBIG) }
            all += piece
        }
    }

    /// Everything up to the end, byte by byte and through no memory that somebody would have to wipe.
    ///
    /// - Throws: `EFBIG` for more than `limit` bytes.
    package func readSecret(atMost limit: Int, _ take: (UInt8) -> Void) throws(SystemError) {
        var byte: UInt8 = 0
        var taken = 0
        while true {
            let got = unsafe Glibc.read(number, &byte, 1)
            if got == 0 { return }
            if got < 0, errno == EINTR { continue }
            guard got == 1 else { throw .last }
            guard taken < limit else { throw SystemError(code: EFBIG) }
            taken += 1
            take(byte)
        }
    }

    /// All of it.
    package func write(_ bytes: borrowing Span<UInt8>) throws(SystemError) {
        try Descriptor.write(bytes, to: number)
    }

    /// All of it.
    package func write(_ bytes: [UInt8]) throws(SystemError) { try write(bytes.span) }

    /// Writes all of a text for people to a descriptor that stays open, such as standard error, and no commands to a terminal with it.
    package static func write(_ text: String, to number: Int32) throws(SystemError) {
        try write(Array(text.shown.utf8), to: number)
    }

    /// Writes a line for people to standard output.
    package static func print(_ text: String) throws(SystemError) { try write(text + "\n", to: STDOUT_FILENO) }

    /// Writes bytes as they are.
    package static func write(_ bytes: [UInt8], to number: Int32) throws(SystemError) {
        try write(bytes.span, to: number)
    }

    package func status() throws(SystemError) -> FileStatus { try FileStatus(of: number) }

    /// Waits until what was written is on the disk.
    package func synchronize() throws(SystemError) {
        guard fsync(number) == 0 else { throw .last }
    }

    /// The same without what a reader does not need, such as the time of the change.
    package func synchronizeData() throws(SystemError) {
        guard fdatasync(number) == 0 else { throw .last }
    }

    /// Cuts off what is behind `size` bytes.
    package func truncate(to size: Int) throws(SystemError) {
        guard ftruncate(number, off_t(size)) == 0 else { throw .last }
    }

    /// Keeps other openings of the file from locking it, until this one is closed.
    ///
    /// - Returns: whether nobody else has.
    package func lock() -> Bool { flock(number, LOCK_EX | LOCK_NB) == 0 }

    /// Has the disk keep `size` bytes for this file, really and not only as a number.
    package func allocate(_ size: Int64) throws(SystemError) {
        var code: Int32
        repeat { code = posix_fallocate(number, 0, off_t(size)) } while code == EINTR
        guard code == 0 else { throw SystemError(code: code) }
    }

    package func setMode(_ mode: mode_t) throws(SystemError) {
        guard fchmod(number, mode) == 0 else { throw .last }
    }

    static func write(_ bytes: borrowing Span<UInt8>, to number: Int32) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.extracting(written...).withUnsafeBytes {
                unsafe Glibc.write(number, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .last }
            written += count
        }
    }

    deinit { _ = close(number) }
}
