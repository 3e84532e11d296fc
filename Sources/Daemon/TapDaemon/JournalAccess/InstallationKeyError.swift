// SPDX-License-Identifier: Apache-2.0
public import Envelope
import Linux

/// Why the installation's key is not there to sign with.
public enum InstallationKeyError: Error, Equatable, Sendable {
    case unreadable(String, errno: Int32)
    /// The file holds something else: restore it from a backup, or move it away to begin with a new key.
    case noKey(String, RecipientKeyError)
    case unwritable(String, errno: Int32)
}

extension InstallationKeyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let path, let errno):
            "cannot read the installation key \(path): \(SystemError(code: errno).remedy)"
        case .noKey(let path, let error):
            "invalid installation key \(path) (\(error)): restore it from the backup"
        case .unwritable(let path, let errno):
            "cannot write the installation key \(path): \(SystemError(code: errno).remedy)"
        }
    }
}
