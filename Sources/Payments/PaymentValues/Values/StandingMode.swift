// SPDX-License-Identifier: Apache-2.0
/// What a tap does on a lane that stands alone.
public enum StandingMode: String, Codable, CaseIterable, Sendable {
    /// Pays.
    case sale
    /// Holds a sum, of which the machine takes what was used.
    case hold
    /// Is read, kept and offered: sent as a hold once a machine claims it, and to nobody otherwise.
    case ask
    /// Gives its passes, and takes no money.
    case read
}
