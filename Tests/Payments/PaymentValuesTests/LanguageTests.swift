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
        "D14: a command speaks the language of the locale, as POSIX and gettext look for it",
        arguments: [
            ([:], Language.english), (["LANG": "de_AT.UTF-8"], .german), (["LANG": "ja"], .japanese),
            (["LANG": "fi_FI.UTF-8"], .english), (["LANG": "C.UTF-8"], .english), (["LANG": "POSIX"], .english),
            (["LANG": "sr_RS@latin"], .english), (["LANG": "sv_SE@euro"], .swedish), (["LANG": ""], .english),
            // POSIX.1-2024, Base Definitions 8.2: LC_ALL, then LC_MESSAGES, then LANG; an empty one is none.
            (["LC_ALL": "C", "LC_MESSAGES": "de_DE", "LANG": "fr_FR"], .english),
            (["LC_ALL": "", "LC_MESSAGES": "de_DE", "LANG": "fr_FR"], .german),
            // GNU gettext manual 2.3.3: LANGUAGE comes before all of them, but not where the locale is C.
            (["LANGUAGE": "nb:sv:de", "LANG": "fr_FR.UTF-8"], .swedish), (["LANGUAGE": "de", "LC_ALL": "C"], .english),
            (["LANGUAGE": "de"], .english), (["LANGUAGE": "::", "LANG": "it_IT"], .italian),
            (["LANGUAGE": "en:de", "LANG": "de_DE"], .english),
        ])
    func locale(variables: [String: String], language: Language) {
        #expect(Language(locale: { variables[$0] }) == language)
    }

    @Test(
        "A tag counts by its first part",
        arguments: [("de-CH", Language.german), ("de_AT", .german), ("nl", .dutch), ("fi", .english)])
    func tag(tag: String, language: Language) { #expect(Language(tag: tag) == language) }
}
