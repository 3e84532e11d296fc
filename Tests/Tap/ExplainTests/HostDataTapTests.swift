// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Explain
import ReaderCore
import TestSupport
import Testing

/// Every card in software and every recorded one, with what their hosts want.
@Suite("Host data of every tap")
struct HostDataTapTests {
    private func expectRow(
        _ trace: TapTrace, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) -> Bool {
        let final = trace.outcome.completed(for: trace.transaction, at: trace.configuration)
        guard let record = final.outcome.dataRecord, let application = final.application else { return false }
        let row = trace.configuration.hostData.row(of: application.matchingAID)
        for object in record {
            #expect(
                row.presence(of: object.tag, in: trace.transaction.type) != .prohibited, "\(name): \(object.tag)",
                sourceLocation: sourceLocation)
        }
        #expect(Set(record.map(\.tag)).count == record.count, "\(name): a tag twice", sourceLocation: sourceLocation)
        guard final.outcome.status == .onlineRequest || final.outcome.status == .approved else { return false }
        // A mag-stripe mode has no field 55.
        guard record.value(of: 0x9F39) != [0x91], record.value(of: 0x9F26) != nil else { return false }
        let missing = final.missingHostData(for: trace.transaction, at: trace.configuration)
        #expect(missing == nil, "\(name): \(missing?.description ?? "")", sourceLocation: sourceLocation)
        for tag: CardBytes.Tag in [0x9F03, 0x84, 0x9F33, 0x95, 0x9F06, 0x4F] {
            #expect(record.value(of: tag)?.isEmpty == false, "\(name): \(tag)", sourceLocation: sourceLocation)
        }
        return true
    }

    private func tap(_ name: String, _ type: EMV.TransactionType, cashback: UInt64?) throws -> TapTrace {
        let card = try #require(CardCatalogue.card(named: name))
        let start = TapInstant(nanoseconds: 0)
        return TapTrace(
            on: SimulatedReader(card), configuration: .test,
            transaction: Transaction(
                amount: 1_250, otherAmount: cashback, currency: 978, exponent: 2, country: 276, type: type,
                date: EMVDate(year: 2026, month: 3, day: 16), time: EMVTime(hour: 10, minute: 30, second: 0),
                sequenceCounter: 1),
            unpredictableNumbers: .fixed([0x1234_5678]), authentication: Terminals.authentication,
            deadlines: TapDeadlines(card: start), clock: { start }, pause: { _ in })
    }

    @Test func `every card of the catalogue gives its scheme's row, in a sale, with cashback and in a refund`() throws {
        var whole = 0
        for name in CardCatalogue.names {
            for (type, cashback) in [(.purchase, nil), (.purchaseWithCashback, 500), (.refund, nil)]
                as [(EMV.TransactionType, UInt64?)]
            {
                if expectRow(try tap(name, type, cashback: cashback), "\(name) \(type.rawValue)") { whole += 1 }
            }
        }
        // Most cards are sold to; the rest of them end without a record.
        #expect(whole > 60)
    }

    @Test func `every recorded card gives its scheme's row`() throws {
        var whole = 0
        for name in Recordings.names {
            if expectRow(try Recordings.run(name).trace, name) { whole += 1 }
        }
        #expect(whole >= 11)
    }
}
