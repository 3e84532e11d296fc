// SPDX-License-Identifier: Apache-2.0
import Foundation
import PaymentValues
import TestSupport
import Testing

@Suite("The message files, one a language")
struct MessageFileTests {
    @Test("P8: the languages are those of the till in the browser, and each file has every key and no other")
    func keys() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Checkout.file("share/till/messages").path)
        #expect(Set(files) == Set(Language.allCases.map { "\($0.rawValue).json" }))
        for language in Language.allCases {
            let keys = TextKey.required(in: language)
            let own = Set(keys.filter { $0.tillName == nil }.map(\.name))
            #expect(own.count > (language.isComplete ? 600 : 350) && Set(keys).count == keys.count)
            #expect(own.subtracting(language.keys) == [], "\(language)")
            #expect(Set(keys.compactMap(\.tillName)).subtracting(language.tillKeys) == [], "\(language)")
            // An optional key is in all files that have the error, or in none.
            let optional = Set(TextKey.optional(in: language).map(\.name)).intersection(Language.english.keys)
            #expect(language.keys == own.union(optional), "\(language)")
        }
        #expect(Language.allCases.filter(\.isComplete) == [.english, .german])
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
                #expect(
                    texts.count == english.count && texts.allSatisfy { $0.count > (language == .japanese ? 15 : 30) },
                    "\(topic)")
            }
        }
        for language in Language.allCases {
            for key in TextKey.required(in: language) where !key.name.hasSuffix(".text") {
                #expect(language.find(key)?.isEmpty == false, "\(key.name) in \(language)")
            }
        }
    }

    @Test("A text has the same placeholders in every language, and the program knows them")
    func placeholders() {
        var found = Set<String>()
        for language in Language.allCases {
            for key in TextKey.required(in: language) + TextKey.optional(in: language) {
                guard let english = Language.english.find(key) else { continue }
                let names = Self.placeholders(language.find(key) ?? "")
                #expect(names == Self.placeholders(english), "\(key.name) in \(language)")
                found.formUnion(names)
            }
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
        #expect(Set(texts).count == texts.count && texts.allSatisfy { (3...80).contains($0.count) })
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
            "Sources/Payments/CTexts/\(language.rawValue).json")
        return try String(contentsOf: file, encoding: .utf8)
    }

    private static func placeholders(_ text: String) -> Set<String> {
        Set(text.matches(of: #/\{([^}]*)\}/#).map { String($0.1) })
    }
}
