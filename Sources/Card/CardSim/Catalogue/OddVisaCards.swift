// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension CardCatalogue {
    /// Visa cards and phones that are odd after their selection.
    static let oddVisaCards: [Entry] = [
        Entry(name: "visa-phone", summary: "phone that has verified its holder (CDCVM)") {
            card(VisaApplication.personalised(.visa, verifiesCardholder: true))
        },
        Entry(name: "visa-issuer-update", summary: "takes the issuer's answer at a second presentation") {
            card(VisaApplication.updating)
        },
        Entry(name: "see-phone", summary: "phone that wants its holder first (6986), then works") {
            odd(
                VisaApplication.personalised(.visa, verifiesCardholder: true),
                CardOddity(.getProcessingOptions, times: 1...1, .status(.commandNotAllowed)))
        },
        Entry(name: "see-phone-forever", summary: "phone that always wants its holder first (6986)") {
            odd(VisaApplication.visa, CardOddity(.getProcessingOptions, .status(.commandNotAllowed)))
        },
        Entry(name: "gpo-6985", summary: "6985 to GET PROCESSING OPTIONS, no other application") {
            odd(VisaApplication.visa, CardOddity(.getProcessingOptions, .status(.conditionsNotSatisfied)))
        },
        Entry(name: "gpo-6984", summary: "6984 to GET PROCESSING OPTIONS: use another interface") {
            odd(VisaApplication.visa, CardOddity(.getProcessingOptions, .status(.referenceDataInvalidated)))
        },
        Entry(name: "gpo-6f00", summary: "6F00 to GET PROCESSING OPTIONS") {
            odd(VisaApplication.visa, CardOddity(.getProcessingOptions, .status(0x6F00)))
        },
        Entry(name: "malformed-tlv", summary: "answer to GET PROCESSING OPTIONS whose TLV runs past its end") {
            odd(VisaApplication.visa, CardOddity(.getProcessingOptions, .rewritten(CardOddity.shortened)))
        },
        Entry(name: "malformed-record", summary: "record whose TLV runs past its end") {
            odd(VisaApplication.plainRecords, CardOddity(.readRecord, .rewritten(CardOddity.shortened)))
        },
        Entry(name: "missing-record", summary: "AFL names a record that is not there (6A83)") {
            odd(VisaApplication.plainRecords, CardOddity(.readRecord, .status(.recordNotFound)))
        },
        Entry(name: "repeated-dol", summary: "PDOL that asks for amount and unpredictable number twice") {
            card(
                VisaApplication.personalised(
                    .visa, pdol: VisaApplication.pdol + .hex("9F3704 9F0206 9F3702")))
        },
        Entry(name: "vendor-tags", summary: "vendor's tags 9F81xx in PDOL, FCI and records") {
            card(VisaApplication.vendorTags)
        },
        Entry(name: "visa-declines", summary: "AAC to everything") {
            card(VisaApplication.personalised(.visa, disposition: .alwaysDeclines))
        },
        Entry(name: "visa-expired", summary: "expired at the end of 2019, would approve offline") {
            card(VisaApplication.expired)
        },
        Entry(name: "visa-expired-certificate", summary: "ICC certificate that ended 12/19, would approve offline") {
            card(VisaApplication.expiredCertificate)
        },
        Entry(name: "visa-unknown-ca", summary: "certificate under a CA key that nobody has") {
            card(VisaApplication.unknownAuthority)
        },
        Entry(name: "visa-bad-signature", summary: "dynamic signature that does not verify") {
            // 9F4B stands last in the answer; a byte in the middle of its 112 is inverted.
            odd(
                VisaApplication.visaWithRecords,
                CardOddity(.getProcessingOptions, .rewritten { CardOddity.damaged(at: $0.count - 40)($0) }))
        },
        Entry(name: "pan-mismatch", summary: "5A and 57 with different PANs") { card(VisaApplication.twoPANs) },
        Entry(name: "duplicate-tag", summary: "57 in the answer and in a record") {
            card(VisaApplication.repeatedTrack)
        },
        Entry(name: "long-records", summary: "ten records of 256 bytes") { card(VisaApplication.longRecords) },
        Entry(name: "slow", summary: "300 ms for every answer") {
            var profile = CardProfile.single(VisaApplication.visaWithRecords)
            profile.pauseMilliseconds = 300
            return PaymentCard(profile)
        },
        Entry(name: "torn-gpo", summary: "leaves the field at its first GET PROCESSING OPTIONS") {
            odd(VisaApplication.visa, CardOddity(.getProcessingOptions, times: 1...1, .gone))
        },
        Entry(name: "torn-record", summary: "leaves the field at its first READ RECORD") {
            odd(VisaApplication.plainRecords, CardOddity(.readRecord, times: 1...1, .gone))
        },
    ]
}

extension VisaApplication {
    static var visa: VisaApplication { personalised(.visa) }
    static var plainRecords: VisaApplication { personalised(.visa, hasRecords: true) }

    fileprivate static var updating: VisaApplication {
        var application = personalised(.visa, version: .visa10)
        application.options.takesIssuerUpdate = true
        return application
    }

    fileprivate static var vendorTags: VisaApplication {
        var application = personalised(.visa, hasRecords: true, pdol: pdol + .hex("9F810104 9F8A0502"))
        application.files.proprietary.append((0xBF0C, ApplicationFiles.encoded([(0x9F8102, [0x01, 0x02])])))
        let record = ApplicationFiles.RecordName(3, 2)
        application.files.setRecord(record, [(0x9F8201, .hex("C0FFEE")), (0x9F8311, []), (0xDF8401, [0x01])])
        application.options.shortLocator = .hex("18010201")
        application.options.locator = application.options.shortLocator
        return application
    }

    fileprivate static var twoPANs: VisaApplication {
        var application = plainRecords
        application.files.setRecord(
            .init(3, 1), [(0x5A, .hex("4761739001010028")), (0x5F24, .hex("491231")), (0x5F34, [0x01])])
        return application
    }

    fileprivate static var repeatedTrack: VisaApplication {
        var application = plainRecords
        application.files.setRecord(
            .init(3, 1), [(0x57, CardPersonalisation.visa.track2), (0x5F24, .hex("491231"))])
        return application
    }

    fileprivate static var longRecords: VisaApplication {
        var application = plainRecords
        for number in UInt8(1)...10 {
            // 70 81 FD, then tag and length in four bytes: 249 bytes of value fill 256.
            application.files.setRecord(
                .init(1, number), [(Tag(0xDF10 + UInt32(number)), [UInt8](repeating: number, count: 249))])
        }
        application.options.locator = .hex("08010A00 18010101")
        application.options.shortLocator = application.options.locator
        return application
    }

    fileprivate static let expired: VisaApplication = {
        var card = CardPersonalisation.visa
        card.expiry = .hex("191231")
        return personalised(card, disposition: .offlineWherePossible, fastDDA: .version01)
    }()

    fileprivate static let expiredCertificate: VisaApplication = {
        var card = CardPersonalisation.visa
        card.certificateExpiry = .hex("1219")
        return personalised(card, disposition: .offlineWherePossible, fastDDA: .version01)
    }()

    fileprivate static let unknownAuthority: VisaApplication = {
        var card = CardPersonalisation.visa
        card.caIndex = 0xEE
        return personalised(card, disposition: .offlineWherePossible, fastDDA: .version01)
    }()
}
