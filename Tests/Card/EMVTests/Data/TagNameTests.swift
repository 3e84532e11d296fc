// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import TestSupport
import Testing

@testable import EMV

/// A tag is written by its name: in the sources of this module a tag of the dictionary as a hexadecimal number is a
/// mistake.
@Suite("Names of tags")
struct TagNameTests {
    /// The files that give tags their names and meanings.
    private static let tables: Set<String> = [
        "DataDictionary+Table.swift", "Tag+Names.swift", "Tag+KernelNames.swift",
        "Kernel2Objects.swift",
    ]

    private static let tags = Set(DataDictionary.all.map(\.tag))

    private static let sources = Checkout.file("Sources/Card/EMV")

    /// Where a number of one byte is a tag, not a mask or a code: after what takes a tag, and in lists of tags.
    private static var placesOfOneByte: [Regex<Substring>] {
        [
            /(?:store|legacy|kept|facts)\.\w+\((?:in: |listIn: )?0x[0-9A-F]{2}\b(?=[,)])/,
            /\b(?:DataObject|action|date|value|object|isPresent|isPresentNotEmpty|setFromCard|set)\((?:of: )?0x[0-9A-F]{2}\b/,
            /\b[tT]ag [=!]= 0x[0-9A-F]{2}\b/,
            /(?:contains|into|issuerCountry): 0x[0-9A-F]{2}\b/,
            /: Tag = 0x[0-9A-F]{2}\b/,
            /(?:\[Tag\] =|Set<Tag> =|: Tag in|firstMissing\(of:|objects\()\s*\[[^\]]*\b0x[0-9A-F]{2}\b/,
        ]
    }

    /// What is written as a number in `text` and should be written by its name.
    private func numbers(in text: String) -> [String] {
        let code = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line)
        }.joined(separator: "\n")
        var found: [String] = []
        // A word ends at a point: `template.tag` is two.
        for match in code.matches(of: /\b0x((?!00)(?:[0-9A-F]{2}){2,3})\b/.wordBoundaryKind(.simple)) {
            if let tag = UInt32(match.1, radix: 16), Self.tags.contains(CardBytes.Tag(tag)) {
                found.append(String(match.0))
            }
        }
        return found
            + Self.placesOfOneByte.flatMap { place in
                code.matches(of: place.wordBoundaryKind(.simple)).map { String($0.0) }
            }
    }

    @Test func `no source of EMV writes a tag as a number`() throws {
        let files = try #require(FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            guard !Self.tables.contains(file.lastPathComponent) else { continue }
            count += 1
            let found = numbers(in: try String(contentsOf: file, encoding: .utf8))
            #expect(
                found.isEmpty,
                "\(file.lastPathComponent): \(found); use the tag's name, or give it one in Tests/Vectors/emv/tags.tsv")
        }
        #expect(count > 100)
    }

    /// The search finds what it is for.
    @Test(arguments: [
        "store.value(0x9F02)", "let own: Tag = 0x57", "DataObject(0x82, [0x00])", "store.set(0x95, tvr.bytes)",
        "store.set(\n0xDF8111, data)", "guard template.tag == 0x77 else { return }", "record.value(of: 0x5A)",
        "private static let recordTags: [Tag] = [\n    .amountAuthorised, 0x82,\n]",
        "store.firstMissing(of: [.pan, 0x8C])", "store.list(in: 0x9F38, contains: 0x9F66)", "case 0x9F6E: nil",
        "store.isEqual(.issuerCountry, 0x9F1A)", "for tag: Tag in [0x8F, .iccExponent] {", "store.fill(listIn: 0x8C)",
    ])
    func `a tag as a number is found`(source: String) {
        #expect(!numbers(in: source).isEmpty)
    }

    /// Masks, lengths, codes, status words and comments are no tags.
    @Test(arguments: [
        "(store.byte(.aip) ?? 0) & 0x82", "var requiresOnlinePIN: Bool { has(0x8000) }", "case 0x6300: return",
        "/// The AIP (0x82) and 0x9F02.", "ShortCommand.make(0x80, 0xCA, 0x9F, 0x36)", "if list != [0x82] { return }",
        "DataObject(.terminalActionCodeDefault, [0x84, 0x50, 0x84, 0x80, 0x0C])",
    ])
    func `other numbers are left alone`(source: String) {
        #expect(numbers(in: source).isEmpty)
    }

    @Test func `every constant of the facts names its tag`() throws {
        let facts = try DataDictionaryTests.facts().filter { $0.count > 8 }
        let names = facts.map { $0[8] }
        #expect(Set(names).count == names.count && names.count > 150)
        let text = try ["Tag+Names.swift", "Tag+KernelNames.swift"].map {
            try String(contentsOf: Self.sources.appending(path: "Data/\($0)"), encoding: .utf8)
        }.joined()
        for fact in facts {
            #expect(
                text.contains("public static var \(fact[8]): Tag { 0x\(fact[0]) }"),
                "\(fact[8]): run scripts/generate-data-dictionary.sh")
        }
    }
}
