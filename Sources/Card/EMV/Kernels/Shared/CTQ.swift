// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Card Transaction Qualifiers (9F6C, two bytes) of kernels 3 and 7 (C-3 Annex A.2).
struct CTQ: Equatable {
    let rawValue: UInt16

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `nil` unless the card sent exactly two bytes.
    init?(_ store: DataStore) {
        guard let number = store.number(.ctq, count: 2) else { return nil }
        rawValue = UInt16(truncatingIfNeeded: number)
    }

    var requiresOnlinePIN: Bool { has(0x8000) }
    var requiresSignature: Bool { has(0x4000) }
    /// Go online if offline data authentication fails and the reader is online capable.
    var goesOnlineIfODAFails: Bool { has(0x2000) }
    /// Switch interface if offline data authentication fails and the reader supports contact chip.
    var switchesInterfaceIfODAFails: Bool { has(0x1000) }
    var goesOnlineIfExpired: Bool { has(0x0800) }
    var switchesInterfaceForCash: Bool { has(0x0400) }
    var switchesInterfaceForCashback: Bool { has(0x0200) }
    /// Not valid at a contactless cash machine (two sources name the bit, and no public one the step that reads it).
    var isRefusedByCashMachines: Bool { has(0x0100) }
    var consumerDeviceCVMPerformed: Bool { has(0x0080) }
    var supportsIssuerUpdate: Bool { has(0x0040) }

    private func has(_ mask: UInt16) -> Bool { rawValue & mask != 0 }
}
