// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import TestSupport
import Testing

@testable import EMV

@Suite("Data dictionary")
struct DataDictionaryTests {
    /// The rows of Tests/Vectors/emv/tags.tsv without its comments and its head, split at the tabs.
    static func facts() throws -> [[String]] {
        try VectorFile.lines("emv/tags.tsv").filter { !$0.hasPrefix("#") }.dropFirst().map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
        }
    }

    private func element(_ fact: [String]) throws -> DataElement {
        let sources: [String: DataElement.Source] = [
            "card": .card, "terminal": .terminal, "issuer": .issuer, "kernel": .kernel,
        ]
        let isBounded = !fact[5].isEmpty
        let kernels = fact[6].split(separator: ",").compactMap { UInt32($0) }
        return DataElement(
            tag: CardBytes.Tag(try #require(UInt32(fact[0], radix: 16))), name: fact[1],
            source: try #require(sources[fact[2]]), format: try #require(ValueFormat(rawValue: fact[3])),
            minimumLength: isBounded ? try #require(Int(fact[4])) : 0,
            maximumLength: isBounded ? try #require(Int(fact[5])) : DataElement.unbounded,
            kernels: kernels.reduce(into: []) { $0.formUnion(DataElement.Kernels(KernelIdentifier(rawValue: $1))) })
    }

    @Test func `the table says what the facts say, row by row`() throws {
        let facts = try DataDictionaryTests.facts()
        #expect(facts.count == DataDictionary.all.count)
        for (fact, row) in zip(facts, DataDictionary.all) {
            #expect(try element(fact) == row, "run scripts/generate-data-dictionary.sh")
            #expect(!fact[7].isEmpty, "\(row.tag) names no source")
        }
    }

    @Test func `every meaning is found under its tag and its kernel`() throws {
        let kernels: [KernelIdentifier] = [
            .mastercard, .visa, .americanExpress, .jcb, .discover, .unionPay, .c8,
        ]
        for row in DataDictionary.all {
            #expect(DataDictionary.elements(row.tag).contains(row))
            for kernel in kernels where row.kernels.contains(DataElement.Kernels(kernel)) {
                let found = DataDictionary.element(row.tag, kernel: kernel)
                #expect(found?.kernels.contains(DataElement.Kernels(kernel)) == true, "\(row.tag)")
            }
        }
    }

    /// Held against a look at every row: tags that share a place, and those that no row has.
    @Test func `what is found by a place is what a look at all rows finds`() {
        let rows = Dictionary(grouping: DataDictionary.all, by: \.tag)
        let tags = (Array(0...0xFFFF) + Array(0xDF_8100...0xDF_81FF) as [UInt32]).map { Tag($0) }
        for kernel in [.visa, .mastercard, .c8] as [KernelIdentifier] {
            let own = DataElement.Kernels(kernel)
            let wrong = tags.filter { tag in
                let all = rows[tag] ?? []
                let common = all.filter(\.kernels.isEmpty)
                let wanted = all.first { $0.kernels.contains(own) } ?? (common.count == 1 ? common[0] : nil)
                return DataDictionary.element(tag, kernel: kernel) != wanted
            }
            #expect(wrong == [])
        }
    }
}
