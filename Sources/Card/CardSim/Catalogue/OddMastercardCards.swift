// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension CardCatalogue {
    /// Mastercard cards and phones that are odd after their selection.
    static let oddMastercardCards: [Entry] = [
        Entry(name: "mastercard-phone", summary: "phone that has verified its holder (CDCVM)") {
            card(GenerateACApplication.phone)
        },
        Entry(name: "mastercard-pdol", summary: "Mastercard with a PDOL, whose values the signature covers") {
            card(GenerateACApplication.withPDOL)
        },
        Entry(name: "mastercard-online", summary: "never approves offline") {
            card(GenerateACApplication.online)
        },
        Entry(name: "mastercard-declines", summary: "AAC to everything") {
            card(
                GenerateACApplication.personalised(
                    .mastercard, disposition: .alwaysDeclines, signsCombined: false))
        },
        Entry(name: "mastercard-no-afl", summary: "answer to GET PROCESSING OPTIONS without AFL") {
            odd(
                GenerateACApplication.mastercard,
                CardOddity(.getProcessingOptions, .rewritten { _ in .hex("7704 82021980 9000") }))
        },
        Entry(name: "mastercard-bad-afl", summary: "AFL of three bytes") {
            odd(
                GenerateACApplication.mastercard,
                CardOddity(.getProcessingOptions, .rewritten { _ in .hex("7709 82021980 9403100102 9000") }))
        },
        Entry(name: "mastercard-format-1", summary: "answers in format 1 (template 80)") {
            odd(
                GenerateACApplication.personalised(.mastercard, signsCombined: false),
                CardOddity(.getProcessingOptions, .rewritten { _ in .hex("8006 1880 10010201 9000") }))
        },
        Entry(name: "mastercard-expired", summary: "expired at the end of 2019") {
            var personal = CardPersonalisation.mastercard
            personal.expiry = .hex("191231")
            return card(GenerateACApplication.personalised(personal, signsCombined: false))
        },
        Entry(name: "mastercard-not-yet-valid", summary: "effective from 2049 on") {
            var personal = CardPersonalisation.mastercard
            personal.effective = .hex("490101")
            return card(GenerateACApplication.personalised(personal, signsCombined: false))
        },
        Entry(name: "mastercard-bad-signature", summary: "CDA signature that does not verify") {
            // 77 81 LL, 9F27 and 9F36 take 12 bytes; 40 is inside 9F4B.
            odd(
                GenerateACApplication.mastercard,
                CardOddity(.generateAC, .rewritten(CardOddity.damaged(at: 40))))
        },
        Entry(name: "torn-generate-ac", summary: "leaves the field at its first GENERATE AC") {
            odd(GenerateACApplication.mastercard, CardOddity(.generateAC, times: 1...1, .gone))
        },
        Entry(name: "generate-ac-6985", summary: "6985 to GENERATE AC") {
            odd(GenerateACApplication.mastercard, CardOddity(.generateAC, .status(.conditionsNotSatisfied)))
        },
    ]
}

extension GenerateACApplication {
    fileprivate static let phone = personalised(.mastercard, verifiesCardholder: true)
    fileprivate static let withPDOL = personalised(.mastercard, pdol: .hex("9F0206 9F3303 9F1D08"))
    fileprivate static let online = personalised(.mastercard, disposition: .alwaysOnline)
}
