// SPDX-License-Identifier: Apache-2.0
/// What an acquirer can switch on or off in kernel 3.
public struct Kernel3Options: Sendable {
    /// Take an AAC for a refund as an answer and go online with it (C-3 3.4.1.2, note; one source: another declines, as
    /// this switch off does).
    public var refundsOnAAC: Bool
    /// Looked up for offline approvals (C-3 5.5.1.2).
    public var exceptionFile: ExceptionFile
    /// Cards that were read a moment ago are refused; off by default (not in C-3: one vendor's kernel has it).
    public var doubleTaps: DoubleTapGuard

    public init(
        refundsOnAAC: Bool = true, exceptionFile: ExceptionFile = .empty, doubleTaps: DoubleTapGuard = .none
    ) {
        self.refundsOnAAC = refundsOnAAC
        self.exceptionFile = exceptionFile
        self.doubleTaps = doubleTaps
    }
}
