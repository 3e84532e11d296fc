// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// A fuzz input read as a card: what it answers, command by command.
///
/// Each answer is a kind, a length and so many bytes: kinds 0 to 4 answer 9000, 5 is a card that leaves, 6 and 7 give the
/// first two bytes as status word. Behind its end the card is gone.
public struct AnswerScript {
    private let bytes: [UInt8]
    private var offset: Int

    public init(_ bytes: [UInt8], from offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    public mutating func next() -> ResponseAPDU? {
        guard offset + 2 <= bytes.count else { return nil }
        let kind = bytes[offset] % 8
        let start = offset + 2
        let end = min(bytes.count, start + Int(bytes[offset + 1]))
        offset = end
        let data = Array(bytes[start..<end])
        switch kind {
        case 5: return nil
        case 6, 7:
            guard data.count >= 2 else { return ResponseAPDU(status: StatusWord(sw1: 0x6A, sw2: 0x82)) }
            return ResponseAPDU(data: Array(data.dropFirst(2)), status: StatusWord(sw1: data[0], sw2: data[1]))
        default: return ResponseAPDU(data: data, status: .success)
        }
    }

    /// The input that makes a card answer so. Answers beyond 253 bytes are cut: they do not fit.
    public static func input(target: [UInt8], _ answers: [ResponseAPDU]) -> [UInt8] {
        var input = target
        for answer in answers {
            let isPlain = answer.status.isSuccess
            let data = (isPlain ? [] : answer.status.bytes) + answer.data.prefix(253)
            input += [isPlain ? 0 : 6, UInt8(truncatingIfNeeded: data.count)] + data
        }
        return input
    }
}
