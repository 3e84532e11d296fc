// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Envelope
import Issuing
import PaymentValues
import Profile

struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder of the issued profiles, with their serials and tokens.", valueName: "folder"))
    var store: String

    @Option(help: ArgumentHelp("Days until it expires, 2 to 35.", valueName: "days"))
    var days: Int64 = 30

    func validate() throws {
        guard ProfileDraft.days.contains(days) else { throw ValidationError("A profile is valid for 2 to 35 days.") }
    }
}

struct KeyRuleOptions: ParsableArguments {
    @Flag(help: "Take recipient keys that tills pass over, such as those for newer tills; names each.")
    var allowRefusedKeys = false

    var refusedKeys: ProfileDraft.RefusedKeys { allowRefusedKeys ? .areMeant : .areWrong }

    /// Says which keys are sealed to, and which are not; and of which currencies the limits are, where that is not said.
    static func name(_ profile: Profile) {
        let mixed = profile.currenciesOfLimits.map(\.code)
        if mixed.count > 1 {
            ProfileCommand.say(
                "terminal.currency: not said; limits count in minor units of each of \(mixed.joined(separator: ", "))")
        }
        let keys = profile.recipientKeys
        for key in keys.keys {
            ProfileCommand.say("recipientKeys: \(key.keyID.debugDescription), \(key.algorithm.rawValue)")
        }
        for refusal in keys.refusals { ProfileCommand.say("recipientKeys.\(refusal); tills pass it over") }
    }
}

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a profile by every rule of docs/operating/profile.md.")

    @Argument(help: ArgumentHelp("Profile as JSON; - for standard input.", valueName: "file"))
    var file: String

    @OptionGroup var keyRules: KeyRuleOptions

    func run() async throws {
        try await ProfileCommand.run {
            let profile = try ProfileDraft.check(try ProfileCommand.read(file), keyRules.refusedKeys)
            KeyRuleOptions.name(profile)
            ProfileCommand.say("\(profile.merchant.id): serial \(profile.serial), nothing wrong")
        }
    }
}

struct Sign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign a profile and keep its token.",
        discussion: """
            Sets serial and dates, and ignores those of the file. A serial is signed once: the printed token is the \
            only one with this serial.
            """)

    @Argument(help: ArgumentHelp("Profile as JSON; - for standard input.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("Serial, or next.", valueName: "number"))
    var serial = "next"

    @OptionGroup var store: StoreOptions
    @OptionGroup var signer: SignerOptions
    @OptionGroup var recipients: ProofOptions
    @OptionGroup var keyRules: KeyRuleOptions

    func validate() throws {
        guard serial == "next" || UInt64(serial).map({ $0 > 0 }) ?? false else {
            throw ValidationError("--serial is a number from 1, or next.")
        }
    }

    func run() async throws {
        try await ProfileCommand.run {
            let draft = try ProfileDraft(json: try ProfileCommand.read(file), name: file)
            let issued = try await IssuedProfiles(store.store).issue(
                draft, serial: UInt64(serial), at: .now, days: store.days, key: try signer.key(),
                proof: try recipients.proof(signer), refusedKeys: keyRules.refusedKeys)
            KeyRuleOptions.name(issued.profile)
            ProfileCommand.say("\(issued.profile.merchant.id): serial \(issued.profile.serial)")
            try ProfileCommand.print(issued.token)
        }
    }
}

struct Fleet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign a profile for each merchant of a list, on one template.",
        discussion: """
            The list is CSV with a head of id, displayName, statementDescriptor, addressLine1, addressLine2, onBehalfOf and \
            country. The template is a profile without merchant, serial and dates. Checks all profiles before it signs the first.
            """)

    @Argument(help: ArgumentHelp("Profile as JSON, without merchant.", valueName: "template"))
    var template: String

    @Argument(help: ArgumentHelp("CSV of merchants.", valueName: "list"))
    var list: String

    @OptionGroup var store: StoreOptions
    @OptionGroup var signer: SignerOptions
    @OptionGroup var recipients: ProofOptions
    @OptionGroup var keyRules: KeyRuleOptions

    func run() async throws {
        try await ProfileCommand.run {
            let draft = try ProfileDraft(json: try ProfileCommand.read(template), name: template)
            let drafts = try MerchantList.drafts(try ProfileCommand.read(list), template: draft)
            for draft in drafts {
                _ = try draft.payload(
                    serial: 1, issuedAt: .now, days: store.days, refusedKeys: keyRules.refusedKeys)
            }
            let (profiles, key) = (try IssuedProfiles(store.store), try signer.key())
            // The same keys for all: shown once.
            let proof = try recipients.proof(signer)
            for (index, draft) in drafts.enumerated() {
                let issued = try await profiles.issue(
                    draft, at: .now, days: store.days, key: key, proof: index == 0 ? proof : .elsewhere,
                    refusedKeys: keyRules.refusedKeys)
                if index == 0 { KeyRuleOptions.name(issued.profile) }
                try ProfileCommand.print("\(issued.profile.merchant.id) \(issued.profile.serial)")
            }
        }
    }
}

