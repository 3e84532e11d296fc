// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Reads the NDEF message of a Type 2 tag through a PC/SC reader, which reads its pages by READ BINARY with class FF (PC/SC part 3,
/// §3.2.2.1.8): P2 is the page of four bytes.
struct Type2Read: Sendable {
    /// Pages that one byte can name.
    private static let mostBytes = 256 * 4

    private var memory: [UInt8] = []

    /// Begins on a tag that is activated already.
    mutating func enter() -> TapStep<LoyaltySignal, Type4Outcome> { readOn() }

    mutating func received(_ response: ResponseAPDU) -> TapStep<LoyaltySignal, Type4Outcome> {
        guard response.status.isSuccess else {
            return finish(memory.isEmpty ? .noNDEF(response.status) : .refused(response.status))
        }
        // One page, or the four that the tag gives.
        guard !response.data.isEmpty, response.data.count.isMultiple(of: 4), response.data.count <= 16 else {
            return finish(.malformed)
        }
        memory += response.data
        guard memory.count >= 16 else { return readOn() }
        // The capability container is page 3 (NFC Forum T2T §2.5).
        guard memory[12] == 0xE1, memory[13] >> 4 == 1 else { return finish(.noNDEF(response.status)) }
        let end = 16 + Int(memory[14]) * 8
        do throws(Type2MemoryError) {
            if let message = try Type2Memory.message(memory, end: min(memory.count, end)) {
                let secret = SecretBytes(capacity: message.count) { writer in
                    for index in message { writer.append(memory[index]) }
                }
                return finish(.message(secret))
            }
            return memory.count < end ? readOn() : finish(.noNDEF(response.status))
        } catch {
            // Of a message that is longer than what has been read.
            return memory.count < end ? readOn() : finish(.malformed)
        }
    }

    mutating func cardLost() -> TapStep<LoyaltySignal, Type4Outcome> { finish(.cardLost) }

    private mutating func readOn() -> TapStep<LoyaltySignal, Type4Outcome> {
        guard memory.count < Type2Read.mostBytes else { return finish(.tooLarge) }
        let page = UInt8(truncatingIfNeeded: memory.count / 4)
        guard let command = try? CommandAPDU(cla: 0xFF, ins: 0xB0, p1: 0x00, p2: page, le: 16) else {
            return finish(.malformed)
        }
        return TapStep(.transmit(command))
    }

    mutating func finish(_ outcome: Type4Outcome) -> TapStep<LoyaltySignal, Type4Outcome> {
        wipe(&memory)
        memory = []
        return TapStep(.finished(outcome))
    }
}

extension Type2Read: CustomStringConvertible, CustomReflectable {
    var description: String { "<Type 2 read, \(memory.count) bytes>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
