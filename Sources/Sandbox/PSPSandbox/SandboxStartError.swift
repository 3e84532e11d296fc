// SPDX-License-Identifier: Apache-2.0
public import Envelope
public import LocalHTTP

/// Why a sandbox cannot start.
public enum SandboxStartError: Error, Equatable, Sendable {
    /// The key file cannot be read.
    case keyFile(errno: Int32)
    case keyFileTooLarge
    /// The key file holds no private JWK of a supported kind.
    case key(RecipientKeyError)
    case listen(ListenError)
    case store(StoreError)
}

extension SandboxStartError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .keyFile(let errno): "key file cannot be read: error \(errno)"
        case .keyFileTooLarge: "key file is too large for a key"
        case .key(let error): "key file: \(error)"
        case .listen(let error): "socket: \(error)"
        case .store(let error): "store cannot be opened: SQLite error \(error.code)"
        }
    }
}
