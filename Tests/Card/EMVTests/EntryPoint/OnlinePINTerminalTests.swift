// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Testing

/// What a terminal with a PIN device beside it tells cards: the bits as EMV Book 4 Annex A2, Book A Table 5-4 and the kernels'
/// books have them.
@Suite struct OnlinePINTerminalTests {
    private func value(_ tag: CardBytes.Tag, _ aid: [UInt8], _ terminal: TerminalConfiguration) -> [UInt8]? {
        terminal.combinations.first { $0.aid == aid }?.kernelData.first { $0.tag == tag }?.value
    }

    @Test("A PIN device adds an online PIN to what every kernel says, and nothing else")
    func announced() throws {
        let (without, with) = (TerminalConfiguration.test, TerminalConfiguration.test.withOnlinePIN)
        let capabilities: CardBytes.Tag = 0x9F33
        #expect(with.terminalData.first { $0.tag == capabilities }?.value == [0x00, 0x48, 0x08])
        let mastercard: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10]
        #expect(value(0xDF8118, mastercard, with) == [0x60])
        #expect(value(0xDF8119, mastercard, with) == [0x08], "below the limit nobody is asked")
        let amex: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x25, 0x01]
        #expect(value(0x9F6E, amex, with) == [0x18, 0xE0, 0x00, 0x03])
        #expect(value(capabilities, amex, with) == [0x00, 0x68, 0x88])
        let jcb: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x65, 0x10, 0x10]
        #expect(value(0x9F53, jcb, with) == [0x70, 0x00, 0x00])
        var qualified = 0
        for (before, after) in zip(without.combinations, with.combinations) {
            #expect(before.aid == after.aid && before.kernel == after.kernel)
            if let ttq = after.limits.ttq, let old = before.limits.ttq {
                #expect(ttq.supportsOnlinePIN && !old.supportsOnlinePIN)
                #expect(ttq.rawValue ^ old.rawValue == 0x0400_0000)
                qualified += 1
            }
            for (old, new) in zip(before.kernelData, after.kernelData) where old != new {
                #expect([0x9F33, 0xDF8118, 0x9F6E, 0x9F53].contains(new.tag.rawValue), "\(new.tag)")
            }
        }
        #expect(qualified >= 6)
        #expect(with.withOnlinePIN == with)
    }
}
