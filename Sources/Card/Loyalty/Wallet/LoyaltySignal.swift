// SPDX-License-Identifier: Apache-2.0
/// What a loyalty machine wants to be shown while it works.
public enum LoyaltySignal: Equatable, Sendable {
    case readyForPass
    case reading
    /// Keep the phone there or present it again, after doing what the action says.
    case again(CustomerAction)
}
