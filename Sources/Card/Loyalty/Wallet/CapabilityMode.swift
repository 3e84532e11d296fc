// SPDX-License-Identifier: Apache-2.0
/// What a terminal wants from a phone. The same numbers stand in tag 9F26, in ECP frames and, in another coding, in
/// Smart Tap's terminal capabilities.
///
/// The pairing with the kind of tap is inferred from public readers, not documented by either wallet's owner.
public enum CapabilityMode: UInt8, Sendable, CaseIterable {
    /// The first of a pass or a card ends the tap.
    case passOrPayment = 0
    /// A pass and a card in one tap.
    case passAndPayment = 1
    /// A pass and nothing else.
    case passOnly = 2
    /// No pass is asked for.
    case paymentOnly = 3
}
