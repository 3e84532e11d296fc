// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Glibc
import Linux

/// A token's PIN in a file, such as a credential of systemd (`LoadCredential=`). It is never an argument: those are for everybody to see.
public enum PINFile {
    public enum Fault: Error, Equatable, Sendable {
        /// As errno(3).
        case unreadable(errno: Int32)
        /// Others than its owner may read or write it.
        case open
        /// No PIN in it, or more than 255 bytes.
        case length
    }

    /// Reads a PIN up to the end of its line.
    public static func read(_ path: String) throws(Fault) -> SecretBytes {
        var hasEnded = false
        let pin: SecretBytes
        do throws(SystemError) {
            let file = try Descriptor.reading(path)
            // Credentials of systemd are 0400, and 0440 in its own folder.
            guard try file.status().mode & 0o027 == 0 else { throw SystemError(code: EPERM) }
            pin = try SecretBytes(capacity: 256) { (writer) throws(SystemError) in
                try file.readSecret(atMost: 256) { byte in
                    hasEnded = hasEnded || byte == 0x0A || byte == 0x0D
                    if !hasEnded { writer.append(byte) }
                }
            }
        } catch {
            throw error.code == EPERM ? .open : error.code == EFBIG ? .length : .unreadable(errno: error.code)
        }
        guard (1...255).contains(pin.count) else { throw .length }
        return pin
    }
}

extension PINFile.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let code): "cannot be read: \(SystemError(code: code))"
        case .open: "may be read by others: give it mode 0600 or less"
        case .length: "has no PIN of 1 to 255 bytes in its first line"
        }
    }
}
