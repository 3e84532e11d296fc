// SPDX-License-Identifier: Apache-2.0
/// Which card gets the money.
public enum RefundCardRule: String, Codable, CaseIterable, Sendable {
    /// None was read: the card of the payment.
    case none
    /// The one that was read, if the payment was made with it.
    case same
    /// The one that was read.
    case any
}
