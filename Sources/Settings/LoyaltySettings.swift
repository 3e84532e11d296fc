import CardBytes
import Glibc
public import Loyalty
import Wire

/// `[loyalty]` of the configuration: programmes and what holds for all of them.
public struct LoyaltySettings: Sendable {
    public let programmes: [LoyaltyProgramme]
    /// Seconds by which the time in an iPhone's pass may differ from ours; `nil` only reports that time.
    public let maximumClockDifference: UInt32?

    /// Of a whole file, whatever else is in it.
    ///
    /// - Parameter credentials: systemd's folder of credentials, where it gave one.
    /// - Throws: the first thing that is wrong, with what to do about it.
    public init(path: String, credentials: String? = nil) throws(ConfigurationError) {
        guard let text = ConfigurationTable.contents(path) else {
            throw ConfigurationError(path, "cannot be read", remedy: "check its name and permissions")
        }
        var top = try ConfigurationTable(file: path, text: String(decoding: text, as: UTF8.self))
        guard let settings = try LoyaltySettings(&top, credentials: credentials) else {
            throw ConfigurationError(path, "has no [loyalty]", remedy: "add a [[loyalty.programme]]")
        }
        self = settings
    }

    /// - Returns: `nil` where there is no such table.
    public init?(_ top: inout ConfigurationTable, credentials: String?) throws(ConfigurationError) {
        guard top.has("loyalty") else { return nil }
        var table = try top.subtable("loyalty")
        let difference = try table.number("maximum-clock-difference", in: 1...86_400)
        var programmes: [LoyaltyProgramme] = []
        for var entry in try table.subtables("programme") {
            let programme = try LoyaltySettings.programme(&entry, credentials)
            guard !programmes.contains(where: { $0.id == programme.id }) else {
                throw entry.wrong("id", "is used twice", "give every programme an id of its own")
            }
            programmes.append(programme)
        }
        try table.finish()
        guard programmes.count <= Limits.programmes else {
            throw table.wrong("programme", "is there more than \(Limits.programmes) times", "remove some")
        }
        guard programmes.count(where: { $0.apple != nil }) <= LoyaltyRequest.maximumVASMerchants else {
            throw table.wrong(
                "programme", "has more than \(LoyaltyRequest.maximumVASMerchants) Apple pass types", "remove some")
        }
        self.programmes = programmes
        maximumClockDifference = difference.map { UInt32($0) }
    }

    private static func programme(
        _ table: inout ConfigurationTable, _ credentials: String?
    ) throws(ConfigurationError) -> LoyaltyProgramme {
        guard let id = try table.text("id"), id.isReference(upTo: Limits.programmeLength) else {
            throw table.wrong("id", "is missing or not 1 to 32 visible characters", "write id = \"club\"")
        }
        let name = try table.text("display-name") ?? id
        let priority = try table.number("priority", in: 0...1_000) ?? 0
        let delay = try table.number("reread-delay", in: 0...3_600) ?? 0
        let apple = try appleMerchant(&table, credentials)
        let google = try googleCollector(&table, credentials)
        let tag = try tagMembership(&table)
        let uid = try uidMembership(&table)
        try table.finish()
        do throws(LoyaltyConfigurationError) {
            return try LoyaltyProgramme(
                id: id, displayName: name, priority: priority, rereadDelayMilliseconds: UInt64(delay) * 1_000,
                apple: apple, google: google, tag: tag, uid: uid)
        } catch {
            throw table.wrong("display-name", "makes no programme: \(error)", "correct it or add a carrier")
        }
    }

    private static func appleMerchant(
        _ programme: inout ConfigurationTable, _ credentials: String?
    ) throws(ConfigurationError) -> VASMerchant? {
        guard programme.has("apple") else { return nil }
        var table = try programme.subtable("apple")
        guard let type = try table.text("pass-type") else {
            throw table.wrong("pass-type", "is missing", "write the pass type identifier, pass.com.example.club")
        }
        let url = try table.text("sign-up")
        var keys: [VASKey] = []
        for var entry in try table.subtables("key") {
            keys.append(VASKey(try privateKey(&entry, credentials)))
            try entry.finish()
        }
        try table.finish()
        do throws(LoyaltyConfigurationError) {
            return try VASMerchant(
                passTypeIdentifier: type, wish: url.map { .passOrSignUp(url: $0) } ?? .pass, keys: keys)
        } catch {
            throw table.wrong(error == .urlInvalid ? "sign-up" : "pass-type", "is wrong: \(error)", "correct it")
        }
    }

