import ArgumentParser
import Glibc

/// Files that commands write.
enum OutputFile {
    /// Makes a new file that only this user reads.
    static func create(_ path: String, _ text: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let exists = errno == EEXIST
            throw Failure(
                exists ? "\(path) already exists" : "cannot write \(path)",
                hint: exists ? "give another name, or remove the file" : "check the folder and its permissions",
                exitCode: .malformedInput)
        }
        defer { _ = close(descriptor) }
        guard write(Array(text.utf8), to: descriptor), fsync(descriptor) == 0 else {
            throw Failure("cannot write \(path)", hint: "check the free space on the disk", exitCode: .unavailable)
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }
}
