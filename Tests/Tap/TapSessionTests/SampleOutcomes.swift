// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Envelope

@testable import TapSession

/// Outcomes as kernels give them, with public test numbers.
enum SampleOutcomes {
    static let pan = "4761739001010010"

    /// Visa, PAN in 57 only; every forbidden object beside it.
    static let visaRecord: [DataObject] = [
        DataObject(0x9F02, [0x00, 0x00, 0x00, 0x00, 0x12, 0x50]),
        DataObject(0x9F26, [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]),
        DataObject(0x82, [0x20, 0x00]),
        DataObject(0x9F36, [0x00, 0x01]),
        DataObject(0x5F34, [0x01]),
        DataObject(0x9F10, [0x06, 0x01, 0x0A, 0x03, 0xA0, 0x00, 0x00]),
        DataObject(
            0x57,
            [
                0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10, 0xD3, 0x11, 0x22, 0x01, 0x01, 0x23, 0x45, 0x67, 0x89,
                0x0F,
            ]),
        DataObject(0x5F20, Array("TEST/CARD".utf8)),
        DataObject(0x5F24, [0x31, 0x12, 0x31]),
        DataObject(0x56, [0x42]),
        DataObject(0x9F46, [UInt8](repeating: 0x5A, count: 128)),
        DataObject(0x9F6B, [0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10, 0xD3, 0x11, 0x2F]),
        DataObject(0x9F24, Array("V0010013821114563145612345678".utf8)),
        DataObject(0x9F0B, Array("TEST CARDHOLDER EXTENDED".utf8)),
        DataObject(0x9F1F, [0x30]),
        DataObject(0x9F20, [0x30]),
        DataObject(0x99, [UInt8](repeating: 0, count: 8)),
    ]

    static func final(
        _ record: [DataObject]?, _ status: Outcome.Status = .onlineRequest, label: String = "VISA DEBIT"
    ) -> FinalOutcome {
        FinalOutcome(
            outcome: Outcome(status, cvm: .noCVM, dataRecord: record),
            application: SelectedApplication(
                adfName: [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10],
                matchingAID: [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10], kernel: .visa, label: Array(label.utf8)))
    }

    static let binding = CardRecord.Binding(
        transaction: "0193a4d2-0000-7000-8000-000000000001", reader: #"till "1""#, amount: 1_250, currency: "EUR",
        issuedAt: 1_700_000_000)
}

extension SecretBytes {
    /// For comparing in tests only.
    var copied: [UInt8] { withSpan { span in span.indices.map { span[$0] } } }
}
