// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Card Processing Requirements (9F71 of kernel 6, two bytes; K6-5). Only bits 8 and 7 of byte 1 and bits 2 and 1 of
/// byte 2 are certain; the order of the others is unverified.
struct CardProcessingRequirements: Equatable {
    let rawValue: UInt16

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `nil` unless the card sent exactly two bytes.
    init?(_ store: DataStore) {
        guard let number = store.number(.cardProcessingRequirements, count: 2) else { return nil }
        rawValue = UInt16(truncatingIfNeeded: number)
    }

    var requiresOnlinePIN: Bool { has(0x8000) }
    var requiresSignature: Bool { has(0x4000) }
    /// Unverified.
    var consumerDeviceCVMPerformed: Bool { has(0x1000) }
    /// Unverified.
    var switchesInterfaceIfOffline: Bool { has(0x0080) }
    /// Unverified.
    var goesOnlineIfCDAFails: Bool { has(0x0040) }
    /// Unverified.
    var switchesInterfaceIfCDAFails: Bool { has(0x0020) }
    /// Unverified; without it an expired card goes online.
    var declinesIfExpired: Bool { has(0x0004) }
    var allowsSignatureInstead: Bool { has(0x0002) }
    var allowsNoCVMInstead: Bool { has(0x0001) }

    private func has(_ mask: UInt16) -> Bool { rawValue & mask != 0 }
}
