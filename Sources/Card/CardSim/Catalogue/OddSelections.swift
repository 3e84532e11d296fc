// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension CardCatalogue {
    /// Cards that are odd before or while an application is selected.
    static let oddSelections: [Entry] = [
        Entry(name: "no-ppse", summary: "payment application, but no PPSE (6A82)") {
            PaymentCard(CardProfile(directory: nil, applications: [VisaApplication.visa]))
        },
        Entry(name: "empty-ppse", summary: "PPSE without entries") {
            PaymentCard(CardProfile(directory: [], applications: [VisaApplication.visa]))
        },
        Entry(name: "locked", summary: "locked card: 6A81 to the selection of the PPSE") {
            odd(VisaApplication.visa, CardOddity(.selectDirectory, .status(.functionNotSupported)))
        },
        Entry(name: "blocked-application", summary: "blocked application: 6283 to its selection, no other") {
            odd(VisaApplication.visa, CardOddity(.selectApplication, .status(.selectedFileDeactivated)))
        },
        Entry(name: "blocked-first", summary: "first application blocked (6283), second one works") {
            PaymentCard(
                twoApplications(
                    first: 1, second: 2,
                    oddities: [CardOddity(.selectApplication, times: 1...1, .status(.selectedFileDeactivated))]))
        },
        Entry(name: "missing-application", summary: "PPSE names an application that is not there (6A82)") {
            var profile = CardProfile.single(VisaApplication.visa)
            profile.directory?.insert(
                DirectoryEntry(name: .hex("A0000000032010"), label: "GONE", priority: 1), at: 0)
            return PaymentCard(profile)
        },
        Entry(name: "equal-priority", summary: "two applications with equal priority") {
            PaymentCard(twoApplications(first: 1, second: 1))
        },
        Entry(name: "co-badged", summary: "domestic application first, Mastercard second") {
            var profile = CardProfile.single(GenerateACApplication.mastercard)
            profile.directory = [
                DirectoryEntry(name: .hex("A00000005945430100"), label: "GIROCARD", priority: 1),
                DirectoryEntry(name: .hex("A0000000041010"), label: "TEST MASTERCARD", priority: 2, kernel: [0x02]),
            ]
            return PaymentCard(profile)
        },
        Entry(name: "two-schemes", summary: "Visa first, Mastercard second, both accepted here") {
            var profile = CardProfile.single(VisaApplication.visa)
            let second = CardProfile.single(GenerateACApplication.mastercard)
            profile.applications += second.applications
            profile.directory = (profile.directory ?? []) + (second.directory ?? [])
            profile.directory?[1].priority = 2
            return PaymentCard(profile)
        },
        Entry(name: "type-b", summary: "Visa on a card of type B") {
            var profile = CardProfile.single(VisaApplication.visa)
            profile.activation = CardProfile.typeB
            return PaymentCard(profile)
        },
        Entry(name: "malformed-ppse", summary: "PPSE whose TLV runs past its end") {
            odd(VisaApplication.visa, CardOddity(.selectDirectory, .rewritten(CardOddity.shortened)))
        },
        Entry(name: "malformed-fci", summary: "application whose FCI runs past its end") {
            odd(VisaApplication.visa, CardOddity(.selectApplication, .rewritten(CardOddity.shortened)))
        },
    ]

    /// A card with one application and something odd.
    static func odd(_ application: any PaymentApplication, _ oddities: CardOddity...) -> PaymentCard {
        var profile = CardProfile.single(application)
        profile.oddities = oddities
        return PaymentCard(profile)
    }

    private static func twoApplications(
        first: UInt8, second: UInt8, oddities: [CardOddity] = []
    ) -> CardProfile {
        let maestro: [UInt8] = .hex("A0000000043060")
        return CardProfile(
            directory: [
                DirectoryEntry(name: .hex("A0000000041010"), label: "TEST MASTERCARD", priority: first),
                DirectoryEntry(name: maestro, label: "TEST MAESTRO", priority: second),
            ],
            applications: [
                GenerateACApplication.mastercard,
                GenerateACApplication.personalised(
                    .mastercard, name: maestro, label: "TEST MAESTRO", signsCombined: false),
            ], oddities: oddities)
    }
}

extension CardOddity {
    /// Takes three bytes off the data, so that lengths inside point past the end.
    static let shortened: @Sendable ([UInt8]) -> [UInt8] = { answer in
        answer.count < 5 ? answer : answer.dropLast(5) + answer.suffix(2)
    }

    /// Inverts one byte of the answer, counted from its start.
    static func damaged(at offset: Int) -> @Sendable ([UInt8]) -> [UInt8] {
        { answer in
            var answer = answer
            if answer.indices.contains(offset) { answer[offset] ^= 0xFF }
            return answer
        }
    }
}
