// SPDX-License-Identifier: Apache-2.0
/// How an Apple VAS session ended.
public struct VASOutcome: Sendable {
    /// What one merchant's request came to.
    public struct Entry: Sendable {
        public let passTypeIdentifier: String
        public var status: PassStatus
        public var pass: VASPass?
    }

    /// What answered the SELECT; `nil` where nothing did.
    public var application: WalletApplication?
    /// One for each merchant, in the order in which they were given.
    public var entries: [Entry]
}

/// A pass as delivered.
public struct VASPass: Sendable {
    public enum Content: Sendable {
        /// No key was configured for this merchant, or none that fits.
        case sealed
        case opened(OpenedVASPass)
    }

    public let cryptogram: VASCryptogram
    public let content: Content
    /// 9F2A; empty where absent or empty.
    public let mobileToken: [UInt8]
}

extension VASPass: CustomStringConvertible, CustomReflectable {
    public var description: String {
        switch content {
        case .sealed: "<sealed VAS pass>"
        case .opened: "<opened VAS pass>"
        }
    }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
