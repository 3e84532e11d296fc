// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension CardCatalogue {
    /// Cards and a wallet that list one account under two applications: the scheme's own and the one that the debit
    /// networks of the United States have in common (AIDs: public lists of the schemes and of the Debit Network Alliance).
    static let twoApplications: [Entry] = [
        Entry(name: "us-debit-visa", summary: "Visa debit of the United States: Visa, then US common debit") {
            PaymentCard(.double(VisaApplication.visaDebit, VisaApplication.visaCommonDebit))
        },
        Entry(name: "us-debit-mastercard", summary: "Mastercard debit of the United States, two applications") {
            PaymentCard(.double(GenerateACApplication.debit, GenerateACApplication.commonDebit))
        },
        Entry(name: "us-debit-discover", summary: "Discover debit of the United States, two applications") {
            PaymentCard(
                .double(
                    DiscoverApplication(.discover),
                    DiscoverApplication(.discover, name: .hex("A0000001524010"), label: "US DEBIT")))
        },
        Entry(name: "us-debit-unionpay", summary: "UnionPay debit of the United States, two applications") {
            PaymentCard(.double(VisaApplication.unionPayDebit, VisaApplication.unionPayCommonDebit))
        },
        Entry(name: "us-debit-wallet", summary: "phone with a Visa debit card: US common debit first, then Visa") {
            PaymentCard(.double(VisaApplication.walletCommonDebit, VisaApplication.walletDebit))
        },
        Entry(name: "interac", summary: "Interac debit alone, whose kernel is not public") {
            PaymentCard(
                CardProfile(
                    directory: [
                        DirectoryEntry(name: .hex("A0000002771010"), label: "INTERAC", priority: 1, kernel: nil)
                    ], applications: []))
        },
    ]
}

extension CardProfile {
    /// Two applications in the PPSE, with priorities 1 and 2. No entry names a kernel: A000000098 has none by default, so
    /// that the terminal's combination has to name it.
    fileprivate static func double(
        _ first: any PaymentApplication, _ second: any PaymentApplication
    ) -> CardProfile {
        let applications = [first, second]
        return CardProfile(
            directory: applications.enumerated().map { position, application in
                let label = application.files.proprietary.first { $0.tag == 0x50 }?.value
                return DirectoryEntry(
                    name: application.files.name, label: label.map { String(decoding: $0, as: UTF8.self) },
                    priority: UInt8(truncatingIfNeeded: position + 1))
            }, applications: applications)
    }
}

extension VisaApplication {
    private static let commonDebitName: [UInt8] = .hex("A0000000980840")

    fileprivate static let visaDebit = personalised(.visa, label: "VISA DEBIT")
    fileprivate static let visaCommonDebit = personalised(.visa, name: commonDebitName, label: "US DEBIT")
    fileprivate static let walletDebit = personalised(.visa, label: "VISA DEBIT", verifiesCardholder: true)
    fileprivate static let walletCommonDebit = personalised(
        .visa, name: commonDebitName, label: "US DEBIT", verifiesCardholder: true)
    fileprivate static let unionPayDebit = personalised(
        .unionPay, name: .hex("A000000333010101"), label: "UNIONPAY DEBIT", version: .visa18)
    fileprivate static let unionPayCommonDebit = personalised(
        .unionPay, name: .hex("A000000333010108"), label: "US DEBIT", version: .visa18)
}

extension GenerateACApplication {
    fileprivate static let debit = personalised(.mastercard, label: "MASTERCARD DEBIT")
    fileprivate static let commonDebit = personalised(
        .mastercard, name: .hex("A0000000042203"), label: "US DEBIT")
}
