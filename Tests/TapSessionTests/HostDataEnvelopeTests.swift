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

    @Test(arguments: CardCatalogue.names)
    func `every envelope that is sent holds its scheme's row`(name: String) throws {
        let bench = try TapBench(milliseconds: 300)
        try bench.present(name)
        _ = try? bench.run()
        guard let result = bench.result, result.read != nil, result.entryMode == .contactlessEMV else { return }
        guard result.status == .onlineRequest || result.status == .approved else { return }
        let objects = try objects(bench)
        let row = bench.tap.configuration.hostData.row(of: result.aid)
        for tag in row.tags {
            switch row.presence(of: tag, in: .purchase) {
            case .mandatory: #expect(objects.value(of: tag)?.isEmpty == false, "\(tag)")
            case .prohibited: #expect(objects.value(of: tag) == nil, "\(tag)")
            case .conditional, .optional, nil: break
            }
        }
        #expect(objects.value(of: 0x9F03) == [0, 0, 0, 0, 0, 0])
        #expect(result.read?.clearTags.value(of: 0x9F03) == [0, 0, 0, 0, 0, 0])
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
