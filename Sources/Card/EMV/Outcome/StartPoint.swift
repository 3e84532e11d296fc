// SPDX-License-Identifier: Apache-2.0
/// Where Entry Point processing begins or goes on (EMV Contactless Book B §2.2).
public enum StartPoint: UInt8, Sendable, CaseIterable {
    /// Pre-processing: the amount is new.
    case a = 0x00
    /// Protocol activation: wait for a card.
    case b = 0x10
    /// Combination selection: the next candidate.
    case c = 0x20
    /// Kernel activation.
    case d = 0x30
}
