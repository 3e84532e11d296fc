// SPDX-License-Identifier: Apache-2.0
/// What an acquirer provides to kernel 5 beside data objects. Random selection is set with the combination; both are used
/// only where the Combination Options say so.
public struct Kernel5Options: Sendable {
    public var exceptionFile: ExceptionFile

    public init(exceptionFile: ExceptionFile = .empty) { self.exceptionFile = exceptionFile }
}
