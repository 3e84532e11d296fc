// SPDX-License-Identifier: Apache-2.0
/// What mag-stripe mode keeps between COMPUTE CRYPTOGRAPHIC CHECKSUM and its answer.
struct MagStripeChecksum: Equatable, Sendable {
    /// nUN: significant digits of the unpredictable number.
    var digits = 0
    /// The unpredictable number (9F6A) as a decimal number.
    var number: UInt64 = 0
}
