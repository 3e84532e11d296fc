// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import ReaderCore
import Testing

@testable import TapDaemon

/// What the till is told where the service behind a reader is what does not work.
struct ReaderServiceTests {
    static let faults: [(ReaderError.ServiceFault, ErrorCode, String)] = [
        (.pcscdNotRunning, .readerServiceUnavailable, "systemctl start pcscd.socket"),
        (.accessDenied, .readerAccessDenied, "nfc-tap doctor --fix"),
        (.otherVersion, .readerServiceMismatch, "systemctl restart nfc-tapd"),
        (.workerMissing, .readerWorkerMissing, "Install the nfc-tap package again"),
    ]

    @Test("R17, R20: what keeps pcscd or the worker from working has a word and a remedy of its own", arguments: faults)
    func words(fault: ReaderError.ServiceFault, code: ErrorCode, remedy: String) {
        #expect(ErrorCode(ReaderError.serviceUnavailable(fault)) == code)
        #expect(ErrorCode(opening: .serviceUnavailable(fault)) == code)
        #expect(code.texts(in: .english).resolution.contains(remedy))
        // Somebody has to do something at the machine first; the sale is for another way to pay.
        #expect(code.entry.who == .administrator && code.entry.retryable)
    }

    @Test("R17: no two causes are one code, and each is the reader's")
    func distinct() {
        let codes = Self.faults.map(\.1)
        #expect(Set(codes).count == codes.count)
        #expect(codes.allSatisfy { $0.rawValue.hasPrefix("reader.") })
    }

    @Test("R21: a card can be presented again where the reader was lost")
    func again() { #expect(ErrorCode.readerDetached.entry.next == [.retrySameCard, .otherMethod]) }
}
