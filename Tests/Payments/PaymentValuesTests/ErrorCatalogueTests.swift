// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@Suite("The error catalogue as a whole")
struct ErrorCatalogueTests {
    @Test(
        "Acceptance test 1, requirement 49: every message is a noun phrase of at most 128 characters, in each language",
        arguments: Language.allCases)
    func messageForm(_ language: Language) {
        for code in Self.told(in: language) {
            let message = code.texts(in: language).message
            #expect((1...Limits.messageLength).contains(message.count), "\(code)")
            #expect(message.last.map { ".!?。؟".contains($0) } == false && !message.contains("\n"), "\(code)")
            #expect(Self.begins(message, in: language), "\(code)")
        }
    }

    /// The codes that have texts of their own in the language.
    private static func told(in language: Language) -> [ErrorCode] {
        ErrorCode.allCases.filter { language.isComplete || $0.isToldAtTill }
    }

    /// With a capital, where the script has any; names of fields keep their letters.
    private static func begins(_ text: String, in language: Language) -> Bool {
        [.arabic, .japanese].contains(language) || text.first?.isUppercase == true || text.hasPrefix("alternatives ")
    }

    @Test(
        "Acceptance test 1, requirement 28: every error says what to do about it, in one line, in each language",
        arguments: Language.allCases)
    func resolutionForm(_ language: Language) {
        for code in Self.told(in: language) {
            let resolution = code.texts(in: language).resolution
            #expect((10...Limits.messageLength).contains(resolution.count), "\(code)")
            #expect(resolution.last.map { ".。".contains($0) } == false && !resolution.contains("\n"), "\(code)")
            #expect(Self.begins(resolution, in: language), "\(code)")
        }
    }

    @Test(
        "No two codes share a message in any language, and no language borrows another's", arguments: Language.allCases)
    func distinctTexts(_ language: Language) {
        let codes = Self.told(in: language)
        let texts = codes.map { $0.texts(in: language) }
        #expect(Set(texts.map(\.message)).count == codes.count)
        for (code, text) in zip(codes, texts) where language != .english {
            let english = code.texts(in: .english)
            #expect(text.message != english.message && text.resolution != english.resolution, "\(code)")
        }
    }

    @Test("Every reason of a decline has words in each language", arguments: DeclineReason.allCases, Language.allCases)
    func reasons(_ reason: DeclineReason, _ language: Language) {
        let text = reason.text(in: language)
        #expect((4...Limits.messageLength).contains(text.count) && text.last != ".")
    }

    private static let paymentWords: [Language: [String]] = [
        .english: ["pay", "charg", "purchas", "sale", "money"], .german: ["zahl", "belast", "kauf", "geld"],
        .french: ["pay", "paiement", "débit", "achat", "vente", "argent"],
        .spanish: ["pag", "cobr", "compra", "venta", "dinero"],
        .italian: ["pag", "addebit", "acquist", "vendit", "denaro"],
        .dutch: ["betal", "afschr", "koop"], .polish: ["płat", "pobr", "sprzeda", "pieni", "zapłac"],
        .portuguese: ["pag", "cobr", "compra", "venda", "dinheiro"], .swedish: ["betal", "debiter", "köp", "pengar"],
        .turkish: ["öde", "tahsil", "satış", "ücret"], .arabic: ["الدفع", "خصم", "بيع"],
        .japanese: ["支払", "決済", "請求", "購入"],
    ]

    /// What a card check never meets.
    private static let ofMoney = ["capture.", "adjustment.", "release.", "refund.", "reversal.", "amount."]

