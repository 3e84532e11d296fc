// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// The second step of a two-step close: an approval that its POS has to confirm, else it is taken back.
public struct Confirmation: Codable, Equatable, Sendable {
    /// Until when it has to be confirmed.
    public var due: Timestamp
    /// When it was; missing while it is not.
    public var confirmedAt: Timestamp?

    public init(due: Timestamp, confirmedAt: Timestamp? = nil) {
        self.due = due
        self.confirmedAt = confirmedAt
    }
}
