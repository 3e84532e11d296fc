// SPDX-License-Identifier: Apache-2.0
import CardSim

/// One reader of the fake pcscd and the card on it.
struct FakeReader {
    let name: String
    var card: (any VirtualCard)?
    /// Counts the cards that lay here: a handle belongs to one of them.
    var cardNumber = 0
    var eventCounter: UInt16 = 0
    var isMute = false
    /// How many more connections the card does not take power at.
    var powerUpsToFail = 0
    /// Another program has left the card in a protocol of its own: it stays so until it loses power.
    var isRaw = false
    /// Its name goes to clients in ISO/IEC 8859-1, as some drivers take it from USB.
    var isLatin1 = false
    var isInError = false
    /// Open handles: −1 exclusive, 0 none, else the number of shared ones.
    var connections: Int32 = 0
    /// A program that is not played has the reader for itself, whatever handles come and go.
    var isOccupied = false
    /// The handle in whose transaction the reader is.
    var lockHolder: UInt32?

    /// As `connections`, with everybody's.
    var sharing: Int32 { isOccupied ? -1 : connections }

    private var stateBits: UInt32 {
        if isInError { return 0x01 }
        if isMute { return 0x0C }
        return card == nil ? 0x02 : 0x34
    }

    /// The slot of the reader table: 184 bytes.
    var slot: [UInt8] {
        let atr = isMute || isInError ? [] : card.map { SyntheticATR.bytes(for: $0.activation) } ?? []
        var body = MessageBody([UInt8](repeating: 0, count: 184))
        body[128] = UInt32(eventCounter)
        body[132] = stateBits
        body[136] = UInt32(bitPattern: sharing)
        body[176] = UInt32(atr.count)
        body[180] = atr.isEmpty ? 0 : 2
        var bytes = body.bytes
        let text = isLatin1 ? name.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(name.utf8)
        for (index, byte) in text.prefix(127).enumerated() { bytes[index] = byte }
        for (index, byte) in atr.prefix(33).enumerated() { bytes[140 + index] = byte }
        return bytes
    }

    mutating func insert(_ newCard: any VirtualCard) {
        card = newCard
        (isMute, isRaw) = (false, false)
        cardNumber += 1
        eventCounter &+= 1
    }

    mutating func remove() {
        card = nil
        (isMute, isRaw) = (false, false)
        eventCounter &+= 1
    }
}
