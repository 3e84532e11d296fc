// SPDX-License-Identifier: Apache-2.0
/// Whether the daemon believes the machine's clock. While it does not, nothing is erased and no live payment is taken.
public struct ClockStatus: Codable, Equatable, Sendable {
    public enum Doubt: String, Codable, CaseIterable, Sendable {
        /// Before the newest entry of the journal, or before the profile in force was signed.
        case behind
        /// More than a day after the newest entry of the journal, and nobody else says so.
        case ahead
        /// The payment service says another day.
        case contradicted
    }

    public var believed: Bool
    /// Why not.
    public var doubt: Doubt?

    public init(doubt: Doubt?) {
        believed = doubt == nil
        self.doubt = doubt
    }
}
