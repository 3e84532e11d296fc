// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import ReaderVirtual
import Testing

@testable import TapSession

/// What is told while a result is not safe yet.
struct TapDisplayTests {
    @Test("R4: what the holder has to do is told before the field goes off, also after a word that the card was read")
    func heldBack() throws {
        var signals: [TapSignal] = []
        let reader = NotingReader(VirtualReader(try VirtualReaderControl { _ in nil }))
        let display = TapDisplay(reader: reader, clock: { TapInstant(nanoseconds: 0) }) { signals.append($0) }
        let observed = display.observed { _ in }
        let phone = UIRequest(.seePhone, .processingError, holdTime: 13)
        display.show(UIRequest(.cardReadOK, .cardReadSuccessfully))
        display.show(phone)
        #expect(signals.isEmpty, "nobody may believe it yet")
        observed.release()
        #expect(signals == [.show(phone), .cardAwaited])
        #expect(reader.notes == ["show tryAgain", "release"])
    }
}
