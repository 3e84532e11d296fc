// SPDX-License-Identifier: Apache-2.0
/// Why a payment was declined, in words that a cashier may say. Derived from ISO 8583 data element 39.
public enum DeclineReason: String, Codable, CaseIterable, Sendable {
    case referToIssuer, notAccepted, invalidTransaction, invalidCard, lostCard, stolenCard, insufficientFunds
    case expiredCard, wrongPIN, notPermitted, suspectedFraud, limitExceeded, otherInterfaceNeeded, issuerUnavailable
    /// The card itself declined.
    case cardDeclined
    /// The account is on this merchant's deny list; the payment service was not asked.
    case notAcceptedHere
    /// No usable answer in time; the payment is reversed should it have been booked.
    case hostTimeout
    /// The POS asked for a cancel after the request had been sent.
    case cancelledAfterSending
    /// Approved, and not confirmed by the POS within the time that it had set itself.
    case notConfirmed
    /// Approved, and taken back on the wish of the shop.
    case reversed
    /// The customer has not paid by the link while that was possible.
    case linkExpired
    /// Nobody has paid at the other terminal while that was possible.
    case handoverExpired

    /// Reads a reason as it is written now, or as journals have it that were written before 2026-11-28.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let reason = text == "takenBack" ? .reversed : DeclineReason(rawValue: text) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "unknown reason"))
        }
        self = reason
    }

    /// The reason behind a response code of ISO 8583:1987 (two characters).
    ///
    /// - Returns: `nil` for an approval, and for a code without a reason that could be told.
    public init?(responseCode: String) {
        switch responseCode {
        case "01", "02": self = .referToIssuer
        case "05": self = .notAccepted
        case "12": self = .invalidTransaction
        case "14": self = .invalidCard
        case "41": self = .lostCard
        case "43": self = .stolenCard
        case "51": self = .insufficientFunds
        case "54": self = .expiredCard
        // 75: too often.
        case "55", "75": self = .wrongPIN
        case "57", "58", "62": self = .notPermitted
        case "59", "34": self = .suspectedFraud
        case "61": self = .limitExceeded
        // 65, 70 and 1A ask for the contact chip or a PIN (soft declines of the schemes).
        case "65", "70", "1A": self = .otherInterfaceNeeded
        case "91", "92": self = .issuerUnavailable
        default: return nil
        }
    }
}