    private static func googleCollector(
        _ programme: inout ConfigurationTable, _ credentials: String?
    ) throws(ConfigurationError) -> SmartTapCollector? {
        guard programme.has("google") else { return nil }
        var table = try programme.subtable("google")
        guard let id = try table.number("collector", in: 1...Int(UInt32.max)) else {
            throw table.wrong("collector", "is missing", "write the collector id that Google gave you")
        }
        var keys: [SmartTapKey] = []
        for var entry in try table.subtables("key") {
            guard let version = try entry.number("version", in: 0...Int(UInt32.max)) else {
                throw entry.wrong("version", "is missing", "write the version under which the key is registered")
            }
            keys.append(SmartTapKey(version: UInt32(version), privateKey: try privateKey(&entry, credentials)))
            try entry.finish()
        }
        try table.finish()
        do throws(LoyaltyConfigurationError) {
            return try SmartTapCollector(id: UInt32(id), keys: keys)
        } catch {
            throw table.wrong("key", "is wrong: \(error)", "give each key as file or credential, with its version")
        }
    }

    private static func tagMembership(
        _ programme: inout ConfigurationTable
    ) throws(ConfigurationError) -> NDEFMembership? {
        guard programme.has("tag") else { return nil }
        var table = try programme.subtable("tag")
        let kinds: [NDEFMembership?] = [
            try table.text("uri").map { .uri(prefix: $0) }, try table.text("text").map { .text(prefix: $0) },
            try table.text("external").map { .external(type: $0) }, try table.text("media").map { .media(type: $0) },
        ]
        try table.finish()
        let given = kinds.compactMap { $0 }
        guard given.count == 1 else {
            throw table.wrong("uri", "is not the only kind of record", "write one of uri, text, external and media")
        }
        return given[0]
    }

    private static func uidMembership(
        _ programme: inout ConfigurationTable
    ) throws(ConfigurationError) -> UIDMembership? {
        guard programme.has("uid") else { return nil }
        var table = try programme.subtable("uid")
        var membership = UIDMembership()
        switch try table.text("format") {
        case nil, "hexadecimal": break
        case "decimal": membership.format = .decimal
        case .some: throw table.wrong("format", "is unknown", "write hexadecimal or decimal")
        }
        membership.minimumDigits = try table.number("minimum-digits", in: 0...64) ?? 0
        try table.finish()
        return membership
    }

    /// The key that `file` or `credential` names, the latter in systemd's `$CREDENTIALS_DIRECTORY`.
    private static func privateKey(
        _ table: inout ConfigurationTable, _ credentials: String?
    ) throws(ConfigurationError) -> P256PrivateKey {
        let file = try table.absolutePath("file")
        let credential = try table.text("credential")
        let setting = file == nil ? "credential" : "file"
        let path: String
        switch (file, credential) {
        case (let file?, nil): path = file
        case (nil, let name?):
            guard let credentials, !name.contains("/") else {
                throw table.wrong("credential", "cannot be found", "add LoadCredential=\(name) to nfc-tapd.service")
            }
            path = "\(credentials)/\(name)"
        case (nil, nil), (.some, .some):
            throw table.wrong("file", "is not the only source of the key", "write either file or credential")
        }
        let encoded: SecretBytes
        do throws(KeyFileError) { encoded = try SecretFile.read(path) } catch {
            switch error {
            case .unreadable:
                throw table.wrong(setting, "names a key that cannot be read", "check its name and permissions")
            case .open:
                throw table.wrong(setting, "names a key that everybody can read", "run chmod o= on it")
            }
        }
        do throws(P256PrivateKeyError) { return try P256PrivateKey(encoded) } catch {
            throw table.wrong(setting, "is wrong: \(error)", "give a P-256 private key, for example in PEM")
        }
    }
}

/// Why a key file is not taken.
private enum KeyFileError: Error {
    case unreadable
    /// Others than owner and group have rights to it.
    case open
}

private enum SecretFile {
    /// Longest key there can be, in bytes.
    static let longest = 16 * 1_024

    static func read(_ path: String) throws(KeyFileError) -> SecretBytes {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable }
        defer { _ = close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .unreadable }
        guard status.st_mode & 0o007 == 0 else { throw .open }
        var buffer = [UInt8](repeating: 0, count: longest)
        defer {
            for index in buffer.indices { buffer[index] = 0 }
        }
        let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0, count < longest else { throw .unreadable }
        return SecretBytes(capacity: count) { $0.append(contentsOf: buffer.prefix(count)) }
    }
}
