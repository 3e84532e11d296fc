// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension TerminalConfiguration {
    /// Kernel 8 in the test terminal: local authentication, signature or consumer device above the CVM limit, a floor
    /// limit of zero. The AID is that of this project's own test card; no payment system's.
    static let c8Test = Combination(
        aid: [0xF0, 0x4E, 0x46, 0x43, 0x2D, 0x43, 0x38, 0x01, 0x01], kernel: .c8,
        limits: EntryPointLimits(transactionLimit: 1_000_000, zeroAmountAllowed: true),
        kernelData: [
            DataObject(.c8CVMCapabilityRequired, [0x24]),
            DataObject(.c8CVMCapabilityNotRequired, [0x0C]),
            DataObject(.c8KernelConfiguration, [0x00, 0x00]),
            DataObject(.c8SecurityCapability, [0x18]),
            DataObject(.c8ActionCodeDenial, [0x00, 0x00, 0x00, 0x00, 0x00]),
            DataObject(.c8ActionCodeOnline, [0x84, 0x50, 0x84, 0x80, 0x4C]),
            DataObject(.c8CVMLimit, [0x00, 0x00, 0x00, 0x00, 0x50, 0x00]),
        ])
}
