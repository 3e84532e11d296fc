// SPDX-License-Identifier: Apache-2.0
import Wire

/// What came of asking the adapter for the profile.
enum ProfileRefresh: Equatable, Sendable {
    /// The one in force is still the latest, or no profile is wanted.
    case unchanged
    /// A newer one is in force.
    case applied
    /// What came cannot be used, or nothing came; the one in force stays in force.
    case failed(ErrorCode)
}
