// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Envelope
import ReaderCore
import TapSession
import TestSupport
import Testing

@testable import Explain

/// Every recorded card through a whole tap: what its kernel left is in an envelope, or its loss has a name.
@Suite("Reads of every recorded card")
struct RecordedReadTests {
    @Test func `every record that a recorded card left is sealed, or its loss has a name`() throws {
        var sealed = 0
        for name in Recordings.names {
            let expected = try Recordings.run(name).trace
            let transcript = try Recordings.transcript(name)
            let header = try TranscriptHeader(transcript)
            var tap = PaymentTap(
                configuration: expected.configuration,
                authentication: header.authentication?.replayed ?? Terminals.authentication,
                transaction: header.transaction,
                binding: CardRecord.Binding(
                    transaction: name, reader: "replay", amount: header.transaction.amount, currency: "EUR",
                    issuedAt: 1_700_000_000),
                recipient: .sandboxTest,
                deadlines: TapDeadlines(card: TapInstant(nanoseconds: 60_000_000_000)),
                unpredictableNumbers: .fixed(header.unpredictableNumbers))
            tap.kernels = Recordings.kernels(of: name)
            var result: PaymentTapResult?
            do {
                try tap.run(
                    on: ReplayReader(transcript), cancellation: TapCancellation(),
                    clock: { TapInstant(nanoseconds: 0) }, onSignal: { _ in }, deliver: { result = $0 })
                let result = try #require(result)
                #expect(result.status == expected.outcome.outcome.status, "\(name)")
                if expected.outcome.outcome.dataRecord != nil {
                    #expect((result.read == nil) != (result.unsealed == nil), "\(name)")
                } else {
                    #expect(result.read == nil && result.unsealed == nil, "\(name)")
                }
                if result.read != nil { sealed += 1 }
            } catch let error as PaymentTapError {
                // A recording of fewer presentations than the tap wants ends like a card that does not come back.
                #expect(result == nil, "\(name)")
                let isNamed =
                    switch error {
                    case .missingHostData, .incompleteRecord, .reader(.timedOut): true
                    case .reader, .recipient, .sealing: false
                    }
                #expect(isNamed, "\(name): \(error)")
            }
        }
        #expect(sealed >= 11)
    }
}
