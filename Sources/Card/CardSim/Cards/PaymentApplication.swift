// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// One application on a `PaymentCard`: everything after its selection. One conforming type a kernel.
public protocol PaymentApplication: Sendable {
    /// Name, FCI and records.
    var files: ApplicationFiles { get }

    /// Forgets the session: the application was selected, or the field came on. Counters stay.
    mutating func restart()

    /// Answers a command that is neither SELECT nor READ RECORD of a fixed record. Well-formed, but whatever else.
    mutating func answer(_ command: CommandAPDU) -> ResponseAPDU
}
