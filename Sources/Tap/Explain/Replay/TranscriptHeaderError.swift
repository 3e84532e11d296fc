// SPDX-License-Identifier: Apache-2.0
/// Why a transcript's header does not describe a transaction.
public enum TranscriptHeaderError: Error, Equatable, Sendable {
    case missing(String)
    /// The key, and what its value has to look like.
    case unreadable(String, expected: String)
}

extension TranscriptHeaderError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing(let key): "header has no \(key)"
        case .unreadable(let key, let expected): "header value of \(key) is not \(expected)"
        }
    }
}
