// SPDX-License-Identifier: Apache-2.0
/// Why a record that a kernel left is in no envelope: a read card is never lost without a name for it.
public enum UnsealedRecord: String, Equatable, Sendable, CaseIterable {
    /// The account is on the deny list.
    case accountDenied
    /// The card declined and left a record without its number.
    case noCardNumber
    /// The application ended without anything that a host could judge: a broken storage of the card, or a phone whose
    /// second tap did not come.
    case notConcluded
}
