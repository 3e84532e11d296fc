// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Crypto
public import EMV

/// Accounts that a merchant does not serve, as public transport keeps them: by a keyed hash of the PAN or of the Payment
/// Account Reference (9F24), so that the list tells no number to who has no key.
///
/// A card is denied where either of the two is listed: a phone and the plastic card of one account have different PANs
/// and one reference.
public struct DenyList: Sendable {
    private let key: SymmetricKey
    private let entries: Set<[UInt8]>

    /// Shortest key: that of the hash's strength.
    public static let shortestKey = 32

    /// Bytes of an entry.
    public static let entryLength = 32

    /// - Parameters:
    ///   - key: of the hashes; `nil` results from one that is shorter than `shortestKey`.
    ///   - entries: results of `entry`, 32 bytes each; others are never found.
    public init?(key: SecretBytes, entries: Set<[UInt8]>) {
        guard key.count >= DenyList.shortestKey else { return nil }
        self.key = unsafe key.withUnsafeBytes { unsafe SymmetricKey(data: $0) }
        self.entries = entries
    }

    public var count: Int { entries.count }

    /// HMAC-SHA-256 over the letter P and the digits in ASCII.
    ///
    /// - Parameter pan: 0…9 each.
    public func entry(pan: [UInt8]) -> [UInt8] { hash([0x50] + pan.map { $0 | 0x30 }) }

    /// HMAC-SHA-256 over the letter R and the reference as the card has it.
    public func entry(reference: [UInt8]) -> [UInt8] { hash([0x52] + reference) }

    /// - Parameter record: a kernel's data record.
    public func contains(_ record: [DataObject]) -> Bool {
        if let account = CardAccount(record: record), entries.contains(entry(pan: account.pan)) { return true }
        guard let reference = record.value(of: .paymentAccountReference) else { return false }
        return entries.contains(entry(reference: reference))
    }

    /// For kernels that have an exception file of their own: they decline before they approve offline.
    public var exceptionFile: ExceptionFile {
        ExceptionFile { pan, _ in entries.contains(entry(pan: pan)) }
    }

    private func hash(_ text: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: text, using: key))
    }
}

extension DenyList: CustomStringConvertible, CustomReflectable {
    public var description: String { "deny list of \(count) accounts" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
