// SPDX-License-Identifier: Apache-2.0
import Crypto

/// Tells whether a card is the one before, without saying which it is: a keyed digest of the card's number. The key is
/// random, lives as long as the process and is never written down, so that nobody can try numbers out on a mark.
public struct CardFingerprinter: Sendable {
    private let key = SymmetricKey(size: .bits256)

    public init() {}

    /// - Parameter digits: of the card's number.
    public func mark(of digits: [UInt8]) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        code.update(data: digits)
        return Array(code.finalize())
    }
}

extension CardFingerprinter: CustomStringConvertible, CustomReflectable {
    public var description: String { "card marker" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
