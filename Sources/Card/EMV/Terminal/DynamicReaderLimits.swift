// SPDX-License-Identifier: Apache-2.0
/// A set of limits that a card's Application Program Identifier (9F5A) chooses (Visa Dynamic Reader Limits; the
/// Amex limit sets, numbered by 9F70, use a one-byte identifier).
public struct DynamicReaderLimits: Equatable, Sendable {
    /// 1…16 bytes, matched as a prefix of 9F5A; the longest match wins.
    public var programIdentifier: [UInt8]
    /// Replaces the combination's limits; its TTQ and Extended Selection flag are not used.
    public var limits: EntryPointLimits

    public init(programIdentifier: [UInt8], limits: EntryPointLimits) {
        self.programIdentifier = programIdentifier
        self.limits = limits
    }
}
