// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Envelope
import ReaderCore
import TapSession
import TestSupport
import Testing

@testable import EMVCrypto
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

    /// What a recorded card answers to a terminal with these CA keys. Commands that nobody recorded end the run.
    private func trace(_ name: String, _ keys: CAPublicKeys) throws -> (trace: TapTrace, commands: [[UInt8]]) {
        let transcript = try Recordings.transcript(name)
        let header = try TranscriptHeader(transcript)
        let reader = ReplayReader(transcript)
        let start = TapInstant(nanoseconds: 0)
        let trace = TapTrace(
            on: reader, configuration: try #require(Terminals.configuration(named: transcript["terminal"] ?? "")),
            transaction: header.transaction, unpredictableNumbers: .fixed(header.unpredictableNumbers),
            authentication: .using(keys, eccKeys: CAECCPublicKeys.none(.test)), kernels: Recordings.kernels(of: name),
            deadlines: TapDeadlines(card: start), clock: { start }, pause: { _ in },
            continues: { reader.remainingSteps > 0 && reader.mismatch == nil })
        let commands = trace.events.compactMap { event -> [UInt8]? in
            guard case .exchanged(let command, _) = event else { return nil }
            return command.bytes
        }
        return (trace, commands)
    }

    @Test func `an expired CA key is the same as none for every recorded card`() throws {
        let rows = CAPublicKeys.publishedTestKeys + CAPublicKeys.furtherTestKeys.map(\.row)
        let expired = try CAPublicKeys(
            environment: .test,
            keys: rows.map { row in
                try CAPublicKey(
                    rid: row.rid, index: row.index, modulus: row.modulus, exponent: row.exponent,
                    checksum: row.checksum, expiry: "20150101", environment: .test)
            })
        #expect(expired.count == CAPublicKeys.test.count)
        var different = 0
        for name in Recordings.names {
            let old = try trace(name, expired)
            let none = try trace(name, .none(.test))
            #expect(old.commands == none.commands, "\(name)")
            let reason = (old.trace.outcome.outcome.unmatchedKey, none.trace.outcome.outcome.unmatchedKey)
            #expect((reason.0 == nil) == (reason.1 == nil), "\(name)")
            var outcomes = (old.trace.outcome.outcome, none.trace.outcome.outcome)
            outcomes.0.unmatchedKey = nil
            outcomes.1.unmatchedKey = nil
            #expect(outcomes.0 == outcomes.1, "\(name)")
            if try trace(name, .test).trace.outcome.outcome != none.trace.outcome.outcome { different += 1 }
        }
        // Keys in use are not the same: the comparison sees something.
        #expect(different >= 2)
    }
}