struct Renew: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign profiles that expire soon again, with new serials and dates.")

    @Option(help: ArgumentHelp("Days before the expiry, as 10d.", valueName: "days"))
    var before = "10d"

    @OptionGroup var store: StoreOptions
    @OptionGroup var signer: SignerOptions
    @OptionGroup var recipients: ProofOptions
    @OptionGroup var keyRules: KeyRuleOptions

    private var daysBefore: Int64? { before.hasSuffix("d") ? Int64(before.dropLast()) : Int64(before) }

    func validate() throws {
        guard let daysBefore, (0...35).contains(daysBefore) else {
            throw ValidationError("--before is a number of days from 0 to 35, as 10d.")
        }
    }

    func run() async throws {
        try await ProfileCommand.run {
            let limit = Timestamp.now.advanced(bySeconds: (daysBefore ?? 10) * 86_400)
            let renewed = try await IssuedProfiles(store.store).renew(
                before: limit, at: .now, days: store.days, key: try signer.key(), proof: try recipients.proof(signer),
                refusedKeys: keyRules.refusedKeys)
            for issued in renewed {
                try ProfileCommand.print("\(issued.profile.merchant.id) \(issued.profile.serial)")
            }
        }
    }
}

struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End a merchant's contract: the same profile with terms.revoked.")

    @Argument(help: ArgumentHelp("merchant.id", valueName: "merchant"))
    var merchant: String

    @OptionGroup var store: StoreOptions
    @OptionGroup var signer: SignerOptions
    @OptionGroup var recipients: ProofOptions

    func run() async throws {
        try await ProfileCommand.run {
            let issued = try await IssuedProfiles(store.store).revoke(
                merchant, at: .now, days: store.days, key: try signer.key(), proof: try recipients.proof(signer))
            try ProfileCommand.print(issued.token)
        }
    }
}

struct TermsFile: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "terms",
        abstract: "Sign that a merchant has accepted the terms of its profile, for nfc-tap terms import.")

    @Argument(help: ArgumentHelp("merchant.id", valueName: "merchant"))
    var merchant: String

    @Option(help: ArgumentHelp("Who has accepted the terms, such as “Erika Muster, owner”.", valueName: "name"))
    var acceptedBy: String

    @Option(help: ArgumentHelp("Folder of the issued profiles.", valueName: "folder"))
    var store: String

    @OptionGroup var signer: SignerOptions

    func run() async throws {
        try await ProfileCommand.run {
            try ProfileCommand.print(
                try await IssuedProfiles(store).acceptance(
                    merchant, by: acceptedBy, at: .now, key: try signer.key()))
        }
    }
}

struct Receipt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign the receipt of a batch, for nfc-tap queue resolve.",
        discussion: """
            Verifies the batch first. Sign it only once all its payments are in your books: a till removes them from \
            its queue with the receipt. The key is receiptTokenKey of the profile.
            """)

    @Argument(help: ArgumentHelp("The output of nfc-tap queue export; - for standard input.", valueName: "batch"))
    var batch: String

    @Option(help: ArgumentHelp("JWK of the installation, as you know it.", valueName: "file"))
    var installation: String

    @Option(help: ArgumentHelp("Hours for which the receipt can be used.", valueName: "hours"))
    var hours: Int64 = 24

    @OptionGroup var signer: SignerOptions

    func validate() throws {
        guard (1...720).contains(hours) else { throw ValidationError("A receipt can be used for 1 to 720 hours.") }
    }

    func run() async throws {
        try await ProfileCommand.run {
            let key = try PublicKeys.read(installation)
            try ProfileCommand.print(
                try await BatchReceipts.sign(
                    try ProfileCommand.read(batch), of: key, key: try signer.key(), at: .now, hours: hours))
        }
    }
}

/// Public JWKs in files.
enum PublicKeys {
    static func read(_ path: String) throws(IssuingError) -> VerificationKey {
        let bytes = try ProfileCommand.read(path)
        do throws(RecipientKeyError) { return try VerificationKey(jwk: bytes) } catch { throw .key(error) }
    }
}
