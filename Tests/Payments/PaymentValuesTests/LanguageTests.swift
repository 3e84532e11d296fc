// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@Suite("Which language a client gets")
struct LanguageTests {
    @Test(
        "Accept-Language is read as HTTP says, and nonsense is English",
        arguments: [
            ("", Language.english), ("de", .german), ("de-AT", .german), ("DE", .german), ("en", .english),
            ("fi", .english), ("fi, de;q=0.5", .german), ("fr", .french), ("fr, de;q=0.5", .french),
            ("en;q=0.4, de;q=0.5", .german),
            ("en;q=0.5,de;q=0.5", .english), ("de;q=0, en", .english), ("de;q=0", .english), ("*", .english),
            ("fi;q=1, *;q=0.1", .english), ("ar-EG", .arabic), ("ja-JP,en;q=0.9", .japanese),
            ("de ; q = 0.8 , en ; q=0.3", .german), ("de;q=1.000", .german),
            (";;;,,,q=", .english), ("de;q=-1", .english), ("de;q=nan", .english), ("deutsch", .english),
        ])
    func accepted(field: String, language: Language) { #expect(Language(accepting: field) == language) }

    @Test(
        "A tag counts by its first part",
        arguments: [("de-CH", Language.german), ("de_AT", .german), ("nl", .dutch), ("fi", .english)])
    func tag(tag: String, language: Language) { #expect(Language(tag: tag) == language) }
}
