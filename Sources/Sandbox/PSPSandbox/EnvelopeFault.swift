// SPDX-License-Identifier: Apache-2.0
/// Why the sandbox declines a card record whatever the amount. The response codes are those of ISO 8583 data element 39
/// that come nearest.
enum EnvelopeFault: Error, Equatable, Sendable {
    /// The envelope does not open with the sandbox's key, or holds no record of version 1.
    case unreadable
    /// Amount, currency, transaction or last four digits differ from those beside the envelope.
    case mismatch
    /// `exp` has passed.
    case stale
    /// The record's id was seen before, or the key serial number of the PIN block.
    case replayed
    /// The card number fails the Luhn check (ISO/IEC 7812-1 Annex B).
    case invalidNumber
    /// The card's expiry month has passed.
    case expiredCard
    /// A test card's cryptogram is wrong, or there is none.
    case wrongCryptogram
    /// A data object that the cryptogram is made over is missing.
    case incompleteData
    /// The PIN is not the test cards'.
    case wrongPIN
    /// A PIN was promised, and none came that the sandbox can open.
    case noPIN

    var responseCode: String {
        switch self {
        case .unreadable, .mismatch, .incompleteData: "30"
        case .stale: "68"
        case .replayed: "94"
        case .invalidNumber: "14"
        case .expiredCard: "54"
        case .wrongCryptogram: "82"
        case .wrongPIN: "55"
        case .noPIN: "86"
        }
    }
}
