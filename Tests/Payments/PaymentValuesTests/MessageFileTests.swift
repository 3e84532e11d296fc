// SPDX-License-Identifier: Apache-2.0
import Foundation
import PaymentValues
import TestSupport
import Testing

@Suite("The message files, one a language")
struct MessageFileTests {
    private static let required = Set(TextKey.required.map(\.name))

    @Test("Every file has every key, and none that the program does not ask for", arguments: Language.allCases)
    func keys(_ language: Language) {
        let allowed = Self.required.union(TextKey.optional.map(\.name))
        #expect(Self.required.count > 300 && TextKey.required.count == Self.required.count)
        #expect(Self.required.subtracting(language.keys) == [])
        #expect(language.keys.subtracting(allowed) == [])
    }

    @Test("An optional key is in all files or in none", arguments: Language.allCases)
    func optionalKeys(_ language: Language) {
        #expect(language.keys == Language.english.keys)
    }

    @Test("No key stands in a file twice: the second would win unseen", arguments: Language.allCases)
    func duplicates(_ language: Language) throws {
        let keys = try Self.source(language).split(separator: "\n").compactMap { line in
            line.wholeMatch(of: #/  "([^"]+)": .*/#)?.1
        }
        #expect(keys.count == language.keys.count && Set(keys).count == keys.count)
    }

    @Test("A key holds paragraphs in every language or a line in every language, and none is empty")
    func forms() {
        for topic in HelpTopic.allCases {
            let english = Language.english.paragraphs(.helpText(topic))
            for language in Language.allCases {
                let texts = language.paragraphs(.helpText(topic))
                #expect(texts.count == english.count && texts.allSatisfy { $0.count > 30 }, "\(topic)")
            }
        }
        for key in TextKey.required where !key.name.hasSuffix(".text") {
            for language in Language.allCases {
                #expect(language.find(key)?.isEmpty == false, "\(key.name) in \(language)")
            }
        }
    }

    @Test("A text has the same placeholders in every language, and the program knows them")
    func placeholders() {
        var found = Set<String>()
        for key in TextKey.required + TextKey.optional {
            guard let english = Language.english.find(key) else { continue }
            for language in Language.allCases {
                let names = Self.placeholders(language.find(key) ?? "")
                #expect(names == Self.placeholders(english), "\(key.name) in \(language)")
            }
            found.formUnion(Self.placeholders(english))
        }
        #expect(found == Set(TextKey.Placeholder.allCases.map(\.rawValue)))
    }

    @Test("A value takes the place of its placeholder")
    func substitution() {
        let english = Language.english.text(
            .receipt(.instalments), [.payments: "3", .amount: "4", .frequency: "weekly"])
        #expect(english == "3 instalments of 4, weekly")
    }

    @Test("Every message of a card has words of its own in each language", arguments: Language.allCases)
    func cardholderMessages(_ language: Language) {
        let texts = CardholderMessage.allCases.map { $0.text(in: language) }
        #expect(Set(texts).count == texts.count && texts.allSatisfy { (4...80).contains($0.count) })
        #expect(
            CardholderMessage.seePhone.text(in: language.rawValue + "-AT")
                == CardholderMessage.seePhone.text(in: language))
    }

    @Test("Not authorised is never told as approved, in any language", arguments: Language.allCases)
    func opposites(_ language: Language) {
        let approved = CardholderMessage.approved.text(in: language)
        #expect(CardholderMessage.notAuthorised.text(in: language) != approved)
        #expect(language.text(.receipt(.statusDeclined)) != language.text(.receipt(.statusApproved)))
    }

    private static func source(_ language: Language) throws -> String {
        let file = Checkout.file(
            "Sources/Payments/PaymentValues/Texts/\(language.rawValue).json")
        return try String(contentsOf: file, encoding: .utf8)
    }

    private static func placeholders(_ text: String) -> Set<String> {
        Set(text.matches(of: #/\{([^}]*)\}/#).map { String($0.1) })
    }
}
