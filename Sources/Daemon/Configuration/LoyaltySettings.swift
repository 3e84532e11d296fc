// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import Loyalty
import PaymentValues
public import Settings

/// `[loyalty]` of the configuration: programmes and what holds for all of them.
public struct LoyaltySettings: Sendable {
    public let programmes: [LoyaltyProgramme]
    /// Seconds by which the time in an iPhone's pass may differ from ours; `nil` only reports that time.
    public let maximumClockDifference: UInt32?

    /// Of a whole file, whatever else is in it.
    ///
    /// - Throws: the first thing that is wrong, with what to do about it.
    public init(path: String, host: ConfigurationHost) throws(ConfigurationError) {
        var top = try ConfigurationTable(file: path, text: try host.text(of: path), host: host)
        let settings = LoyaltySettings(&top)
        if let fault = top.faults.first { throw fault }
        guard let settings else {
            throw ConfigurationError(path, "has no [loyalty]", remedy: "add a [[loyalty.programme]]")
        }
        self = settings
    }

    /// What is wrong is reported to the table.
    ///
    /// - Returns: `nil` where there is no such table.
    init?(_ top: inout ConfigurationTable) {
        guard top.has("loyalty") else { return nil }
        var table = top.subtable("loyalty")
        let difference = table.number("maximum-clock-difference", in: 1...86_400)
        let entries = table.subtables("programme")
        var programmes: [LoyaltyProgramme] = []
        for var entry in entries {
            guard let programme = LoyaltySettings.programme(&entry) else { continue }
            if programmes.contains(where: { $0.id == programme.id }) {
                entry.report("id", "is used twice", "give every programme an id of its own")
            } else {
                programmes.append(programme)
            }
        }
        table.finish()
        if entries.count > Limits.programmes {
            table.report("programme", "occurs more than \(Limits.programmes) times", "remove some")
        }
        if programmes.count(where: { $0.apple != nil }) > LoyaltyRequest.maximumVASMerchants {
            table.report(
                "programme", "has more than \(LoyaltyRequest.maximumVASMerchants) Apple pass types", "remove some")
        }
        self.programmes = programmes
        maximumClockDifference = difference.map { UInt32($0) }
    }

    private static func programme(_ table: inout ConfigurationTable) -> LoyaltyProgramme? {
        let id = table.text("id")
        let name = table.text("display-name")
        let priority = table.number("priority", in: 0...1_000) ?? 0
        let delay = table.number("reread-delay", in: 0...3_600) ?? 0
        let before = table.faults.count
        let apple = appleMerchant(&table)
        let google = googleCollector(&table)
        let tag = tagMembership(&table)
        let uid = uidMembership(&table)
        // A carrier that is wrong counts as missing: without it this need not be a programme.
        let areCarriersRight = table.faults.count == before
        table.finish()
        guard let id, id.isReference(upTo: Limits.programmeLength) else {
            return table.report("id", "is missing or not 1 to 32 visible characters", "write id = \"club\"")
        }
        guard areCarriersRight else { return nil }
        do throws(LoyaltyConfigurationError) {
            return try LoyaltyProgramme(
                id: id, displayName: name ?? id, priority: priority, rereadDelayMilliseconds: UInt64(delay) * 1_000,
                apple: apple, google: google, tag: tag, uid: uid)
        } catch {
            return table.report("display-name", "is not a valid programme: \(error)", "correct it or add a carrier")
        }
    }

    private static func appleMerchant(_ programme: inout ConfigurationTable) -> VASMerchant? {
        guard programme.has("apple") else { return nil }
        var table = programme.subtable("apple")
        let type = table.text("pass-type")
        let url = table.text("sign-up")
        let keys = table.subtables("key").compactMap { entry -> VASKey? in
            var entry = entry
            defer { entry.finish() }
            return privateKey(&entry).map { VASKey($0) }
        }
        table.finish()
        guard let type else {
            return table.report(
                "pass-type", "is missing", "write the pass type identifier, pass.com.example.club")
        }
        do throws(LoyaltyConfigurationError) {
            return try VASMerchant(
                passTypeIdentifier: type, wish: url.map { .passOrSignUp(url: $0) } ?? .pass, keys: keys)
        } catch {
            return table.report(error == .urlInvalid ? "sign-up" : "pass-type", "is wrong: \(error)", "correct it")
        }
    }

    private static func googleCollector(
        _ programme: inout ConfigurationTable
    ) -> SmartTapCollector? {
        guard programme.has("google") else { return nil }
        var table = programme.subtable("google")
        let id = table.number("collector", in: 1...Int(UInt32.max))
        let before = table.faults.count
        let keys = table.subtables("key").compactMap { entry -> SmartTapKey? in
            var entry = entry
            defer { entry.finish() }
            let version = entry.number("version", in: 0...Int(UInt32.max))
            let key = privateKey(&entry)
            guard let version else {
                return entry.report("version", "is missing", "write the version under which the key is registered")
            }
            return key.map { SmartTapKey(version: UInt32(version), privateKey: $0) }
        }
        table.finish()
        guard let id else {
            return table.report("collector", "is missing", "write the collector id that Google gave you")
        }
        guard table.faults.count == before else { return nil }
        do throws(LoyaltyConfigurationError) {
            return try SmartTapCollector(id: UInt32(id), keys: keys)
        } catch {
            return table.report(
                "key", "is wrong: \(error)", "give each key as file or credential, with its version")
        }
    }

    private static func tagMembership(_ programme: inout ConfigurationTable) -> NDEFMembership? {
        guard programme.has("tag") else { return nil }
        var table = programme.subtable("tag")
        let kinds: [NDEFMembership?] = [
            table.text("uri").map { .uri(prefix: $0) }, table.text("text").map { .text(prefix: $0) },
            table.text("external").map { .external(type: $0) }, table.text("media").map { .media(type: $0) },
        ]
        table.finish()
        let given = kinds.compactMap { $0 }
        guard given.count == 1 else {
            return table.report(
                "uri", "is not the only kind of record", "write one of uri, text, external and media")
        }
        return given[0]
    }

    private static func uidMembership(_ programme: inout ConfigurationTable) -> UIDMembership? {
        guard programme.has("uid") else { return nil }
        var table = programme.subtable("uid")
        var membership = UIDMembership()
        switch table.text("format") {
        case nil, "hexadecimal": break
        case "decimal": membership.format = .decimal
        case .some: table.report("format", "is unknown", "write hexadecimal or decimal")
        }
        membership.minimumDigits = table.number("minimum-digits", in: 0...64) ?? 0
        table.finish()
        return membership
    }

    private static func privateKey(_ table: inout ConfigurationTable) -> P256PrivateKey? {
        let key = SecretFile(&table)
        return table.attempt { () throws(ConfigurationError) in
            let encoded = try key.read(table)
            do throws(P256PrivateKeyError) { return try P256PrivateKey(encoded) } catch {
                throw table.wrong(key.setting, "is wrong: \(error)", "give a P-256 private key, for example in PEM")
            }
        }
    }
}
