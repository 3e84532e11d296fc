// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import EMVCrypto
import Envelope
// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReaderCore
import ReaderVirtual
import TestSupport
import Testing

/// The first examples of the reference pages: compiled here as they are printed there, by the public API only, and run.
@Suite("Examples of the reference pages")
struct ExampleTests {
    private static let libraries = [
        "CardBytes", "EMV", "EMVCrypto", "Loyalty", "ReaderCore", "Envelope", "CardSim", "TapClient",
    ]
    @Test(arguments: libraries) func `a page begins with the example that is compiled here`(library: String) throws {
        let place = "\(library)/\(library).docc/\(library).md"
        let floors = try FileManager.default.contentsOfDirectory(atPath: Checkout.file("Sources").path)
        let pages = floors.map { "Sources/\($0)/\(place)" }
            .filter { FileManager.default.fileExists(atPath: Checkout.file($0).path) }
        #expect(pages.count == 1)
        let page = try Checkout.text(try #require(pages.first))
        let example = try #require(page.split(separator: "```swift\n").dropFirst().first)
        let printed = try #require(example.split(separator: "```").first)
        let compiled = try Checkout.text("Tests/ExampleTests/Examples/\(library)Example.swift")
        #expect(compiled == "// SPDX-License-Identifier: Apache-2.0\n" + printed)
        #expect(printed.contains("import \(library)\n") && !printed.contains("@testable"))
    }

    @Test func `every public library has a page`() throws {
        let manifest = try Checkout.text("Package.swift")
        let products = try #require(manifest.firstMatch(of: /products: \[([^\]]*)\]/)?.output.1)
        let named = products.matches(of: /"(\w+)"/).map { String($0.output.1) }
        #expect(Set(named) == Set(Self.libraries))
    }

    private func reader(_ card: String) throws -> VirtualReader {
        let control = try VirtualReaderControl(cardNames: CardCatalogue.names) { CardCatalogue.card(named: $0) }
        try control.obey("present \(card)")
        return VirtualReader(control)
    }

    @Test func `the examples of CardBytes and CardSim read a directory`() throws {
        let answer = try #require(directoryOfVisa())
        #expect(answer.suffix(2) == [0x90, 0x00])
        #expect(try applicationNames(in: Array(answer.dropLast(2))) == ["A0000000031010"])
    }

    @Test func `the example of EMV reads a card`() throws {
        let outcome = try readCard(
            on: reader("visa"), EMVDate(year: 2026, month: 6, day: 7), EMVTime(hour: 12, minute: 0, second: 0),
            .fixed([0x0102_0304]), until: monotonicNow().advanced(byMilliseconds: 60_000))
        #expect(outcome.outcome.status == .onlineRequest)
    }

    @Test func `the example of EMVCrypto takes a key by its checksum only`() throws {
        let keys = try VectorFile.objects("ca-public-keys/keys.jsonl")
        let row = try #require(keys.first { $0["rid"] as? String == "A000000003" && $0["index"] as? String == "09" })
        let modulus = try #require(row["modulus"] as? String)
        let checksum = try #require(row["sha1"] as? String)
        _ = try authentication(rid: "A000000003", index: "09", modulus: modulus, checksum: checksum)
        #expect(throws: CAPublicKeyError.wrongChecksum) {
            try authentication(rid: "A000000003", index: "08", modulus: modulus, checksum: checksum)
        }
    }

    @Test func `the example of Loyalty finds a member's number`() throws {
        let number = try memberNumber(
            on: reader("member-tag"), addressPrefix: "https://loyalty.example/m/",
            until: monotonicNow().advanced(byMilliseconds: 60_000))
        #expect(number?.withSpan { span in span.indices.map { span[$0] } } == Array("0042-7731".utf8))
    }

    @Test func `the example of ReaderCore replays a recording`() throws {
        let status = try firstStatus(in: Checkout.text("Tests/Transcripts/visa/simulated-online.tap"))
        #expect(status == .success)
    }

    @Test func `the example of Envelope seals to a key`() throws {
        let token = try seal(SecretBytes([1, 2, 3]), toJWK: RecipientKey.sandboxTest.jwk)
        #expect(token.split(separator: ".", omittingEmptySubsequences: false).count == 5)
    }
}
