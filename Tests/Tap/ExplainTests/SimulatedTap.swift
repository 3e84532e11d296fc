// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Explain
import ReaderCore
import TestSupport

/// A tap of a simulated card on the test terminal.
struct SimulatedTap: Sendable, CustomStringConvertible {
    let file: String
    let card: String
    let amount: UInt64
    let expect: String
    let kernel: String
    let cvm: String?

    var description: String { file }

    static let all = [
        SimulatedTap(
            file: "visa/simulated-online.tap", card: "visa", amount: 1_250, expect: "onlineRequest", kernel: "C3",
            cvm: "noCVM"),
        SimulatedTap(
            file: "visa/simulated-signature.tap", card: "visa", amount: 7_500, expect: "onlineRequest", kernel: "C3",
            cvm: "obtainSignature"),
        SimulatedTap(
            file: "mastercard/simulated-cda.tap", card: "mastercard", amount: 1_250, expect: "onlineRequest",
            kernel: "C2", cvm: "noCVM"),
        SimulatedTap(
            file: "mastercard/simulated-co-badged.tap", card: "co-badged", amount: 7_500, expect: "onlineRequest",
            kernel: "C2", cvm: "obtainSignature"),
        SimulatedTap(
            file: "amex/simulated-online.tap", card: "amex", amount: 7_500, expect: "onlineRequest", kernel: "C4",
            cvm: "obtainSignature"),
        SimulatedTap(
            file: "jcb/simulated-online.tap", card: "jcb", amount: 7_500, expect: "onlineRequest", kernel: "C5",
            cvm: "obtainSignature"),
        SimulatedTap(
            file: "discover/simulated-online.tap", card: "discover", amount: 7_500, expect: "onlineRequest",
            kernel: "C6",
            cvm: "obtainSignature"),
        SimulatedTap(
            file: "unionpay/simulated-online.tap", card: "unionpay", amount: 7_500, expect: "onlineRequest",
            kernel: "C7",
            cvm: "obtainSignature"),
        SimulatedTap(
            file: "selection/blocked-first.tap", card: "blocked-first", amount: 1_250, expect: "onlineRequest",
            kernel: "C2", cvm: "noCVM"),
        SimulatedTap(
            file: "selection/no-ppse.tap", card: "no-ppse", amount: 1_250, expect: "endApplication", kernel: "none",
            cvm: nil),
    ]

    var transaction: Transaction {
        Transaction(
            amount: amount, currency: 978, exponent: 2, country: 276, date: EMVDate(year: 2026, month: 3, day: 16),
            time: EMVTime(hour: 10, minute: 30, second: 0), sequenceCounter: 1)
    }

    func record() throws -> Transcript {
        guard let card = CardCatalogue.card(named: card) else { throw NoSuchCard(name: card) }
        let recorder = RecordingReader(SimulatedReader(card))
        let start = TapInstant(nanoseconds: 0)
        let trace = TapTrace(
            on: recorder, configuration: .test, transaction: transaction,
            unpredictableNumbers: .fixed([0x1234_5678]), authentication: Terminals.authentication,
            deadlines: TapDeadlines(card: start), clock: { start }, pause: { _ in })
        _ = trace.outcome
        recorder.release()
        return recorder.takeTranscript(header: header)
    }

    private var header: [Transcript.Field] {
        var fields = [
            ("amount", "\(amount)"), ("currency", "EUR"), ("country", "DE"), ("date", "2026-03-16"),
            ("time", "10:30:00"), ("random", "12345678"), ("terminal", "test"), ("expect", expect), ("kernel", kernel),
        ]
        if let cvm { fields.append(("cvm", cvm)) }
        fields += [("source", "simulated card \(card) of this project"), ("licence", "as this project")]
        return fields.map { Transcript.Field(key: $0.0, value: $0.1) }
    }

    struct NoSuchCard: Error { let name: String }
}