    @Test(
        "Requirement 31: every error can be told without a word about payments, in each language",
        arguments: Language.allCases)
    func neutral(_ language: Language) throws {
        for code in ErrorCode.allCases {
            let error = ErrorDetail(code).neutral(in: language)
            // What is not translated is English.
            let words = try #require(Self.paymentWords[Self.told(in: language).contains(code) ? language : .english])
            let mayMeetIt = language.isComplete || !Self.ofMoney.contains(where: code.rawValue.hasPrefix)
            for text in [error.message, error.resolution] where mayMeetIt {
                for word in words { #expect(!text.lowercased().contains(word), "\(code): \(text)") }
                #expect((language == .japanese ? 7 : 10)...Limits.messageLength ~= text.count, "\(text)")
            }
            #expect(Self.begins(error.message, in: language))
            #expect(error.next?.contains(.paymentLink) != true && error.code == code.rawValue)
        }
    }

    @Test("A second text is kept only for an error whose usual one has a word about payments in some language")
    func neutralTexts() {
        var count = 0
        for code in ErrorCode.allCases where Language.english.find(.neutralMessage(code)) != nil {
            count += 1
            #expect(
                Language.allCases.contains { $0.find(.neutralMessage(code)) != code.texts(in: $0).message }, "\(code)")
        }
        #expect(count > 20)
    }

    @Test("An error of a newer daemon is told as such, without its words, which may speak of payments")
    func unknownNeutral() {
        var error = ErrorDetail(.pspRefused)
        error.code = "psp.something_new"
        let neutral = error.neutral()
        #expect(neutral.message == "Error psp.something_new of a newer daemon" && neutral.code == "psp.something_new")
    }

    @Test("An error speaks to its audience, and says who helps and what they ask for")
    func audience() throws {
        let id = try #require(TransactionID("0192f3a4-5b6c-7d8e-9f01-23456789abcd"))
        let support = SupportReference(
            SupportContact(url: "https://example.com/help", text: "Call us"), installation: "shop-1", reader: "R-1")
        let bytes = try WireJSON.encode(
            ErrorBody(.readerBusy, transaction: id), for: Audience(language: .german, support: support))
        let error = try WireJSON.decode(ErrorBody.self, from: bytes).error
        #expect(error.code == "reader.busy" && error.message == ErrorCode.readerBusy.texts(in: .german).message)
        #expect(error.resolution == ErrorCode.readerBusy.texts(in: .german).resolution)
        #expect(error.support?.url == "https://example.com/help" && error.support?.reader == "R-1")
        #expect(error.support?.transaction == id && error.support?.installation == "shop-1")
    }

    @Test("Every status is one of HTTP's error statuses", arguments: ErrorCode.allCases)
    func status(_ code: ErrorCode) { #expect((400...599).contains(code.entry.status)) }

    @Test("No two codes and no two messages are the same")
    func distinct() {
        #expect(Set(ErrorCode.allCases.map(\.rawValue)).count == ErrorCode.allCases.count)
        #expect(Set(ErrorCode.allCases.map { $0.texts(in: .english).message }).count == ErrorCode.allCases.count)
    }

    @Test("Codes are lower-case words, with dots between areas", arguments: ErrorCode.allCases)
    func codeForm(_ code: ErrorCode) {
        #expect(code.rawValue.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2E || $0 == 0x5F })
        #expect(!code.rawValue.hasPrefix(".") && !code.rawValue.hasSuffix("."))
    }

    @Test("A failed payment always has a way on", arguments: ErrorCode.allCases)
    func nextSteps(_ code: ErrorCode) {
        if code.rawValue.hasPrefix("read.card") || code.rawValue.hasPrefix("psp.") {
            #expect(code.entry.next.contains(.otherMethod))
        }
    }

    @Test("An error on the wire holds its row, and nothing is null")
    func body() throws {
        let id = try #require(TransactionID("0192f3a4-5b6c-7d8e-9f01-23456789abcd"))
        let bytes = try WireJSON.encode(ErrorBody(.readerBusy, transaction: id))
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                {"error":{"code":"reader.busy","docs":"/usr/share/doc/nfc-tap/integrating/errors.md#reader.busy",\
                "message":"Reader busy","next":["otherMethod"],\
                "resolution":"Wait until the reader is free, or cancel what is using it","retryable":true,\
                "transaction":"0192f3a4-5b6c-7d8e-9f01-23456789abcd","who":"cashier"}}
                """)
        #expect(try WireJSON.decode(ErrorBody.self, from: bytes) == ErrorBody(.readerBusy, transaction: id))
    }
}
