// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import TestSupport
import Testing

@Suite("What hosts want in field 55")
struct HostDataTests {
    /// Column of the published table to the scheme's name here.
    private static let columns = [
        "Amex": "American Express", "Discover PAYG": "Discover", "Mastercard PAYG": "Mastercard", "Visa MTT": "Visa",
    ]

    @Test func `every row is the published one`() throws {
        let lines = try VectorFile.objects("emv/host-tags.jsonl", kind: "host_tag")
        #expect(lines.count == 20)
        for line in lines {
            let tag = CardBytes.Tag(try #require(UInt32(try line.text("tag"), radix: 16)))
            for (column, scheme) in Self.columns {
                let row = HostData.standard.row(ofScheme: scheme)
                let sale = row.presence(of: tag, in: .purchase)
                let refund = row.presence(of: tag, in: .refund)
                switch try line.text(column) {
                case "-": #expect(sale == nil && refund == nil, "\(tag) \(scheme)")
                case "O in authorisations, P in refunds":
                    #expect(sale == .optional && refund == .prohibited, "\(tag) \(scheme)")
                case let word: #expect(sale?.rawValue == word && refund == sale, "\(tag) \(scheme)")
                }
            }
        }
    }

    @Test func `a scheme without a published table demands nothing, and the same tags are sent`() {
        let row = HostData.standard.row(of: [0xA0, 0x00, 0x00, 0x00, 0x65, 0x10, 0x10])
        #expect(row == HostData.standard.row(ofScheme: "nobody"))
        #expect(row.tags.allSatisfy { row.presence(of: $0, in: .purchase) == .conditional })
        for tag: CardBytes.Tag in [0x9F03, 0x84, 0x9F33, 0x9F24, 0x9F19, 0x9F35, 0x9F06] {
            #expect(row.tags.contains(tag))
        }
    }

    private func final(_ record: [DataObject], _ aid: [UInt8], fci: [UInt8] = []) -> FinalOutcome {
        FinalOutcome(
            outcome: Outcome(
                .onlineRequest, dataRecord: record,
                discretionaryData: [DataObject(0x9F6E, [0x08, 0x40, 0x00, 0x01, 0x30, 0x31])]),
            application: SelectedApplication(adfName: aid + [0x99], matchingAID: aid, kernel: .mastercard, fci: fci))
    }

    @Test func `what the kernel leaves to the terminal is added, and the kernel's own values stay`() throws {
        let given = [DataObject(0x9F26, [UInt8](repeating: 1, count: 8)), DataObject(0x9F33, [0xE0, 0x08, 0x08])]
        let fci = try Hex.bytes("6F0A8408A000000004101099")
        var transaction = Transaction.test(1_250)
        let terminal = TerminalConfiguration.test
        let told = final(given, AID.mastercard, fci: fci).completed(for: transaction, at: terminal)
        let record = try #require(told.outcome.dataRecord)
        #expect(record.prefix(2) == given[...])
        #expect(record.value(of: 0x9F03) == [0, 0, 0, 0, 0, 0])
        #expect(record.value(of: 0x84) == AID.mastercard + [0x99])
        #expect(record.value(of: 0x9F06) == AID.mastercard)
        #expect(record.value(of: 0x9F35) == [0x21])
        #expect(record.value(of: 0x9F6E) == [0x08, 0x40, 0x00, 0x01, 0x30, 0x31])
        #expect(Set(record.map(\.tag)).count == record.count)
        #expect(told.missingHostData(for: transaction, at: terminal) == 0x9F36)
        transaction.otherAmount = 99
        let cashback = final(given, AID.mastercard).completed(for: transaction, at: terminal)
        #expect(cashback.outcome.dataRecord?.value(of: 0x9F03) == [0, 0, 0, 0, 0, 0x99])
        transaction.type = .refund
        let refund = final(given, AID.mastercard).completed(for: transaction, at: terminal)
        #expect(refund.outcome.dataRecord?.value(of: 0x9F6E) == nil)
    }

    @Test func `what a host prohibits is left out, and a mag-stripe record is left alone`() throws {
        let discover: [UInt8] = [0xA0, 0x00, 0x00, 0x01, 0x52, 0x30, 0x10]
        let record = [DataObject(0x5F34, [0x01]), DataObject(0x9F26, [1])]
        let told = final(record, discover).completed(for: .test(100), at: .test)
        #expect(told.outcome.dataRecord?.value(of: 0x5F34) == nil)
        let stripe = final([DataObject(0x9F39, [0x91])], discover)
        #expect(stripe.completed(for: .test(100), at: .test) == stripe)
        #expect(stripe.missingHostData(for: .test(100), at: .test) == nil)
    }
}
