// SPDX-License-Identifier: Apache-2.0
public enum TransactionType: String, Codable, CaseIterable, Sendable {
    case purchase, refund, verification, loyalty
    /// Of a stored card, which is not there.
    case charge
    /// By a link that the customer opens.
    case link
    /// At another terminal, which the payment service runs.
    case handover
}

public enum AmountStatus: String, Codable, CaseIterable, Sendable {
    case final, pending, preauthorized
}
