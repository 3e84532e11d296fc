// SPDX-License-Identifier: Apache-2.0
import Journal
import Profile

/// What came of asking the adapter for the profile.
enum ProfileRefresh: Equatable, Sendable {
    /// The one in force is still the latest, or no profile is wanted.
    case unchanged
    /// A newer one is in force.
    case applied
    /// What came cannot be used, or nothing came; the one in force stays in force.
    case failed(ProfileTrouble)
}

/// Why there is no newer profile.
enum ProfileTrouble: Equatable, Sendable {
    /// The adapter has none.
    case none
    /// The adapter answers something else.
    case noAnswer
    case adapterUnreachable
    case refused(ProfileError)
    case notWritten(JournalError)
}
