// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension CardCatalogue {
    /// Well-behaved cards for kernels 4 to 7.
    static let furtherKernels: [Entry] = [
        Entry(name: "amex", summary: "American Express, EMV mode, CDA (kernel 4)") {
            card(GenerateACApplication.americanExpress)
        },
        Entry(name: "jcb", summary: "JCB, EMV mode, CDA (kernel 5)") { card(GenerateACApplication.jcb) },
        Entry(name: "discover", summary: "Discover D-PAS, CDA where it approves offline (kernel 6)") {
            card(DiscoverApplication.discover)
        },
        Entry(name: "unionpay", summary: "UnionPay qUICS, fDDA, offline where the reader permits (kernel 7)") {
            card(VisaApplication.unionPay)
        },
    ]

    /// Devices that verify their holder, for kernels 4 to 7.
    static let furtherDevices: [Entry] = [
        Entry(name: "amex-phone", summary: "American Express in a phone that verifies its holder at the second tap") {
            card(GenerateACApplication.americanExpressPhone)
        },
        Entry(name: "jcb-phone", summary: "JCB in a phone that has verified its holder") {
            card(GenerateACApplication.jcbPhone)
        },
        Entry(name: "discover-phone", summary: "Discover D-PAS in a phone that has verified its holder") {
            card(DiscoverApplication(.discover, isDevice: true))
        },
        Entry(name: "unionpay-phone", summary: "UnionPay in a phone that has verified its holder, no records") {
            card(VisaApplication.unionPayPhone)
        },
    ]
}

extension CardPersonalisation {
    static let americanExpress = CardPersonalisation(pan: "374245455400001")
    static let jcb = CardPersonalisation(pan: "3569990010082211")
    static let discover = CardPersonalisation(pan: "6510000000000117")
    static let unionPay = CardPersonalisation(pan: "6210948000000011")
}

extension GenerateACApplication {
    fileprivate static let americanExpress = americanExpress(isMobile: false)
    fileprivate static let americanExpressPhone = americanExpress(isMobile: true)
    fileprivate static let jcb = jcb(isMobile: false)
    fileprivate static let jcbPhone = jcb(isMobile: true)

    /// Refuses a reader whose Enhanced Contactless Reader Capabilities (9F6E) are zero.
    private static func americanExpress(isMobile: Bool) -> GenerateACApplication {
        var application = personalised(
            .americanExpress, name: .hex("A000000025010901"), label: "TEST AMEX", isMobile: isMobile,
            applicationVersion: [0x00, 0x01], pdol: .hex("9F3501 9F6E04"))
        application.demands = 0x9F6E
        application.isDevice = isMobile
        return application
    }

    /// Tells the cardholder verification itself (9F50), so that it asks for the Terminal Interchange Profile.
    private static func jcb(isMobile: Bool) -> GenerateACApplication {
        var application = personalised(
            .jcb, name: .hex("A0000000651010"), label: "TEST JCB", applicationVersion: [0x02, 0x00],
            pdol: .hex("9F5201 9F5303"))
        application.tellsVerification = true
        application.isDevice = isMobile
        return application
    }
}

extension DiscoverApplication {
    fileprivate static let discover = DiscoverApplication(.discover)
}

extension VisaApplication {
    /// Application version 0030: its fast DDA is that of version 01, with 9F69 of eight bytes.
    fileprivate static let unionPay: VisaApplication = {
        var application = personalised(
            .unionPay, name: .hex("A000000333010102"), label: "TEST UNIONPAY", disposition: .offlineWherePossible,
            fastDDA: .version01, version: .visa18, further: [(0x9F08, [0x00, 0x30])])
        application.options.relatedDataTail = [0x00]
        return application
    }()

    fileprivate static let unionPayPhone = personalised(
        .unionPay, name: .hex("A000000333010102"), label: "TEST UNIONPAY", verifiesCardholder: true, version: .visa18)
}
