// SPDX-License-Identifier: Apache-2.0

/// Why a card on a lane that stands alone begins no session.
public enum TapRefusal: String, Codable, CaseIterable, Sendable {
    /// Too soon after the tap before it.
    case debounce
    /// As many sessions of the lane are open as may be.
    case openSessions
    /// As many taps were taken in an hour as may be.
    case tooOften
    /// The daemon takes no payment on the lane; `error` says why.
    case notReady
}
