// SPDX-License-Identifier: Apache-2.0
import Envelope
import PaymentValues
import Profile
import Settings

extension ConfigurationFile {
    /// `[profile]` and `[live]`.
    mutating func readProfile(_ top: inout ConfigurationTable) {
        let isWanted = top.has("profile")
        var table = top.subtable("profile")
        var settings = ProfileSettings()
        let keyPath = table.absolutePath("key")
        let key = keyPath.flatMap { path in
            table.attempt { () throws(ConfigurationError) in try ConfigurationFile.key(path, table) }
        }
        if let key { settings.key = key }
        if let path = table.absolutePath("file") {
            if mode == .live {
                table.report("file", "is signed by nobody", "remove it: in live mode the adapter gives the profile")
            } else {
                settings.file = table.attempt { () throws(ConfigurationError) in
                    try ConfigurationFile.profile(path, table)
                }
            }
        }
        table.finish()
        var live = top.subtable("live")
        settings.acknowledgement = live.text("acknowledgement")
        live.finish()
        if mode == .live {
            if keyPath == nil {
                table.report("key", "is missing", "write the file of the payment service's public key (JWK)")
            } else if key?.isTest == true {
                table.report("key", "is a test key", "install the payment service's live key")
            }
        }
        profile = isWanted ? settings : nil
    }

    private static func key(_ path: String, _ table: ConfigurationTable) throws(ConfigurationError) -> VerificationKey {
        let jwk = try table.contents(of: path, for: "key")
        do throws(RecipientKeyError) { return try VerificationKey(jwk: jwk) } catch {
            throw table.wrong(
                "key", "is wrong: \(error)", "ask your payment service for the public JWK that it signs with")
        }
    }

    private static func profile(_ path: String, _ table: ConfigurationTable) throws(ConfigurationError) -> Profile {
        let json = try table.contents(of: path, for: "file")
        do throws(ProfileError) { return try Profile(json: json) } catch {
            throw table.wrong("file", "is wrong: \(error)", "correct \(path)")
        }
    }
}
