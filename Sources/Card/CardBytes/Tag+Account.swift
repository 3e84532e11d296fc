// SPDX-License-Identifier: Apache-2.0
extension Tag {
    /// Objects that are a card's number, or have it or a part of it inside: PAN, the tracks, their discretionary data, and kernel 2's DS
    /// ID (EMV Book 3 Annex A, EMV Contactless Book C-2 Annex A). The one list of them.
    package static let ofCardNumber: Set<Tag> = [
        0x5A, 0x57, 0x56, 0x9F6B, 0x9F5E, 0x9F1F, 0x9F20, 0xDF812A, 0xDF812B,
    ]

    /// Objects that are the holder's name.
    package static let ofHolder: Set<Tag> = [0x5F20, 0x9F0B]
}
