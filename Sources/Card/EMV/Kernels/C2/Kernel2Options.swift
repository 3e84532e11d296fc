// SPDX-License-Identifier: Apache-2.0
/// What sources of kernel 2 disagree on.
public struct Kernel2Options: Sendable {
    /// CVM Results (9F34) byte 1 without bit 7 of the CVM code. One public implementation has it so, two have the code as
    /// it stands in the card's list, as EMV Book 4 Annex A4 does. For replaying what was recorded with the former.
    public var masksCVMCode: Bool

    public init(masksCVMCode: Bool = false) { self.masksCVMCode = masksCVMCode }
}
