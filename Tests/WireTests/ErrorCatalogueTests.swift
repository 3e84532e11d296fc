import Testing
import Wire

@Suite("The error catalogue as a whole")
struct ErrorCatalogueTests {
    @Test(
        "Acceptance test 1, requirement 49: every message is a noun phrase of at most 128 characters, in each language",
        arguments: ErrorCode.allCases, Language.allCases)
    func messageForm(_ code: ErrorCode, _ language: Language) {
        let message = code.texts(in: language).message
        #expect((1...Limits.messageLength).contains(message.count))
        #expect(message.last != "." && message.last != "!" && message.last != "?")
        #expect(message.first?.isUppercase == true)
        #expect(!message.contains("\n"))
    }

    @Test(
        "Acceptance test 1, requirement 28: every error says what to do about it, in one line, in each language",
        arguments: ErrorCode.allCases, Language.allCases)
    func resolutionForm(_ code: ErrorCode, _ language: Language) {
        let resolution = code.texts(in: language).resolution
        #expect(resolution.count >= 10 && resolution.count <= Limits.messageLength)
        #expect(resolution.last != "." && !resolution.contains("\n"))
        #expect(resolution.first?.isUppercase == true)
    }

    @Test(
        "No two codes share a message in any language, and no language borrows another's", arguments: Language.allCases)
    func distinctTexts(_ language: Language) {
        let texts = ErrorCode.allCases.map { $0.texts(in: language) }
        #expect(Set(texts.map(\.message)).count == ErrorCode.allCases.count)
        for (code, text) in zip(ErrorCode.allCases, texts) where language != .english {
            #expect(text.message != code.entry.message && text.resolution != code.entry.resolution, "\(code)")
        }
    }

    @Test("Every reason of a decline has words in each language", arguments: DeclineReason.allCases, Language.allCases)
    func reasons(_ reason: DeclineReason, _ language: Language) {
        let text = reason.text(in: language)
        #expect((4...Limits.messageLength).contains(text.count) && text.last != ".")
    }

    @Test("Requirement 31: every error can be told without a word about payments", arguments: ErrorCode.allCases)
    func neutral(_ code: ErrorCode) {
        let error = ErrorDetail(code).neutral
        for text in [error.message, error.resolution] {
            for word in ["pay", "charg", "purchas", "sale", "money"] {
                #expect(!text.lowercased().contains(word), "\(text)")
            }
            #expect(text.count >= 10 && text.count <= Limits.messageLength && text.first?.isUppercase == true)
        }
        #expect(error.next?.contains(.paymentLink) != true && error.code == code.rawValue)
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
        #expect(Set(ErrorCode.allCases.map(\.entry.message)).count == ErrorCode.allCases.count)
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
                {"error":{"code":"reader.busy","docs":"docs/errors.md#reader.busy",\
                "message":"Reader busy with another transaction","next":["otherMethod"],\
                "resolution":"Wait for the transaction that is named, or cancel it","retryable":true,\
                "transaction":"0192f3a4-5b6c-7d8e-9f01-23456789abcd","who":"cashier"}}
                """)
        #expect(try WireJSON.decode(ErrorBody.self, from: bytes) == ErrorBody(.readerBusy, transaction: id))
    }
}
