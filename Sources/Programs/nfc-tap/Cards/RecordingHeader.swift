// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Explain
import ReaderCore

/// The header of a new recording.
enum RecordingHeader {
    static func fields(_ trace: TapTrace, numbers: [UInt32], reader: ReaderIdentity) -> [Transcript.Field] {
        let transaction = trace.transaction
        let outcome = trace.outcome
        var fields = [
            ("amount", "\(transaction.amount)"), ("currency", "\(transaction.currency)"),
            ("exponent", "\(transaction.exponent)"), ("country", "\(transaction.country)"),
            ("date", date(transaction.date)), ("time", time(transaction.time)),
            ("random", numbers.map { Hex.string(bytes($0)) }.joined(separator: " ")),
            ("sequence", "\(transaction.sequenceCounter)"), ("expect", "\(outcome.outcome.status)"),
        ]
        if let kernel = outcome.application?.kernel { fields.append(("kernel", "C\(kernel.rawValue)")) }
        if let cvm = outcome.outcome.cvm { fields.append(("cvm", "\(cvm)")) }
        fields += [("source", "nfc-tap record"), ("reader", reader.model)]
        return fields.map { Transcript.Field(key: $0.0, value: $0.1) }
    }

    /// A tap that failed is worth recording; one that never began is not.
    static func hasExchange(_ trace: TapTrace) -> Bool {
        trace.events.contains { event in if case .exchanged = event { true } else { false } }
    }

    /// What a replay cannot find out again once signatures are zeros.
    static func authentication(_ trace: TapTrace) -> Transcript.Field? {
        let results = trace.events.compactMap { event in
            if case .authenticated(let result) = event { result } else { nil }
        }
        guard let last = results.last else { return nil }
        let word: TranscriptHeader.RecordedAuthentication =
            switch last.failure {
            case nil: .verified
            case .caKeyMissing?: .noKey
            case _?: .failed
            }
        return Transcript.Field(key: "authentication", value: word.rawValue)
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func date(_ date: EMVDate) -> String {
        "\(date.year)-\(twoDigits(date.month))-\(twoDigits(date.day))"
    }

    private static func time(_ time: EMVTime) -> String {
        [time.hour, time.minute, time.second].map { twoDigits($0) }.joined(separator: ":")
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
