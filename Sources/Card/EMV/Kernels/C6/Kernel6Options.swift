// SPDX-License-Identifier: Apache-2.0
/// What an acquirer provides to kernel 6 beside data objects.
public struct Kernel6Options: Sendable {
    public var exceptionFile: ExceptionFile

    public init(exceptionFile: ExceptionFile = .empty) { self.exceptionFile = exceptionFile }
}
