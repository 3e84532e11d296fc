// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension CardCatalogue {
    /// Cards that do what their kernel expects.
    static let wellBehaved: [Entry] = [
        Entry(name: "visa", summary: "Visa, online, everything in the answer to GET PROCESSING OPTIONS") {
            card(VisaApplication.visa)
        },
        Entry(name: "visa-afl", summary: "Visa with records and fDDA 01, offline where the reader permits") {
            card(.visaWithRecords)
        },
        Entry(name: "visa-fdda-00", summary: "Visa with records and fDDA 00, offline where the reader permits") {
            card(.visaFirstFastDDA)
        },
        Entry(name: "mastercard", summary: "Mastercard, EMV mode, CDA, CVM list") {
            card(.mastercard)
        },
        Entry(name: "mastercard-nocda", summary: "Mastercard, EMV mode, no offline authentication") {
            card(GenerateACApplication.personalised(.mastercard, signsCombined: false))
        },
    ]

    /// A card with one application and the PPSE entry that belongs to it.
    static func card(_ application: any PaymentApplication) -> PaymentCard {
        PaymentCard(.single(application))
    }
}

extension CardProfile {
    /// One application, listed in the PPSE with its label and priority 1.
    static func single(_ application: any PaymentApplication) -> CardProfile {
        let label = application.files.proprietary.first { $0.tag == 0x50 }?.value
        return CardProfile(
            directory: [
                DirectoryEntry(
                    name: application.files.name, label: label.map { String(decoding: $0, as: UTF8.self) },
                    priority: 1)
            ], applications: [application])
    }
}

extension CardPersonalisation {
    /// Public test numbers of the schemes.
    static let visa = CardPersonalisation(pan: "4761739001010010")
    static let mastercard = CardPersonalisation(pan: "5413330089601034")

    /// An account of the Visa test issuer: its six digits, 9, eight that differ for each number below 100 million and are spread, so that
    /// no other bytes look like them, and the check digit of ISO/IEC 7812-1 Annex B.
    package static func visa(account: UInt32) -> CardPersonalisation {
        let text = String((31_415_927 + UInt64(account) * 27_182_819) % 100_000_000)
        var card = CardPersonalisation(pan: "4761739" + String(repeating: "0", count: 8 - text.utf8.count) + text)
        let sum = card.pan.reversed().enumerated().reduce(0) { sum, digit in
            let value = Int(digit.element) * (digit.offset.isMultiple(of: 2) ? 2 : 1)
            return sum + (value > 9 ? value - 9 : value)
        }
        card.pan.append(UInt8((10 - sum % 10) % 10))
        return card
    }
}

// Certificates are signed once a process, when the first card of a kind is made.
extension PaymentApplication where Self == VisaApplication {
    static var visaWithRecords: VisaApplication { Personalised.visaWithRecords }
    static var visaFirstFastDDA: VisaApplication { Personalised.visaFirstFastDDA }
}

extension PaymentApplication where Self == GenerateACApplication {
    static var mastercard: GenerateACApplication { Personalised.mastercard }
}

private enum Personalised {
    static let visaWithRecords = VisaApplication.personalised(
        .visa, disposition: .offlineWherePossible, fastDDA: .version01)
    static let visaFirstFastDDA = VisaApplication.personalised(
        .visa, disposition: .offlineWherePossible, fastDDA: .version00)
    static let mastercard = GenerateACApplication.personalised(.mastercard)
}
