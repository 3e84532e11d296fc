// SPDX-License-Identifier: Apache-2.0
internal import CardBytes

extension CardActivation {
    /// A phone's activation: a 4-byte UID that begins with 08 and changes in each field session.
    static func phone(session: Int) -> CardActivation {
        let random = UInt32(truncatingIfNeeded: session &* 2_654_435_761)
        return CardActivation(
            technology: .typeA,
            uid: [0x08] + [16, 8, 0].map { UInt8(truncatingIfNeeded: random >> ($0 as UInt32)) },
            answerToSelect: [0x78, 0x80, 0x70, 0x02], atr: [0x3B, 0x80, 0x80, 0x01, 0x01], sak: 0x20)
    }
}
