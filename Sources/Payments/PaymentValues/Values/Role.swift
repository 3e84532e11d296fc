// SPDX-License-Identifier: Apache-2.0
/// What a client may do; given by the kernel's word on who is at the other end of the socket.
public enum Role: String, Codable, CaseIterable, Sendable {
    /// Everything.
    case admin
    /// Payments, refunds, verifications, loyalty.
    case cashier
    /// Loyalty passes only, never a payment.
    case loyalty
    /// The sessions of lanes that stand alone, and no other payment.
    case machine
    /// Status, metrics and events without results.
    case monitor
}
