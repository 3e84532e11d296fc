import Envelope
import Profile
import Settings
import Wire

extension ConfigurationFile {
    /// `[profile]` and `[live]`.
    mutating func readProfile(_ top: inout ConfigurationTable) throws(ConfigurationError) {
        let isWanted = top.has("profile")
        var table = try top.subtable("profile")
        var settings = ProfileSettings()
        let keyPath = try table.absolutePath("key")
        if let keyPath { settings.key = try ConfigurationFile.key(keyPath, table) }
        if let path = try table.absolutePath("file") {
            guard mode == .test else {
                throw table.wrong(
                    "file", "is signed by nobody", "remove it: in live mode the adapter gives the profile")
            }
            settings.file = try ConfigurationFile.profile(path, table)
        }
        try table.finish()
        var live = try top.subtable("live")
        settings.acknowledgement = try live.text("acknowledgement")
        try live.finish()
        if mode == .live {
            guard keyPath != nil else {
                throw table.wrong("key", "is missing", "write the file of the payment service's public key (JWK)")
            }
            guard !settings.key.isTest else {
                throw table.wrong("key", "is a test key", "install the payment service's live key")
            }
        }
        profile = isWanted ? settings : nil
    }

    private static func key(_ path: String, _ table: ConfigurationTable) throws(ConfigurationError) -> VerificationKey {
        guard let jwk = ConfigurationTable.contents(path) else {
            throw table.wrong("key", "names a file that cannot be read", "check its name and permissions")
        }
        do throws(RecipientKeyError) { return try VerificationKey(jwk: jwk) } catch {
            throw table.wrong("key", "is wrong: \(error)", "install the JWK that the payment service signs with")
        }
    }

    private static func profile(_ path: String, _ table: ConfigurationTable) throws(ConfigurationError) -> Profile {
        guard let json = ConfigurationTable.contents(path) else {
            throw table.wrong("file", "names a file that cannot be read", "check its name and permissions")
        }
        do throws(ProfileError) { return try Profile(json: json) } catch {
            throw table.wrong("file", "is wrong: \(error)", "correct \(path)")
        }
    }
}
