// SPDX-License-Identifier: Apache-2.0
public import Envelope
public import Linux
public import LocalHTTP

/// Why a sandbox cannot start.
public enum SandboxStartError: Error, Equatable, Sendable {
    /// The key file cannot be read.
    case keyFile(String, SystemError)
    /// The key file holds no private JWK of a supported kind.
    case key(String, RecipientKeyError)
    case listen(ListenError)
    /// The file of the books.
    case store(String, StoreError)
}

extension SandboxStartError: CustomStringConvertible {
    /// Place, cause and what to do.
    public var description: String {
        switch self {
        case .keyFile(let path, let error): "key file \(path) cannot be read: \(error)"
        case .key(let path, let error): "key file \(path): \(error): name the file of one private JWK"
        case .listen(let error): "socket: \(error)"
        case .store(let path, let error): "store \(path) cannot be opened: \(error)"
        }
    }
}
