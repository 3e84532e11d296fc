// SPDX-License-Identifier: Apache-2.0
public import Envelope

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
        case .unreadable(let path, let errno): "installation key \(path) cannot be read, error \(errno)"
        case .noKey(let path, let error):
            "installation key \(path) is unusable (\(error)): restore it, or move it away to begin with a new one"
        case .unwritable(let path, let errno): "installation key \(path) cannot be written, error \(errno)"
        }
    }
}
