// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Linux

/// Where vpcd listens.
struct VPCDEndpoint {
    let host: String
    let port: String

    /// `HOST:PORT`; an IPv6 address in brackets.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let number = UInt16(text[text.index(after: colon)...]), number > 0
        else { return nil }
        var name = String(text[..<colon])
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        guard !name.isEmpty else { return nil }
        host = name
        port = String(number)
    }
}

/// A card's connection to vsmartcard's vpcd: two bytes of length (big-endian) and that many bytes, both ways. A single
/// byte 00, 01, 02 or 04 switches off, on, resets, or asks for the ATR; all else is a command.
final class VPCDConnection {
    private let connection: StreamConnection

    /// Tries for five seconds; `nil` where nobody listens.
    init?(_ endpoint: VPCDEndpoint) {
        for _ in 0..<100 {
            if let connected = StreamConnection(host: endpoint.host, port: endpoint.port) {
                connection = connected
                return
            }
            sleep(milliseconds: 50)
        }
        return nil
    }

    /// Answers until vpcd goes, the card leaves or has been used often enough.
    ///
    /// - Parameter uses: a use ends when the reader switches off or resets a card that it has spoken to.
    func serve(_ card: any VirtualCard, uses: Int?) {
        var card = card
        var isInUse = false
        var left = uses
        while let payload = receive() {
            let answer: [UInt8]
            switch payload {
            case [0x00], [0x01], [0x02]:
                if payload != [0x00] { card.powerOn() }
                guard isInUse else { continue }
                isInUse = false
                left = left.map { $0 - 1 }
                if left == 0 { return }
                continue
            case [0x04]: answer = VPCDConnection.answerToReset(card.activation)
            default:
                isInUse = true
                switch reply(to: payload, by: &card) {
                case .answer(let bytes): answer = bytes
                case .late(let bytes, let milliseconds):
                    sleep(milliseconds: UInt64(clamping: milliseconds))
                    answer = bytes
                case .gone: return
                }
            }
            // A card without a word is a card that has left: the driver would wait for it.
            guard !answer.isEmpty else { return }
            let length = [UInt8(truncatingIfNeeded: answer.count >> 8), UInt8(truncatingIfNeeded: answer.count)]
            guard connection.send(length + answer) else { return }
        }
    }

    /// GET DATA of the reader (`FF CA`) comes to the card here, because vpcd has no reader of its own.
    private func reply(to command: [UInt8], by card: inout any VirtualCard) -> VirtualCardReply {
        guard command.starts(with: [0xFF, 0xCA]), command.count == 5 else { return card.answer(command) }
        let data = command[2] == 0x00 ? card.activation.uid : []
        return .answer(data.isEmpty ? [0x6A, 0x81] : data + [0x90, 0x00])
    }

    /// The card's own, or one with the historical bytes of its ATS (PC/SC part 3 §3.1.3.2.3.1).
    private static func answerToReset(_ activation: CardActivation) -> [UInt8] {
        guard activation.atr.isEmpty else { return activation.atr }
        let format = activation.answerToSelect.first ?? 0
        let skipped = 1 + (format >> 4 & 0x07).nonzeroBitCount
        let history = activation.answerToSelect.dropFirst(skipped).prefix(15)
        let body = [0x80 | UInt8(history.count), 0x80, 0x01] + history
        return [0x3B] + body + [body.reduce(0, ^)]
    }

    /// vpcd sends length and payload apart: without a quick ACK for the first, the second waits for 40 ms.
    private func receive() -> [UInt8]? {
        guard let length = connection.receive(2) else { return nil }
        return connection.receive(Int(length[0]) << 8 | Int(length[1]))
    }
}
