// SPDX-License-Identifier: Apache-2.0
/// What an acquirer provides to kernel 7 beside data objects.
public struct Kernel7Options: Sendable {
    /// Looked up by PAN and PAN sequence number for offline approvals.
    public var exceptionFile: ExceptionFile

    public init(exceptionFile: ExceptionFile = .empty) { self.exceptionFile = exceptionFile }
}
