// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import CardSim

/// A card before the emulated antenna, and how the chip describes it to the host.
public struct PN532Card: Sendable {
    public var card: any VirtualCard
    /// Most bytes of an R-APDU in one answer; the rest follows with the status bit "more". At most 262.
    public var piece: Int
    /// Answers one search in so many, as a card at the edge of the field may. With 8 it is found, and gone when it is to be selected,
    /// however often the chip tries.
    public var searchesPerAnswer: Int
    private var searches = 0

    public init(_ card: any VirtualCard, piece: Int = 262, searchesPerAnswer: Int = 1) {
        self.card = card
        self.piece = max(1, min(piece, 262))
        self.searchesPerAnswer = max(1, searchesPerAnswer)
    }

    /// - Returns: whether it answers this search.
    mutating func isFound() -> Bool {
        defer { searches &+= 1 }
        return searches.isMultiple(of: searchesPerAnswer)
    }

    var isTypeB: Bool { card.activation.technology == .typeB }

    /// Target data as InListPassiveTarget answers it, from Tg on (PN532 user manual §7.3.5).
    func targetData(withATS isRATSOn: Bool) -> [UInt8] {
        let activation = card.activation
        if isTypeB {
            let protocolInfo = activation.answerToSelect.count == 3 ? activation.answerToSelect : [0x80, 0x81, 0x71]
            return [0x01, 0x50] + activation.uid + [0x00, 0x00, 0x00, 0x00] + protocolInfo + [0x01, 0x01]
        }
        let sak = activation.sak ?? 0x20
        // At most as long as anticollision makes it, and an ATS (ISO/IEC 14443-3 §6.5.4, 14443-4 §5.2.2).
        let uid = activation.uid.prefix(10)
        var data: [UInt8] = [0x01, 0x00, 0x04, sak, UInt8(truncatingIfNeeded: uid.count)] + uid
        if sak & 0x20 != 0, isRATSOn { data += ats }
        return data
    }

    /// With its length byte TL, which is never another than the true one.
    var ats: [UInt8] {
        let own = card.activation.answerToSelect.prefix(253)
        return [UInt8(own.count + 1)] + own
    }
}
