// SPDX-License-Identifier: Apache-2.0
import Foundation
import POSAPI
import PSPAPI
import PaymentValues
import TestSupport
import Testing

@Suite("What the documents say of the messages")
struct DocumentationTests {
    private static let docs = Checkout.file("docs")

    /// `docs/integrating/errors.md` as the catalogue renders it.
    private static var catalogue: String {
        var text = """
            # Errors

            These are all errors of the POS socket and of transactions. `code` is stable: programs compare it. The tests
            write this page from the catalogue in `Sources/Payments/PaymentValues`:
            `NFC_TAP_BLESS=1 swift test --filter DocumentationTests`.


            """
        for code in ErrorCode.allCases {
            let entry = code.entry
            let texts = code.texts(in: .english)
            text +=
                "## \(code.rawValue)\n\n\(texts.message). HTTP status \(entry.status), for the \(entry.who.rawValue)"
            text += entry.retryable ? "; the same request may succeed later.\n\n" : ".\n\n"
            text += "\(texts.resolution).\n"
            if !entry.next.isEmpty {
                text += "\nThe till can offer: \(entry.next.map { "`\($0.rawValue)`" }.joined(separator: ", ")).\n"
            }
            text += "\n"
        }
        return text.trimmingCharacters(in: .newlines) + "\n"
    }

    @Test("The catalogue in the documents is the one in the program")
    func catalogue() throws {
        let file = Self.docs.appending(path: "integrating/errors.md")
        if ProcessInfo.processInfo.environment["NFC_TAP_BLESS"] != nil {
            try Data(Self.catalogue.utf8).write(to: file)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.catalogue)
    }

    static let words: [(document: String, words: [String])] = [
        ("openapi.yaml", EventName.allCases.map(\.rawValue)),
        ("openapi.yaml", OpenReason.allCases.map(\.rawValue)),
        ("openapi.yaml", Settlement.Outcome.allCases.map(\.rawValue)),
        ("integrating/protocol.md", OpenReason.allCases.map(\.rawValue)),
        ("openapi.yaml", CardholderMessage.allCases.map(\.rawValue)),
        ("openapi.yaml", TransactionState.allCases.map(\.rawValue)),
        ("openapi.yaml", DeclineReason.allCases.map(\.rawValue)), ("openapi.yaml", NextStep.allCases.map(\.rawValue)),
        ("openapi.yaml", PaymentResult.Outcome.allCases.map(\.rawValue)),
        ("openapi.yaml", RequiredAction.allCases.map(\.rawValue)), ("openapi.yaml", Canceller.allCases.map(\.rawValue)),
        ("openapi.yaml", PrepareReason.allCases.map(\.rawValue)),
        ("openapi.yaml", PrepareStep.allCases.map(\.rawValue)),
        ("openapi.yaml", PrepareAnswer.Outcome.allCases.map(\.rawValue)),
        ("openapi.yaml", ResponsibleParty.allCases.map(\.rawValue)),
        ("openapi.yaml", Item.Kind.allCases.map(\.rawValue)),
        ("openapi.yaml", VerificationReason.allCases.map(\.rawValue)),
        ("openapi-psp.yaml", AuthorizationRequest.Kind.allCases.map(\.rawValue)),
        ("openapi-psp.yaml", AuthorizationRequest.CVM.allCases.map(\.rawValue)),
        ("openapi-psp.yaml", AuthorizationAnswer.Outcome.allCases.map(\.rawValue)),
        ("openapi-psp.yaml", AuthorizationAnswer.Action.allCases.map(\.rawValue)),
        ("openapi-psp.yaml", PSPAPI.ReversalRequest.Reason.allCases.map(\.rawValue)),
        ("openapi-psp.yaml", ReversalAnswer.Way.allCases.map(\.rawValue)),
        ("openapi-psp.yaml", AdapterFeature.allCases.map(\.rawValue)),
        ("openapi-psp.yaml", AdapterOperationAnswer.Outcome.allCases.map(\.rawValue)),
        ("openapi-psp.yaml", AdapterOperationAnswer.Reason.allCases.map(\.rawValue)),
        ("openapi-psp.yaml", AuthorizationAnswer.RefundCard.allCases.map(\.rawValue)),
        ("openapi-psp.yaml", RefundCardRule.allCases.map(\.rawValue)),
    ]

    @Test("The API descriptions know every word of the messages", arguments: words)
    func enumerations(document: String, words: [String]) throws {
        let text = try String(contentsOf: Self.docs.appending(path: document), encoding: .utf8)
        let known = Set(text.split { " \n[],{}:`\"".contains($0) })
        for word in words { #expect(known.contains(Substring(word)), "\(word) is not in \(document)") }
    }
}
