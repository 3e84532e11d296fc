// SPDX-License-Identifier: Apache-2.0

/// A payment of a batch, or a booking.
struct Turnover: Equatable, Sendable {
    let number: UInt64
    /// In minor units; below zero what was given back.
    let amount: Int64
    let network: TillNetwork?

    var receipt: UInt64 { Attempt.receipt(of: number) }
}
