// SPDX-License-Identifier: Apache-2.0
/// What a reader knows of a card once it answers: the facts of ISO/IEC 14443-3 and -4 activation.
public struct CardActivation: Equatable, Sendable {
    /// Modulation and bit coding of the card.
    public enum Technology: String, Sendable {
        case typeA
        case typeB
        /// JIS X 6319-4: takes no APDUs.
        case feliCa
        /// Vicinity cards and tags, PicoPass among them: take no APDUs.
        case iso15693
        /// The reader does not tell (PC/SC without a synthetic ATR of either kind).
        case unknown
    }

    public var technology: Technology
    /// UID (type A: 4, 7 or 10 bytes) or PUPI (type B: 4 bytes); empty where the reader does not tell.
    public var uid: [UInt8]
    /// ATS (type A) without TL, or the ATQB's protocol info (type B); empty where unknown.
    public var answerToSelect: [UInt8]
    /// The ATR that PC/SC made up; empty on other paths.
    public var atr: [UInt8]
    /// SAK of a type A card, `nil` where unknown. Bit 6 says ISO/IEC 14443-4.
    public var sak: UInt8?

    public init(
        technology: Technology = .unknown, uid: [UInt8] = [], answerToSelect: [UInt8] = [], atr: [UInt8] = [],
        sak: UInt8? = nil
    ) {
        self.technology = technology
        self.uid = uid
        self.answerToSelect = answerToSelect
        self.atr = atr
        self.sak = sak
    }

    /// Whether the card takes APDUs (ISO/IEC 14443-4): SAK bit 6 of type A (ISO/IEC 14443-3 §6.5.3.4), bit 1 of the second
    /// protocol info byte of type B (§7.9.4); `nil` where the reader does not tell. A ticket, a sticker or a key fob takes none.
    public var takesCommands: Bool? {
        switch technology {
        case .typeA: sak.map { $0 & 0x20 != 0 }
        case .typeB: answerToSelect.count > 1 ? answerToSelect[1] & 0x01 != 0 : nil
        case .feliCa, .iso15693: false
        case .unknown: nil
        }
    }
}
