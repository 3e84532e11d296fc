// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes
public import EMV
public import ReaderCore

/// What a transcript's header says of the transaction it was taken in, and of how it should end.
///
/// | key | value |
/// |---|---|
/// | `amount` | minor units |
/// | `other-amount` | minor units; optional |
/// | `currency` | ISO 4217, `978` or `EUR` |
/// | `exponent` | digits after the decimal point; by the currency where absent |
/// | `country` | ISO 3166-1, `276` or `DE` |
/// | `type` | 9C in hexadecimal; `00` where absent |
/// | `date`, `time` | `YYYY-MM-DD`, `HH:MM:SS`; midnight where absent |
/// | `random` | unpredictable numbers in order, eight hexadecimal digits each, separated by blanks |
/// | `sequence` | transaction sequence counter; 1 where absent |
/// | `authentication` | `verified`, `failed` or `no-key`: the result of offline data authentication at the time, for a transcript whose signatures were replaced |
/// | `expect`, `kernel`, `cvm` | outcome (`onlineRequest`), kernel (`C3`) and verification (`onlinePIN`) to come |
public struct TranscriptHeader: Sendable {
    /// What the end should be.
    public enum Expectation: String, Sendable, CaseIterable {
        case outcome = "expect"
        case kernel
        case cvm
    }

    /// A result of offline data authentication that was noted when the transcript was taken.
    public enum RecordedAuthentication: String, Sendable, CaseIterable {
        case verified
        case failed
        case noKey = "no-key"
    }

    public let transaction: Transaction
    public let unpredictableNumbers: [UInt32]
    public let authentication: RecordedAuthentication?
    /// In the order of the enumeration; only what the header names.
    public let expectations: [(kind: Expectation, value: String)]

    /// - Throws: the first key that is missing or has a value that cannot be read.
    public init(_ transcript: Transcript) throws(TranscriptHeaderError) {
        let fields = HeaderFields(transcript)
        let currency = try fields.code("currency") { CurrencyCode($0)?.numeric }
        let country = try fields.code("country") { CountryCode($0)?.numeric }
        let ownExponent = CurrencyCode(numeric: UInt64(currency))?.exponent ?? 2
        let exponent = try fields.optionalNumber("exponent", upTo: 4) ?? UInt64(ownExponent)
        let sequence = try fields.optionalNumber("sequence", upTo: 99_999_999) ?? 1
        transaction = Transaction(
            amount: try fields.number("amount", upTo: HeaderFields.mostMinorUnits),
            otherAmount: try fields.optionalNumber("other-amount", upTo: HeaderFields.mostMinorUnits),
            currency: currency, exponent: UInt8(truncatingIfNeeded: exponent), country: country,
            type: TransactionType(rawValue: try fields.byte("type") ?? 0x00), date: try fields.date(),
            time: try fields.time(), sequenceCounter: UInt32(truncatingIfNeeded: sequence))
        unpredictableNumbers = try fields.randomNumbers()
        authentication = try fields.word("authentication", RecordedAuthentication.init(rawValue:))
        expectations = Expectation.allCases.compactMap { kind in
            transcript[kind.rawValue].map { (kind, $0) }
        }
    }
}

extension TranscriptHeader.RecordedAuthentication {
    /// A verifier that gives this result to every request. The values that a signature would have carried are zero.
    var replayed: OfflineAuthentication {
        switch self {
        case .verified:
            let data = AuthenticatedData(
                iccDynamicNumber: [UInt8](repeating: 0, count: 8), dataAuthenticationCode: [0, 0],
                cryptogram: [UInt8](repeating: 0, count: 8))
            return OfflineAuthentication(hasKey: { _, _ in true }, verify: { _ in .verified(data) })
        case .failed:
            return OfflineAuthentication(hasKey: { _, _ in true }, verify: { _ in .failed(.signatureHash) })
        case .noKey:
            return .unavailable
        }
    }
}
