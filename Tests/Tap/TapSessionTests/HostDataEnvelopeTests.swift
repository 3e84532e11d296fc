// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Testing

@testable import TapSession

@Suite("Host data in the envelope")
struct HostDataEnvelopeTests {
    /// The objects inside a sealed record.
    private func objects(_ bench: TapBench) throws -> [DataObject] {
        let text = try bench.plaintext()
        let bytes = try Hex.bytes(String(try #require(text.firstMatch(of: /"emv":"([0-9A-F]*)"/)).1))
        return try TLV.children(bytes).map { DataObject($0.tag, Array(bytes[$0.value])) }
    }

    /// Cards that are sold to and refunded, one or two a kernel: an envelope is sent for each.
    private static let sold: Set<String> = [
        "visa", "visa-afl", "mastercard", "mastercard-phone", "amex", "jcb", "discover", "unionpay", "c8",
    ]

    @Test(arguments: CardCatalogue.names)
    func `every envelope that is sent holds its scheme's row, of a sale, with cashback and of a refund`(name: String)
        throws
    {
        let kinds: [(TransactionType, UInt64?)] = [(.purchase, nil), (.purchaseWithCashback, 300), (.refund, nil)]
        for (type, other) in kinds {
            let isSold = type != .purchaseWithCashback && Self.sold.contains(name)
            // Some of the others are waited for in vain.
            let bench = try TapBench(milliseconds: isSold ? 5_000 : 300)
            bench.tap.transaction.type = type
            bench.tap.transaction.otherAmount = other
            try bench.present(name)
            _ = try? bench.run()
            let isSent = try holdsItsRow(bench, type, other)
            if isSold { #expect(isSent, "\(type)") }
        }
    }

    /// - Returns: whether an envelope with a row was sent.
    private func holdsItsRow(_ bench: TapBench, _ type: TransactionType, _ other: UInt64?) throws -> Bool {
        guard let result = bench.result, let read = result.read, result.entryMode == .contactlessEMV else {
            return false
        }
        let objects = try objects(bench)
        let row = bench.tap.configuration.hostData.row(of: result.aid)
        for tag in row.tags where row.presence(of: tag, in: type) == .prohibited {
            #expect(objects.value(of: tag) == nil, "\(type): \(tag)")
        }
        // A card's AAC to a refund is sealed too, and nobody is asked.
        guard result.status == .onlineRequest || result.status == .approved else { return true }
        for tag in row.tags where row.presence(of: tag, in: type) == .mandatory {
            #expect(objects.value(of: tag)?.isEmpty == false, "\(type): \(tag)")
        }
        let cashback: [UInt8] = [0, 0, 0, 0, UInt8((other ?? 0) / 100), 0]
        #expect(objects.value(of: 0x9F03) == cashback, "\(type)")
        #expect(read.clearTags.value(of: 0x9F03) == cashback, "\(type)")
        return true
    }

    @Test func `a read without an object that its hosts demand is refused before it is sent, and the object is named`()
        throws
    {
        let bench = try TapBench()
        var row = bench.tap.configuration.hostData.row(ofScheme: "Visa")
        row.set(0x9F24, .mandatory)
        bench.tap.configuration.hostData.set(row, ofScheme: "Visa")
        try bench.present("visa")
        #expect(throws: PaymentTapError.missingHostData(0x9F24)) { try bench.run() }
        #expect(bench.result == nil)
        #expect(!bench.reader.notes.contains("beep"))
        #expect(bench.reader.notes.suffix(2) == ["show error", "release"])
        #expect("\(PaymentTapError.missingHostData(0x9F24))".contains("9F24"))
        // Another scheme's card is no part of it.
        let other = try TapBench()
        other.tap.configuration.hostData = bench.tap.configuration.hostData
        try other.present("mastercard")
        #expect(try other.run()?.status == .onlineRequest)
    }
}
