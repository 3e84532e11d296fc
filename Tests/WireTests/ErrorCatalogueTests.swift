import Testing
import Wire

@Suite("The error catalogue as a whole")
struct ErrorCatalogueTests {
    @Test(
        "Every message is a noun phrase of at most 128 characters without a final period", arguments: ErrorCode.allCases
    )
    func messageForm(_ code: ErrorCode) {
        let message = code.entry.message
        #expect((1...Limits.messageLength).contains(message.count))
        #expect(message.last != "." && message.last != "!" && message.last != "?")
        #expect(message.first?.isUppercase == true)
        #expect(!message.contains("\n"))
    }

    @Test("Every error says what to do about it, in one line without a final period", arguments: ErrorCode.allCases)
    func resolutionForm(_ code: ErrorCode) {
        let resolution = code.entry.resolution
        #expect(resolution.count >= 10 && resolution.count <= Limits.messageLength)
        #expect(resolution.last != "." && !resolution.contains("\n"))
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
